package signalbox

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// This file is a statement of policy: which room may import which, and which
// libraries each room keeps to itself. It is not data to adjust when a build
// breaks. Test files are free to import what they test with.

// mayImport names, for each room, the rooms of ours that its code may import.
// A folder below a room belongs to it unless it has a row of its own.
var mayImport = map[string][]string{
	"rule":               {},
	"editor":             {"rule"},
	"containers":         {"rule"},
	"containers/kernel":  {"rule", "editor"},
	"proofs":             {"rule"},
	"registry":           {"rule", "proofs", "containers"},
	"router":             {"rule", "proofs", "containers", "registry"},
	"oracle":             {"rule", "proofs", "containers", "registry", "router"},
	"oracle/audit":       {"rule", "proofs", "containers", "registry", "router", "oracle"},
	"maintenance":        {"rule", "editor", "proofs", "containers", "registry", "router", "oracle"},
	"maintenance/author": {"rule"},
	"fixtures":           {"rule"},
	"cmd": {"rule", "editor", "proofs", "containers", "registry", "router", "oracle", "oracle/audit",
		"maintenance", "maintenance/author", "fixtures"},
}

// keepers names the only folders, subfolders included, that may import a library.
var keepers = map[string][]string{
	"github.com/docker/docker":       {"containers"},
	"github.com/openai/openai-go":    {"maintenance"},
	"github.com/gofrs/flock":         {"registry"},
	"github.com/google/renameio":     {"registry"},
	"modernc.org/sqlite":             {"registry/ledger"},
	"github.com/urfave/cli":          {"cmd"},
	"go.starlark.net":                {"containers/kernel"},
	"github.com/invopop/jsonschema":  {"maintenance"},
	"github.com/in-toto/attestation": {"proofs"},
	"github.com/schollz/progressbar": {"cmd"},
}

const module = "signalbox/"

type listed struct {
	ImportPath string
	Imports    []string
}

func TestLayout(t *testing.T) {
	packages := list(t)
	if len(packages) < len(mayImport) {
		t.Fatalf("go list names %d packages, fewer than there are rooms (%d)", len(packages), len(mayImport))
	}
	for _, p := range packages {
		folder := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			if complaint := judge(folder, imported); complaint != "" {
				t.Error(complaint)
			}
		}
	}
}

// TestLayoutBites shows that the policy refuses what it should.
func TestLayoutBites(t *testing.T) {
	for _, c := range []struct {
		folder, imported string
		refused          bool
	}{
		{"router", module + "oracle", true},
		{"oracle", module + "router", false},
		{"maintenance", module + "oracle/audit", true},
		{"maintenance/author", module + "maintenance", true},
		{"maintenance/author/synth", module + "registry", true},
		{"maintenance/author/synth", module + "rule", false},
		{"rule", module + "editor", true},
		{"rule/frame", module + "rule", false},
		{"containers/kernel", module + "containers", true},
		{"cmd/signalbox", "github.com/docker/docker/client", true},
		{"containers", "github.com/docker/docker/client", false},
		{"registry", "modernc.org/sqlite", true},
		{"registry/ledger", "modernc.org/sqlite", false},
		{"stranger", module + "rule", true},
	} {
		if got := judge(c.folder, c.imported) != ""; got != c.refused {
			t.Errorf("%s importing %s: refused = %v, want %v", c.folder, c.imported, got, c.refused)
		}
	}
}

func judge(folder, imported string) string {
	for library, folders := range keepers {
		if under(imported, library) && !slices.ContainsFunc(folders, func(f string) bool { return under(folder, f) }) {
			return folder + " imports " + imported + ", which only " + strings.Join(folders, ", ") + " may"
		}
	}
	target, ours := strings.CutPrefix(imported, module)
	if !ours {
		return ""
	}
	from, to := roomOf(folder), roomOf(target)
	if from == "" {
		return folder + " is in no room of the layout"
	}
	if from != to && !slices.Contains(mayImport[from], to) {
		return folder + " imports " + imported + ", against the layout"
	}
	return ""
}

// roomOf returns the most specific room that holds the folder, or "".
func roomOf(folder string) string {
	room := ""
	for name := range mayImport {
		if under(folder, name) && len(name) > len(room) {
			room = name
		}
	}
	return room
}

func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var packages []listed
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
