package form

import (
	"testing"

	"signalbox/rule"
)

func TestSplitAndJoin(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`: `s`, `["a",{"b":2,"c":null}]`: `[s,{"b":j,"c":null}]`, `[]`: `[]`, `true`: `j`, `{"k":[["x"],[1.5]]}`: `{"k":[[s],[j]]}`,
	} {
		value, err := rule.ParseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		node, texts, err := Split(value)
		if err != nil || node.String() != want {
			t.Errorf("%s: %v %v, want %s", text, node, err, want)
			continue
		}
		if back, ok := node.Join(texts); !ok || back != value {
			t.Errorf("%s came back as %s", text, back)
		}
	}
}

func TestSplitIsBounded(t *testing.T) {
	if _, _, err := Split(`[[[[[[[["a"]]]]]]]]`); err == nil {
		t.Error("eight lists deep was taken")
	}
	if _, _, err := Split(`[[[["a"]]]]`); err != nil {
		t.Error(err)
	}
}

func TestJoinWantsPlainScalars(t *testing.T) {
	node, _, err := Split(`[1]`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"12": true, "-1.5": true, "true": true, "0": true, "007": false, "1.50": false, "-0": false, "null": false, `"a"`: false, "": false, "1e3": false} {
		if _, ok := node.Join([]string{text}); ok != want {
			t.Errorf("%q joined: %v", text, ok)
		}
	}
}

func TestMergeAndColumns(t *testing.T) {
	text, _, _ := Split(`["a",{"k":1}]`)
	null, _, _ := Split(`[null,{"k":2}]`)
	merged, ok := Merge(text, null)
	if !ok {
		t.Fatal("a text and null don't merge")
	}
	for value, want := range map[rule.Value]bool{
		`["x",{"k":7}]`: true, `[null,{"k":7}]`: true, `["x",{"k":7.5}]`: false, `["x",{"k":"7"}]`: false, `["x",{"k":7,"l":1}]`: false,
		`["x"]`: false, `["x",{"l":7}]`: false, `{"a":1}`: false, `[["x"],{"k":7}]`: false,
	} {
		columns, ok := merged.Columns(value)
		if ok != want || ok && (len(columns) != 2 || columns[1] != "7") {
			t.Errorf("%s: %q %v", value, columns, ok)
		}
		if ok && merged.Schema().Accepts(value) != nil {
			t.Errorf("the schema refuses %s: %v", value, merged.Schema().Accepts(value))
		}
	}
	longer, _, _ := Split(`["a",{"k":1},"b"]`)
	if _, ok := Merge(text, longer); ok {
		t.Error("lists of two lengths merged")
	}
}

func TestBuild(t *testing.T) {
	node, _, err := Split(`{"a":"x","b":[1,null]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := node.Build(); got != `{"a": t[0], "b": [json.decode(t[1]), None]}` {
		t.Error(got)
	}
	if got := node.Scalars(); len(got) != 1 || got[0] != 1 {
		t.Error(got)
	}
}
