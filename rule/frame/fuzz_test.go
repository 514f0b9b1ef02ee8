package frame

import (
	"bytes"
	"testing"

	"signalbox/rule"
)

var seeds = []string{
	"",
	"{\"id\":1,\"kind\":\"reply\",\"length\":2}\n{}",
	"{\"id\":0,\"kind\":\"hello\",\"length\":0}\n{\"id\":1,\"kind\":\"ready\",\"length\":0}\n",
	"{\"id\":18446744073709551615,\"kind\":\"x\",\"length\":1}\n.",
	"{\"kind\":\"reply\",\"length\":3, \"id\":1}\nabc",
	"{\"id\":1,\"kind\":\"reply\",\"length\":-1}\n",
	"{\"id\":1,\"kind\":\"r\\ud800\",\"length\":0}\n",
}

// FuzzFrames writes again what was read: the same frames must come out, and
// writing those must give identical bytes.
func FuzzFrames(f *testing.F) {
	if len(seeds) < 5 {
		f.Fatal("the fuzz target has lost its seeds")
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reader := NewReader(bytes.NewReader(data), 1<<16)
		for {
			header, body, err := reader.Read()
			if err != nil {
				return
			}
			if int64(len(body)) != header.Length {
				t.Fatalf("header says %d bytes, body has %d", header.Length, len(body))
			}
			checkAgain(t, header, body)
		}
	})
}

func checkAgain(t *testing.T, header Header, body []byte) {
	t.Helper()
	if header.ID > 1<<53 {
		return // canonical JSON can't carry it, and Write says so
	}
	var first, second bytes.Buffer
	if err := Write(&first, header.ID, header.Kind, body); err != nil {
		t.Fatal(err)
	}
	wire := bytes.Clone(first.Bytes())
	again, content, err := NewReader(&first, 1<<16).Read()
	if err != nil || again != header || !bytes.Equal(content, body) {
		t.Fatalf("%q came back as %+v, %q, %v", wire, again, content, err)
	}
	if err := Write(&second, again.ID, again.Kind, content); err != nil || !bytes.Equal(second.Bytes(), wire) {
		t.Fatalf("%q was written again as %q, %v", wire, second.Bytes(), err)
	}
}

// FuzzBodies decodes the bodies that a kernel takes: nothing may panic, and
// what is accepted has one canonical form.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		`{"role":"trigger","steps":10,"source":{"trigger.star":"x"}}`,
		`{"task":{"instruction":"i","input":null},"args":{"a":1},"tree":true}`,
		`{"session":"s","args":"e30=","writable":[]}`,
		`{"a.txt":"aGk="}`, `{"failure":"crash","detail":"d"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, body := range []any{&Load{}, &Execute{}, &Edit{}, &Tree{}, &Hello{}, &Failed{}} {
			if rule.Decode(data, body) != nil {
				continue
			}
			once, err := rule.Canonical(body)
			if err != nil {
				continue // a number that canonical JSON can't keep
			}
			if err := rule.Decode(once, body); err != nil {
				t.Fatalf("%T: %s is not decoded again: %v", body, once, err)
			}
			if twice, err := rule.Canonical(body); err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%T: %s became %s, %v", body, once, twice, err)
			}
		}
	})
}
