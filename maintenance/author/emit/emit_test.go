package emit

import (
	"strings"
	"testing"

	"signalbox/maintenance/author/form"
	"signalbox/maintenance/author/prompt"
	"signalbox/maintenance/author/synth"
	"signalbox/rule"
)

// made returns the rule of a few examples of one column.
func made(t *testing.T, texts ...string) Rule {
	t.Helper()
	var examples []synth.Example
	for i := 0; i < len(texts); i += 2 {
		examples = append(examples, synth.Example{ID: "case\n" + texts[i], Columns: []string{texts[i]}, Target: synth.Target{Form: "s", Text: []string{texts[i+1]}}})
	}
	tree, err := synth.Learn(examples, synth.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return Rule{
		Family: "a \"family\"", Template: prompt.Template{Fixed: []string{"do \"it\"\n"}}, Input: &form.Node{Kind: form.Text},
		Outputs: map[string]*form.Node{"s": {Kind: form.Text}}, Guard: synth.NewGuard(examples, 0), Tree: tree,
	}
}

func TestFilesAreASource(t *testing.T) {
	r := made(t, "ab 1", "1", "c 22", "22", "de 3", "3", "f 44", "44", "g 505", "505")
	files := r.Files()
	manifest := rule.Manifest{Schema: 1, Name: "n", Family: r.Family, Environment: "starlark", Guard: r.ManifestGuard(), ArgsSchema: r.ArgsSchema(), ResultSchema: r.ResultSchema()}
	text, err := rule.Canonical(manifest)
	if err != nil {
		t.Fatal(err)
	}
	files[rule.ManifestFile] = string(text)
	if _, _, err := rule.ParseSource(rule.TreeOf(files)); err != nil {
		t.Fatal(err)
	}
	if files["moments.star"] != "" || files["texts.star"] == "" {
		t.Error("a helper that isn't loaded was shipped, or one that is was not")
	}
	for _, line := range strings.Split(files[rule.ExecutorFile], "\n") {
		if strings.HasPrefix(line, "1") || strings.HasPrefix(line, "ab") {
			t.Errorf("an example's id broke out of its comment: %q", line)
		}
	}
}

func TestCommentsSayWhichExamplesChose(t *testing.T) {
	r := made(t, "ab 1", "1", "c 22", "22", "de 3", "3", "f 44", "44", "g 505", "505")
	for _, want := range []string{"# From 5 examples: case ab 1,", "of them were foretold"} {
		if !strings.Contains(r.executor(), want) {
			t.Errorf("no %q in\n%s", want, r.executor())
		}
	}
}

func TestUnknownFormsAreAnothersWhereTheInstructionIsShared(t *testing.T) {
	r := made(t, "ab 1", "1", "c 22", "22", "de 3", "3", "f 44", "44", "g 505", "505")
	if text := r.trigger(); !strings.Contains(text, "return abstain(") {
		t.Errorf("never abstains:\n%s", text)
	}
	r.Shared = true
	if text := r.trigger(); strings.Contains(text, "abstain(") {
		t.Errorf("abstains on what may be another family's:\n%s", text)
	}
}

func TestCalls(t *testing.T) {
	for text, want := range map[string]bool{"cut(c[0])": true, "x = [cut(a)]": true, "shortcut(a)": false, "re.cut(a)": false, "\"cut(a)\"": false, "cuts(a)": false, "uncut(a) + cut(b)": true} {
		if calls(text, "cut") != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
