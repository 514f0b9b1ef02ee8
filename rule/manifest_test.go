package rule

import (
	"fmt"
	"strings"
	"testing"
)

const goodManifest = `{"schema":1,"name":"us-dates","family":"dates/us","summary":"s","environment":"starlark",` +
	`"guard":{"equals":["Do it."]},"args_schema":{"type":"object"},"result_schema":{"type":"string"}}`

func TestParseManifest(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(goodManifest, old) {
			t.Fatalf("no %s in the manifest", old)
		}
		return strings.Replace(goodManifest, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"control", goodManifest, ""},
		{"source cases and parent", replace(`"schema":1`, `"schema":1,"source_cases":["a"],"parent":"`+emptyDigest+`"`), ""},
		{"later schema", replace(`"schema":1`, `"schema":2`), "schema 2"},
		{"no schema", replace(`"schema":1,`, ``), "schema 0"},
		{"no name", replace(`"name":"us-dates",`, ``), "name is missing"},
		{"null name", replace(`"us-dates"`, `null`), "name is missing"},
		{"bad name", replace(`us-dates`, `US`), "rule name"},
		{"no family", replace(`"family":"dates/us",`, ``), "family is missing"},
		{"bad family", replace(`dates/us`, `\u0000`), "control"},
		{"no environment", replace(`"environment":"starlark",`, ``), "environment is missing"},
		{"summary", replace(`"summary":"s"`, `"summary":"`+strings.Repeat("s", MaxNoteBytes)+`"`), ""},
		{"longer summary", replace(`"summary":"s"`, `"summary":"`+strings.Repeat("s", MaxNoteBytes+1)+`"`), "limit is 500"},
		{"no guard", replace(`"guard":{"equals":["Do it."]},`, ``), "guard"},
		{"args not an object", replace(`"args_schema":{"type":"object"}`, `"args_schema":{}`), "args_schema"},
		{"bad args schema", replace(`{"type":"object"}`, `{"type":"object","required":["a"]}`), "args_schema"},
		{"bad result schema", replace(`{"type":"string"}`, `{"pattern":"("}`), "result_schema"},
		{"bad parent", replace(`"schema":1`, `"schema":1,"parent":"sha256:1"`), "digest"},
		{"unknown name", replace(`"schema":1`, `"schema":1,"priority":9`), "priority"},
		{"unknown name in the guard", replace(`"equals"`, `"not":[],"equals"`), "not"},
		{"duplicate", replace(`"schema":1`, `"schema":1,"schema":1`), "duplicate"},
		{"trailing", goodManifest + "{}", "after the JSON document"},
		{"null", "null", "schema 0"},
		{"empty", "", "want one JSON document"},
	} {
		manifest, err := ParseManifest([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && manifest.Name != "" {
			t.Errorf("%s: a manifest beside the error", c.name)
		}
	}
}

func goodSource() Tree {
	return TreeOf(map[string]string{ManifestFile: goodManifest, TriggerFile: "t", ExecutorFile: "e", ReadmeFile: "r",
		"helper.star": "h", "helper.py": "h", "tests/one.json": "{}"})
}

func TestParseSource(t *testing.T) {
	with := func(p, text string) Tree { tree := goodSource(); tree[p] = []byte(text); return tree }
	without := func(p string) Tree { tree := goodSource(); delete(tree, p); return tree }
	files := func(n int) Tree {
		tree := goodSource()
		for i := len(tree); i < n; i++ {
			tree[fmt.Sprintf("h%d.star", i)] = nil
		}
		return tree
	}
	room := MaxSourceBytes - goodSource().Bytes()
	for _, c := range []struct {
		name string
		tree Tree
		want string
	}{
		{"control", goodSource(), ""},
		{"no readme", without(ReadmeFile), ""},
		{"no trigger", without(TriggerFile), `"trigger.star" is missing`},
		{"no executor", without(ExecutorFile), `"execute.star" is missing`},
		{"no manifest", without(ManifestFile), `"manifest.json" is missing`},
		{"nothing", nil, "missing"},
		{"bad manifest", with(ManifestFile, "{"), "manifest.json"},
		{"another file", with("run.sh", ""), `"run.sh"`},
		{"another readme", with("NOTES.md", ""), `"NOTES.md"`},
		{"helper in a folder", with("lib/h.star", ""), `"lib/h.star"`},
		{"test in a folder", with("tests/a/b.json", ""), `"tests/a/b.json"`},
		{"test of another kind", with("tests/a.star", ""), `"tests/a.star"`},
		{"hidden helper", with(".star", ""), `".star"`},
		{"hidden test", with("tests/.json", ""), `"tests/.json"`},
		{"escaping path", with("../h.star", ""), "clean relative"},
		{"absolute path", with("/h.star", ""), "clean relative"},
		{"control character", with("a\n.star", ""), "control"},
		{"not UTF-8", with("helper.star", "\xff"), "not UTF-8"},
		{"files", files(MaxSourceFiles), ""},
		{"one file more", files(MaxSourceFiles + 1), "limit is 64"},
		{"bytes", with("big.star", strings.Repeat("#", room)), ""},
		{"one byte more", with("big.star", strings.Repeat("#", room+1)), "limit is 524288"},
	} {
		source, manifest, err := ParseSource(c.tree)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && (manifest.Name != "us-dates" || source.Digest() != c.tree.Digest()) {
			t.Errorf("%s: manifest of %q, digest %s", c.name, manifest.Name, source.Digest())
		}
	}
}

// TestSourceIsImmutable: what is done to the given tree afterwards changes
// nothing.
func TestSourceIsImmutable(t *testing.T) {
	tree := goodSource()
	source, _, err := ParseSource(tree)
	if err != nil {
		t.Fatal(err)
	}
	before := source.Digest()
	tree[TriggerFile] = []byte("another")
	delete(tree, ReadmeFile)
	if source.Digest() != before || string(source.Tree()[TriggerFile]) != "t" {
		t.Error("the source changed with the caller's map")
	}
	if other, _, err := ParseSource(with(goodSource(), TriggerFile, "another")); err != nil || other.Digest() == before {
		t.Errorf("control: another source has the same digest, %v", err)
	}
}

func with(tree Tree, p, text string) Tree { tree[p] = []byte(text); return tree }

func TestFit(t *testing.T) {
	manifest, err := ParseManifest([]byte(strings.Replace(goodManifest, `{"type":"object"}`,
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in, want TriggerReply
	}{
		{TriggerReply{Verdict: Match, Args: `{"n":1}`, Note: "x"}, TriggerReply{Verdict: Match, Args: `{"n":1}`, Note: "x"}},
		{TriggerReply{Verdict: NoMatch}, TriggerReply{Verdict: NoMatch}},
		{TriggerReply{Verdict: Abstain}, TriggerReply{Verdict: Abstain}},
		{TriggerReply{Failure: FailureTimeout}, TriggerReply{Failure: FailureTimeout}},
		{TriggerReply{Verdict: Match, Args: `{"n":"1"}`}, TriggerReply{Failure: FailureSchema}},
		{TriggerReply{Verdict: Match, Args: `{}`}, TriggerReply{Failure: FailureSchema}},
		{TriggerReply{Verdict: Match}, TriggerReply{Failure: FailureSchema}},
	} {
		got := manifest.FitTrigger(c.in)
		if (got.Detail != "") != (got.Failure == FailureSchema) {
			t.Errorf("%v: detail %q", c.in, got.Detail)
		}
		if got.Detail = ""; got != c.want {
			t.Errorf("%v fits as %v, want %v", c.in, got, c.want)
		}
	}
	files := map[string]*string{"a": nil}
	for _, c := range []struct {
		in   ExecutorReply
		want Failure
	}{
		{ExecutorReply{Outcome: &Outcome{Output: `"x"`}}, ""},
		{ExecutorReply{Outcome: &Outcome{Files: files}}, ""},
		{ExecutorReply{Abstained: true}, ""},
		{ExecutorReply{Failure: FailureCrash}, FailureCrash},
		{ExecutorReply{Outcome: &Outcome{Output: "1"}}, FailureSchema},
		{ExecutorReply{Outcome: &Outcome{Output: "null", Files: files}}, FailureSchema},
	} {
		got := manifest.FitExecutor(c.in)
		if got.Failure != c.want || (got.Failure == FailureSchema) != (got.Outcome == nil && got.Detail != "") {
			t.Errorf("%v fits as %v, want failure %q", c.in, got, c.want)
		}
	}
}
