package maintenance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/containers"
	"signalbox/maintenance/draft"
	"signalbox/rule"
)

// TestContainerEditsWhatIsOpen writes a draft through the editor's container:
// only what the last edit_… action opened can be changed, what was changed is on
// this host, and `drafts undo` takes it back.
func TestContainerEditsWhatIsOpen(t *testing.T) {
	b := newBench(t)
	engine := openEngine(t)
	b.deps.OpenEditor = func(ctx context.Context, tree rule.Tree) (DraftEditor, error) { return engine.EditDraft(ctx, tree) }
	steps := []struct{ turn, want string }{
		{creates("/draft/trigger.star", "x"), "is not open for changes"},
		{does("edit_trigger"), `"opened"`},
		{creates("/draft/trigger.star", "one\n"), "New file created successfully at: /draft/trigger.star"},
		{creates("/draft/execute.star", "x"), "is not open for changes"},
		{replaces("/draft/README.md", "# upper", "x"), "is not open for changes"},
		{does("edit_executor"), `"opened"`},
		{replaces("/draft/trigger.star", "one", "two"), "is not open for changes"},
		{creates("/draft/.hidden.star", "x"), "is not open for changes"},
		{creates("/draft/execute.star", "x\n"), "New file created"},
		{does("edit_contract"), `"opened"`},
		{replaces("/draft/README.md", "# upper", "# UPPER"), "has been edited successfully"},
		{does("add_tests"), `"opened"`},
		{creates("/draft/tests/one.json", "{}"), "New file created"},
		{replaces("/draft/README.md", "# UPPER", "x"), "is not open for changes"},
	}
	for _, s := range steps {
		b.model.script = append(b.model.script, s.turn)
	}
	b.model.script = append(b.model.script, says("enough"), says("enough"))
	a := b.maintain(b.options())
	b.wants(a, StopProgress, "gave up")
	for i, s := range steps {
		if got := b.model.seen[i+1].last(); !strings.Contains(got, s.want) {
			t.Errorf("turn %d: %s, want %q", i+1, clip(got, 300), s.want)
		}
	}
	d, err := draft.Open(b.deps.Home, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, want := range []string{"tests/one.json", "README.md", "execute.star", "trigger.star"} {
		if p, err := d.Undo(); err != nil || p != want {
			t.Fatalf("undid %q, %v; want %q", p, err, want)
		}
	}
	if got := d.Tree(); len(got) != 2 || string(got[rule.ReadmeFile]) != "# upper\n" {
		t.Errorf("after all undos: %v", got.Paths())
	}
}

// openEngine opens an engine with the kernel program as it stands in the source.
// It skips without Docker, and fails under CI.
func openEngine(t *testing.T) *containers.Engine {
	t.Helper()
	to := filepath.Join(t.TempDir(), "kernel")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", to, "signalbox/containers/kernel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the kernel program: %v\n%s", err, out)
	}
	kernel, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := containers.Open(t.Context(), containers.Options{Workspace: "maintenance-test", Kernel: kernel})
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("no Docker: %v", err)
	}
	if err != nil {
		t.Fatalf("no Docker under CI: %v", err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}
