package rule

import (
	"strings"
	"testing"
)

const (
	emptyDigest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	someDigest  = "sha256:cc8f19d51ece9a27f2a79f4ea8b6790dada45e092c095e8ac4407b225eac3da4"
)

func TestParseDigest(t *testing.T) {
	for in, ok := range map[string]bool{
		emptyDigest: true,
		"":          false,
		strings.TrimPrefix(emptyDigest, "sha256:"):         false,
		strings.ToUpper(emptyDigest):                       false,
		"sha256:" + strings.ToUpper(emptyDigest[7:]):       false,
		emptyDigest[:70]:                                   false,
		emptyDigest + "0":                                  false,
		emptyDigest[:70] + "g":                             false,
		"md5:" + emptyDigest[7:]:                           false,
		emptyDigest + "\n":                                 false,
		"sha256:" + strings.Repeat("é", 32):                false,
		"sha256:../" + strings.Repeat("a", len("64")*32-3): false,
	} {
		got, err := ParseDigest(in)
		if (err == nil) != ok || ok && got != Digest(in) || !ok && got != "" {
			t.Errorf("ParseDigest(%q) = %q, %v", in, got, err)
		}
		var read Digest
		if err := read.UnmarshalText([]byte(in)); (err == nil) != (ok || in == "") {
			t.Errorf("UnmarshalText(%q): %v", in, err)
		}
	}
}

func TestDigestParts(t *testing.T) {
	d := DigestOf(nil)
	if d != emptyDigest || d.Hex() != emptyDigest[7:] || d.Short() != "e3b0c44298fc" {
		t.Errorf("digest %q, hex %q, short %q", d, d.Hex(), d.Short())
	}
	if Digest("").Short() != "" || Digest("").Hex() != "" {
		t.Error("the digest of nothing has digits")
	}
}

// TestGoldenDigests: these names are on disk and in proofs. They were computed
// by another program; a change here orphans every registry.
func TestGoldenDigests(t *testing.T) {
	tree := Tree{"a.txt": []byte("one\n"), "b/c": nil}
	withTree := Task{Instruction: "Do it.", Input: `{"n":1}`, Files: map[string]string{"a.txt": "one\n", "b/c": ""}}
	for name, c := range map[string]struct{ got, want Digest }{
		"empty tree":  {Tree(nil).Digest(), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		"tree":        {tree.Digest(), someDigest},
		"task":        {Task{Instruction: "Do it."}.Digest(nil), "sha256:0c26d06965020797cc4a6e8f4f0dd7937c952cb66cbda3358fe7a20814e161b5"},
		"null input":  {Task{Instruction: "Do it.", Input: "null"}.Digest(nil), "sha256:67dbc63e4d9f8e6039529683bbe60ec2c80e0989d5c193601ab776a15e5fd449"},
		"with files":  {withTree.Digest(nil), "sha256:80fec3884b54f6547846d7cb7c2f0a49cb795df5970d3d439cde6c75af7f1124"},
		"with a tree": {Task{Instruction: "Do it.", Input: `{"n":1}`}.Digest(tree), "sha256:80fec3884b54f6547846d7cb7c2f0a49cb795df5970d3d439cde6c75af7f1124"},
		"no files":    {Task{Instruction: "Do it."}.Digest(Tree{}), "sha256:e952e10bea993bf76e0df3feb8c25d66f83606fafcc5f8dc2915bcbc0533bb23"},
		"files {}":    {Task{Instruction: "Do it.", Files: map[string]string{}}.Digest(nil), "sha256:e952e10bea993bf76e0df3feb8c25d66f83606fafcc5f8dc2915bcbc0533bb23"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}

// TestTaskDigestSeesEverything changes one part of a task at a time.
func TestTaskDigestSeesEverything(t *testing.T) {
	seen := map[Digest]string{}
	for name, task := range map[string]Task{
		"plain":            {Instruction: "a"},
		"instruction":      {Instruction: "b"},
		"space":            {Instruction: "a "},
		"input":            {Instruction: "a", Input: `"x"`},
		"input null":       {Instruction: "a", Input: "null"},
		"input number":     {Instruction: "a", Input: "1"},
		"input string":     {Instruction: "a", Input: `"1"`},
		"empty files":      {Instruction: "a", Files: map[string]string{}},
		"file":             {Instruction: "a", Files: map[string]string{"f": "x"}},
		"file text":        {Instruction: "a", Files: map[string]string{"f": "y"}},
		"file name":        {Instruction: "a", Files: map[string]string{"g": "x"}},
		"file is a digest": {Instruction: "a", Files: map[string]string{"f": string(DigestOf([]byte("x")))}},
	} {
		digest := task.Digest(nil)
		if other, twice := seen[digest]; twice {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest] = name
	}
}

// TestTreeReplacesFiles: a caller's folder stands for the task's own files.
func TestTreeReplacesFiles(t *testing.T) {
	task := Task{Instruction: "a", Files: map[string]string{"f": "x"}}
	other := Task{Instruction: "a", Files: map[string]string{"g": "y"}}
	if task.Digest(TreeOf(other.Files)) != other.Digest(nil) {
		t.Error("the given tree isn't what counts")
	}
}

func TestDigestJSONPassesErrorsOn(t *testing.T) {
	if d, err := DigestJSON(func() {}); err == nil || d != "" {
		t.Errorf("digest %q of a function, %v", d, err)
	}
	if d, err := DigestJSON("x"); err != nil || d == "" {
		t.Errorf("control: %q, %v", d, err)
	}
}

func TestCollection(t *testing.T) {
	a, b := Member{Rule: "a", Revision: emptyDigest}, Member{Rule: "b", Revision: emptyDigest}
	a2 := Member{Rule: "a", Revision: someDigest}
	if NewCollection(a, b, a2).Digest() != NewCollection(b, a2, a).Digest() {
		t.Error("the order of members changes the name of a set")
	}
	given := []Member{b, a}
	if c := NewCollection(given...); c[0] != a || given[0] != b {
		t.Errorf("collection %v of %v", c, given)
	}
	if NewCollection(a).Digest() == NewCollection(a2).Digest() || NewCollection().Digest() == NewCollection(a).Digest() {
		t.Error("two sets have one name")
	}
	moved := a
	moved.Environment = emptyDigest
	if NewCollection(a).Digest() == NewCollection(moved).Digest() {
		t.Error("the environment isn't part of the name")
	}
}
