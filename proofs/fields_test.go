package proofs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
)

// TestFixtureIsFull makes the reflection tests below honest: every field that
// the statement's types have is set in the fixture, so that it is in its JSON.
func TestFixtureIsFull(t *testing.T) {
	assertFull(t, "predicate", reflect.ValueOf(newStatement(testPredicate())))
}

func assertFull(t *testing.T, at string, v reflect.Value) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("%s is zero in the fixture", at)
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			assertFull(t, at+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			assertFull(t, fmt.Sprintf("%s[%d]", at, i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			assertFull(t, at+"."+key.String(), v.MapIndex(key))
		}
	}
}

// mutation is one altered payload.
type mutation struct {
	what    string
	payload []byte
}

// mutations changes, removes and repeats every member of every object and every
// element of every array of the statement.
func mutations(t testing.TB, payload []byte) (out []mutation) {
	t.Helper()
	var document any
	if err := json.Unmarshal(payload, &document); err != nil {
		t.Fatal(err)
	}
	add := func(what string, put func(any) string) { out = append(out, mutation{what, []byte(put(document))}) }
	walk(document, nil, func(path []string) {
		for what, change := range map[string]string{"flip": "flip", "remove": "remove", "duplicate": "duplicate"} {
			add(what+" "+strings.Join(path, "/"), func(d any) string { return render(d, path, change) })
		}
	})
	return out
}

func walk(v any, path []string, visit func([]string)) {
	if len(path) > 0 {
		visit(slices.Clone(path))
	}
	switch typed := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			walk(typed[name], append(path, name), visit)
		}
	case []any:
		for i := range typed {
			walk(typed[i], append(path, fmt.Sprint(i)), visit)
		}
	}
}

// render writes v with the change at path. By hand, since a repeated name can't
// be said in Go values.
func render(v any, path []string, change string) string {
	if len(path) == 0 && change == "flip" {
		return flip(v)
	}
	var parts []string
	part := func(name, prefix string, value any) {
		here := len(path) > 0 && path[0] == name
		var rest []string
		if here {
			rest = path[1:]
		}
		if here && len(path) == 1 && change == "remove" {
			return
		}
		text := prefix + renderAt(value, here, rest, change)
		parts = append(parts, text)
		if here && len(path) == 1 && change == "duplicate" {
			parts = append(parts, text)
		}
	}
	switch typed := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			quoted, _ := json.Marshal(name)
			part(name, string(quoted)+":", typed[name])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		for i, item := range typed {
			part(fmt.Sprint(i), "", item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func renderAt(v any, here bool, rest []string, change string) string {
	if here && (len(rest) > 0 || change == "flip") {
		return render(v, rest, change)
	}
	return render(v, []string{"\x00"}, change)
}

// flip returns another value of the same JSON type.
func flip(v any) string {
	switch typed := v.(type) {
	case string:
		changed := []byte(typed)
		last := &changed[len(changed)-1]
		if *last == '0' {
			*last = '1'
		} else if *last >= '1' && *last <= '9' || *last > 'a' {
			*last--
		} else {
			*last = 'b'
		}
		text, _ := json.Marshal(string(changed))
		return string(text)
	case float64:
		return fmt.Sprint(typed / 2)
	case bool:
		return fmt.Sprint(!typed)
	case []any:
		return "[]"
	}
	return "{}"
}

func TestEveryFieldIsCovered(t *testing.T) {
	key, stranger := testKey(t, 1), testKey(t, 2)
	envelope := mustSign(t, key, testPredicate())
	payload := payloadOf(t, envelope)
	if _, err := Verify(reseal(t, key, payload), key.Public()); err != nil {
		t.Fatalf("control: %v", err)
	}
	changed := mutations(t, payload)
	if len(changed) < 300 {
		t.Fatalf("only %d changes: the statement has more fields than that", len(changed))
	}
	for _, m := range changed {
		if string(m.payload) == string(payload) {
			t.Errorf("%s: nothing changed", m.what)
		}
		if _, err := Verify(withPayload(t, envelope, m.payload), key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s, unsigned: %v, want ErrBad", m.what, err)
		}
		if _, err := Verify(reseal(t, stranger, m.payload), key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s, signed by another key: %v, want ErrBad", m.what, err)
		}
		assertOwnSignature(t, key, m, envelope.ID())
	}
}

// assertOwnSignature shows what form alone refuses: even with the host's own
// signature a repeated name is never taken, and whatever is taken has another
// name.
func assertOwnSignature(t *testing.T, key *Key, m mutation, id rule.Digest) {
	t.Helper()
	verified, err := Verify(reseal(t, key, m.payload), key.Public())
	if err == nil && verified.ID() == id {
		t.Errorf("%s: two statements have the name %s", m.what, id)
	}
	if err == nil && strings.HasPrefix(m.what, "duplicate ") {
		t.Errorf("%s: taken", m.what)
	}
	if err == nil && strings.HasPrefix(m.what, "remove ") && !strings.HasPrefix(m.what, "remove predicate/unheld/") &&
		m.what != "remove predicate/base/serial/prev" {
		t.Errorf("%s: taken", m.what)
	}
}
