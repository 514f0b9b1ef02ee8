package rule

import (
	"bytes"
	"strings"
	"testing"
)

// hostile seeds both reply fuzz targets.
var hostile = []string{
	`{"verdict":"match","args":{"a":1}}`, `{"verdict":"no_match","note":"n"}`, `{"verdict":"abstain"}`,
	`{"outcome":{"output":[1,null]}}`, `{"outcome":{"files":{"a":"x","b":null}}}`, `{"abstained":true,"note":"n"}`,
	`{"verdict":"match","args":{}}{}`, `{"verdict":"match","verdict":"match"}`, `{"verdict":NaN}`, "\xef\xbb\xbf{}", "{\"note\":\"\xff\"}",
	`{"outcome":{"output":1},"abstained":true}`, `{"verdict":"match","args":{"n":1e400}}`, `[[[[[[`,
}

func FuzzTriggerReply(f *testing.F) {
	for _, seed := range hostile {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reply, err := ParseTriggerReply(data)
		if err != nil {
			return
		}
		if reply.Failure != "" || (reply.Verdict == Match) != (reply.Args != "") || len(reply.Note) > MaxNoteBytes || hasControl(strings.NewReplacer("\n", "", "\t", "").Replace(reply.Note)) {
			t.Fatalf("%q gives %+v", data, reply)
		}
		written, err := Canonical(reply)
		if err != nil {
			t.Fatalf("%+v can't be written: %v", reply, err)
		}
		again, err := ParseTriggerReply(written)
		if err != nil || again != reply {
			t.Fatalf("%s gives %+v, %v", written, again, err)
		}
	})
}

func FuzzExecutorReply(f *testing.F) {
	for _, seed := range hostile {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reply, err := ParseExecutorReply(data)
		if err != nil {
			return
		}
		if reply.Failure != "" || reply.Abstained == (reply.Outcome != nil) {
			t.Fatalf("%q gives %+v", data, reply)
		}
		written, err := Canonical(reply)
		if err != nil {
			t.Fatalf("%+v can't be written: %v", reply, err)
		}
		again, err := ParseExecutorReply(written)
		if err != nil || reply.Outcome != nil && !again.Outcome.Equal(*reply.Outcome) {
			t.Fatalf("%s gives %+v, %v", written, again, err)
		}
		if reply.Outcome == nil {
			return
		}
		for p := range reply.Outcome.Files {
			if CheckPublicPath(p) != nil {
				t.Fatalf("%q writes to %q", data, p)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(goodManifest))
	f.Add([]byte(strings.Replace(goodManifest, `"equals":["Do it."]`, `"pattern":"\\A(?:a|b)\\z","input":{"type":"string"}`, 1)))
	f.Add([]byte(strings.Replace(goodManifest, `"equals":["Do it."]`, `"pattern":"\\A(?:a)|(?:b)\\z"`, 1)))
	f.Add([]byte(strings.Replace(goodManifest, `{"type":"string"}`, `{"items":{"properties":{"a":{"enum":[1]}},"required":["a"]}}`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		manifest, err := ParseManifest(data)
		if err != nil {
			return
		}
		written, err := Canonical(manifest)
		if err != nil {
			t.Fatalf("%q can't be written: %v", data, err)
		}
		again, err := ParseManifest(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if rewritten, err := Canonical(again); err != nil || !bytes.Equal(rewritten, written) {
			t.Fatalf("%s and then %s, %v", written, rewritten, err)
		}
		if _, err := manifest.Guard.Matcher(); err != nil {
			t.Fatalf("a guard that can't be asked: %v", err)
		}
	})
}

// FuzzSource takes one path and text beside a good source: what is accepted
// stays inside the tree and is of a known kind.
func FuzzSource(f *testing.F) {
	for _, seed := range [][2]string{{"helper.star", "x = 1"}, {"tests/a.json", "{}"}, {"../x.star", ""}, {"tests/../x.star", ""}, {".star", ""},
		{"a\x00.star", ""}, {"manifest.json", goodManifest}, {"manifest.json", "{}"}, {"trigger.star", "\xff"}, {"README.md", "r"}} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, p string, data []byte) {
		tree := goodSource()
		tree[p] = data
		source, manifest, err := ParseSource(tree)
		if err != nil {
			return
		}
		if CheckPath(p) != nil || !Visible(p) || strings.Count(p, "/") > 1 || manifest.Name == "" {
			t.Fatalf("source with %q", p)
		}
		again, _, err := ParseSource(source.Tree())
		if err != nil || again.Digest() != source.Digest() || source.Digest() == "" {
			t.Fatalf("source with %q: %v", p, err)
		}
	})
}
