package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"signalbox/rule"
)

// Identity is what one stat tells of registry.json. Equal identities mean the
// same commit, as long as the Snapshot that one comes from is alive: it holds its
// file open, so that no other file can get the same inode.
type Identity struct {
	Device, Inode uint64
	Size          int64
	Modified      int64 // nanoseconds since 1970
	Changed       int64 // nanoseconds since 1970
}

func identityOf(info fs.FileInfo) Identity {
	id := Identity{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		id.Device, id.Inode, id.Changed = uint64(stat.Dev), stat.Ino, stat.Ctim.Nano()
	}
	return id
}

// Stat returns the identity of registry.json as it stands.
func (r *Registry) Stat() (Identity, error) {
	info, err := os.Lstat(r.path(registryFile))
	if err != nil {
		return Identity{}, fmt.Errorf("looking at the registry: %w", err)
	}
	return identityOf(info), nil
}

// Snapshot is the registry at one serial. It never changes.
type Snapshot struct {
	registry *Registry
	state    *State
	identity Identity
	file     *os.File // closed by the garbage collector, with the snapshot
	cases    func() ([]rule.Case, error)
}

// Snapshot reads the registry without taking a lock. Its errors are those of
// Open.
func (r *Registry) Snapshot(ctx context.Context) (*Snapshot, error) {
	now, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{registry: r, state: now.state, identity: now.identity, file: now.file}
	s.cases = sync.OnceValues(func() ([]rule.Case, error) { return r.suiteCases(now.state) })
	return s, nil
}

// State returns the document itself, which must not be changed.
func (s *Snapshot) State() *State { return s.state }

// Serial returns the commit that the snapshot is of.
func (s *Snapshot) Serial() rule.Serial { return s.state.Serial }

// Generation returns the generation at that serial.
func (s *Snapshot) Generation() rule.Generation { return s.state.Generation }

// Identity returns what Stat returned, or would have, for this serial's file.
func (s *Snapshot) Identity() Identity { return s.identity }

// Cases returns the visible and the admission cases, by ID, each with its part.
// They are shared and must not be changed. Sealed cases are never among them.
func (s *Snapshot) Cases(context.Context) ([]rule.Case, error) { return s.cases() }

// SealedForAudit returns the sealed cases. Only the audit may ask.
func (s *Snapshot) SealedForAudit(context.Context) ([]rule.Case, error) {
	return s.registry.sealedCases(s.state)
}

// SealedCounts says how many sealed cases each family has, and nothing more of
// them.
func (s *Snapshot) SealedCounts(context.Context) (map[rule.Family]int, error) {
	parts, err := s.registry.parts(s.state)
	return parts.Sealed, err
}

// Member returns a revision as a collection's member, in its environment as it
// is now. It returns ErrUnknown where there is no such revision.
func (s *Snapshot) Member(name rule.Name, revision rule.Digest) (rule.Member, error) {
	known, ok := s.state.Revision(name, revision)
	if !ok {
		return rule.Member{}, fmt.Errorf("rule %q, revision %s: %w", name, revision, ErrUnknown)
	}
	environment, ok := s.state.Current[known.Environment]
	if !ok {
		return rule.Member{}, fmt.Errorf("environment %q of rule %q: %w", known.Environment, name, ErrUnknown)
	}
	return rule.Member{Rule: name, Revision: revision, Environment: environment}, nil
}

// Program loads a member: every file of its source is hashed again, and the
// source is parsed. The error is ErrDamaged or ErrUnknown where it is one.
func (s *Snapshot) Program(member rule.Member) (rule.Program, error) {
	return s.registry.program(s.state, member)
}

func (r *Registry) program(state *State, member rule.Member) (rule.Program, error) {
	if _, ok := state.Revision(member.Rule, member.Revision); !ok {
		return rule.Program{}, fmt.Errorf("rule %q, revision %s: %w", member.Rule, member.Revision, ErrUnknown)
	}
	environment, ok := state.Environments[member.Environment]
	if !ok {
		return rule.Program{}, fmt.Errorf("environment %s of rule %q: %w", member.Environment, member.Rule, ErrUnknown)
	}
	tree, err := r.objects.GetTree(member.Revision)
	if err != nil {
		return rule.Program{}, damaged(fmt.Errorf("loading rule %q: %w", member.Rule, err))
	}
	source, manifest, err := rule.ParseSource(tree)
	if err != nil {
		return rule.Program{}, damaged(fmt.Errorf("loading rule %q, revision %s: %w", member.Rule, member.Revision, err))
	}
	if manifest.Name != member.Rule || manifest.Environment != environment.Name {
		return rule.Program{}, damaged(fmt.Errorf("loading rule %q, revision %s: its manifest says %q in environment %q",
			member.Rule, member.Revision, manifest.Name, manifest.Environment))
	}
	return rule.Program{Member: member, Manifest: manifest, Source: source, Environment: environment}, nil
}

// damaged marks an error of an object as ErrDamaged, with its text kept.
func damaged(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// globEscape makes a path stand for itself in a pattern.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
