package rule

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// ManifestSchema is the manifest version that this program writes and reads.
const ManifestSchema = 1

// The files of a rule's source that have a meaning of their own. Further .star
// files are helpers, and tests/*.json are development tests.
const (
	ManifestFile = "manifest.json"
	TriggerFile  = "trigger.star"
	ExecutorFile = "execute.star"
	ReadmeFile   = "README.md"
)

// Manifest says what a rule is and what it needs. The host fixes Name, Family,
// Parent and SourceCases of a draft; a draft that changes them is refused.
type Manifest struct {
	Schema       int      `json:"schema"`
	Name         Name     `json:"name"`
	Family       Family   `json:"family"`
	Summary      string   `json:"summary"`
	Environment  string   `json:"environment"`
	Guard        Guard    `json:"guard"`
	ArgsSchema   Schema   `json:"args_schema"`
	ResultSchema Schema   `json:"result_schema"`
	SourceCases  []string `json:"source_cases,omitzero"`
	Parent       Digest   `json:"parent,omitzero"`
}

// ParseManifest decodes and checks a manifest.
func ParseManifest(data []byte) (Manifest, error) {
	var manifest Manifest
	if err := Decode(data, &manifest); err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", ManifestFile, err)
	}
	if err := manifest.check(); err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", ManifestFile, err)
	}
	return manifest, nil
}

func (m Manifest) check() error {
	switch {
	case m.Schema != ManifestSchema:
		return fmt.Errorf("schema %d: this program knows %d", m.Schema, ManifestSchema)
	case m.Name == "":
		return fmt.Errorf("name is missing")
	case m.Family == "":
		return fmt.Errorf("family is missing")
	case m.Environment == "":
		return fmt.Errorf("environment is missing")
	case len(m.Summary) > MaxNoteBytes:
		return fmt.Errorf("summary has %d bytes: the limit is %d", len(m.Summary), MaxNoteBytes)
	case m.ArgsSchema.Type != "object":
		return fmt.Errorf("args_schema: args are an object: want type object")
	}
	if err := m.Guard.Check(); err != nil {
		return err
	}
	if err := m.ArgsSchema.Check(); err != nil {
		return fmt.Errorf("args_schema: %w", err)
	}
	if err := m.ResultSchema.Check(); err != nil {
		return fmt.Errorf("result_schema: %w", err)
	}
	return nil
}

// Limits of a rule's source.
const (
	MaxSourceFiles = 64
	MaxSourceBytes = 512 << 10
)

// Source is the tree of files that a rule consists of. It is immutable and
// named by the digest of the tree.
type Source struct{ tree Tree }

// ParseSource checks a tree and returns it as a rule's source with its manifest.
func ParseSource(tree Tree) (Source, Manifest, error) {
	if err := checkSource(tree); err != nil {
		return Source{}, Manifest{}, fmt.Errorf("reading rule source: %w", err)
	}
	manifest, err := ParseManifest(tree[ManifestFile])
	if err != nil {
		return Source{}, Manifest{}, err
	}
	return Source{tree: maps.Clone(tree)}, manifest, nil
}

func checkSource(tree Tree) error {
	if len(tree) > MaxSourceFiles {
		return fmt.Errorf("%d files: the limit is %d", len(tree), MaxSourceFiles)
	}
	if total := tree.Bytes(); total > MaxSourceBytes {
		return fmt.Errorf("%d bytes: the limit is %d", total, MaxSourceBytes)
	}
	for _, p := range tree.Paths() {
		if err := CheckPath(p); err != nil {
			return err
		}
		if !sourcePath(p) {
			return fmt.Errorf("file %q: want %s, %s, helper files (*.star), %s or tests/*.json",
				p, TriggerFile, ExecutorFile, ReadmeFile)
		}
		if !utf8.Valid(tree[p]) {
			return fmt.Errorf("file %q is not UTF-8", p)
		}
	}
	for _, p := range []string{ManifestFile, TriggerFile, ExecutorFile} {
		if _, ok := tree[p]; !ok {
			return fmt.Errorf("file %q is missing", p)
		}
	}
	return nil
}

func sourcePath(p string) bool {
	if slices.Contains([]string{ManifestFile, ReadmeFile}, p) {
		return true
	}
	folder, name := path.Split(p)
	if strings.HasPrefix(name, ".") {
		return false
	}
	if folder == "tests/" {
		return strings.HasSuffix(name, ".json")
	}
	return folder == "" && (strings.HasSuffix(name, ".star") || strings.HasSuffix(name, ".py"))
}

// Tree returns the files. They must not be changed.
func (s Source) Tree() Tree { return s.tree }

// Digest names the source.
func (s Source) Digest() Digest { return s.tree.Digest() }
