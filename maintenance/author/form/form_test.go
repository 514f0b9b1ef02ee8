package form

import (
	"slices"
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

func TestLeaves(t *testing.T) {
	node, _, err := Split(`{"name":"x","tags":["a",{"n":1}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, leaf := range node.Leaves("x") {
		got = append(got, leaf.Name+" "+leaf.Column())
	}
	want := []string{`name x["name"]`, `tags.1 x["tags"][0]`, `tags.2.n str(x["tags"][1]["n"])`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNullableLeaf(t *testing.T) {
	text, _, _ := Split(`["a"]`)
	null, _, _ := Split(`[null]`)
	merged, _ := Merge(null, text)
	if got := merged.Leaves("x")[0].Column(); got != `x[0] or ""` {
		t.Error(got)
	}
	if columns, ok := merged.Columns(`[null]`); !ok || columns[0] != "" {
		t.Errorf("%q %v", columns, ok)
	}
}

// Checks are conditions in an order in which none looks at what isn't there.
func TestChecks(t *testing.T) {
	for value, want := range map[rule.Value][]string{
		`"a"`:      {`type(x) == "string"`},
		`["a",2]`:  {`type(x) == "list"`, `len(x) == 2`, `type(x[0]) == "string"`, `type(x[1]) == "int"`},
		`{"k":[]}`: {`type(x) == "dict"`, `sorted(x) == ["k"]`, `type(x["k"]) == "list"`, `len(x["k"]) == 0`},
		`[null]`:   {`type(x) == "list"`, `len(x) == 1`, `x[0] == None`},
	} {
		node, _, err := Split(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := node.Checks("x"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	for value, others := range map[rule.Value][2][]rule.Value{
		`"a"`:               {{`"b"`, `""`}, {`1`, `null`, `["a"]`}},
		`["a","b"]`:         {{`["x","y"]`}, {`["x"]`, `["x","y","z"]`, `[1,2]`}},
		`{"a":"x","b":"y"}`: {{`{"a":"","b":"q"}`}, {`{"a":"x"}`, `{"a":"x","b":"y","c":"z"}`, `{"a":1,"b":"y"}`}},
		`null`:              {{`null`}, {`"null"`}},
	} {
		node, _, err := Split(value)
		if err != nil {
			t.Fatal(err)
		}
		schema := node.Schema()
		for _, good := range others[0] {
			if err := schema.Accepts(good); err != nil {
				t.Errorf("the schema of %s refuses %s: %v", value, good, err)
			}
		}
		for _, bad := range others[1] {
			if schema.Accepts(bad) == nil {
				t.Errorf("the schema of %s takes %s", value, bad)
			}
		}
	}
}
