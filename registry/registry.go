package registry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/proofs"
	"signalbox/registry/ledger"
	"signalbox/registry/objects"
	"signalbox/rule"
)

// Registry is an open workspace. It is safe for concurrent use, by several
// processes too.
type Registry struct {
	dir         string
	lockTimeout time.Duration
	turn        chan struct{}
	ledger      *ledger.Ledger
	objects     *objects.Store
	// atStep is called at the steps of a commit; an error stops it there. Tests
	// set it.
	atStep func(step string) error
}

// Options of Open. LockTimeout 0 means ten seconds. AnyFileSystem allows network
// and FUSE file systems, at the operator's risk.
type Options struct {
	LockTimeout   time.Duration
	AnyFileSystem bool
}

// InitOptions of Init. Environments are those that rules may run in from the
// start. A zero Policy means a floor of one half, two repeats, and probes.
type InitOptions struct {
	Options
	Environments []rule.Environment
	Policy       proofs.Policy
	Who          string
}

// Init makes a new workspace at dir and opens it. It is made whole beside dir
// and renamed, so a crash leaves none. A dir that exists and isn't empty is an
// error that is fs.ErrExist.
func Init(ctx context.Context, dir string, o InitOptions) (*Registry, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("initialising: %w", err)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("initialising: %q is there already and not empty: %w", dir, fs.ErrExist)
	}
	building, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".init-")
	if err != nil {
		return nil, fmt.Errorf("initialising: %w", err)
	}
	if err := build(ctx, building, o); err != nil {
		return nil, errors.Join(fmt.Errorf("initialising %q: %w", dir, err), os.RemoveAll(building))
	}
	if err := unix.Rename(building, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("initialising %q: %w", dir, err), os.RemoveAll(building))
	}
	if err := syncFolder(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("initialising %q: %w", dir, err)
	}
	return Open(dir, o.Options)
}

func build(ctx context.Context, dir string, o InitOptions) error {
	if err := checkHome(dir, o.AnyFileSystem); err != nil {
		return err
	}
	public, err := buildKeys(filepath.Join(dir, keyFolder))
	if err != nil {
		return err
	}
	if _, err := objects.Create(filepath.Join(dir, objectFolder)); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, lockFile), nil); err != nil {
		return err
	}
	data, err := firstState(public, o).encode()
	if err != nil {
		return err
	}
	if _, _, err := parseState(data); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, registryFile), data); err != nil {
		return err
	}
	book, err := ledger.Create(ctx, filepath.Join(dir, ledgerFile))
	if err != nil {
		return err
	}
	err = book.Raise(ctx, ledger.Mark{Serial: 1, Digest: rule.DigestOf(data)})
	return errors.Join(err, book.Close(), syncFolder(dir))
}

// buildKeys makes the host key and the salt of the case split.
func buildKeys(dir string) (proofs.PublicKey, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return proofs.PublicKey{}, err
	}
	salt := make([]byte, 32)
	if _, err := rand.Read(salt); err != nil {
		return proofs.PublicKey{}, err
	}
	if err := writeNew(filepath.Join(dir, saltFile), []byte(hex.EncodeToString(salt)+"\n")); err != nil {
		return proofs.PublicKey{}, err
	}
	if err := proofs.GenerateKey(dir); err != nil {
		return proofs.PublicKey{}, err
	}
	return proofs.LoadPublicKey(filepath.Join(dir, proofs.PublicKeyFile))
}

func firstState(public proofs.PublicKey, o InitOptions) *State {
	if o.Policy == (proofs.Policy{}) {
		o.Policy = DefaultPolicy
	}
	if o.Who == "" {
		o.Who = "init"
	}
	state := &State{
		Schema: Schema, Serial: rule.Serial{N: 1}, Generation: 1, Host: public.Fingerprint(), Policy: o.Policy,
		Current: map[string]rule.Digest{}, Environments: map[rule.Digest]rule.Environment{},
		Log: []Commit{{Serial: 1, When: now(), Who: o.Who, What: "init"}},
	}
	for _, environment := range o.Environments {
		state.Current[environment.Name] = environment.Digest()
		state.Environments[environment.Digest()] = environment
	}
	return state
}

// DefaultPolicy asks for half of each family, twice, with probes. Its list of
// scope words is named by whoever has one.
var DefaultPolicy = proofs.Policy{Floor: 0.5, Repeats: 2, Probes: true}

// Open opens the workspace at dir. Its errors are ErrNotInitialised, ErrDamaged,
// ErrNewerSchema and ErrRolledBack where it is one of these.
func Open(dir string, o Options) (*Registry, error) {
	if o.LockTimeout == 0 {
		o.LockTimeout = defaultLockTimeout
	}
	r := &Registry{
		dir: dir, lockTimeout: o.LockTimeout, turn: make(chan struct{}, 1),
		atStep: func(string) error { return nil },
	}
	if err := r.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("opening registry: %w", err), r.Close())
	}
	return r, nil
}

func (r *Registry) open(o Options) error {
	if err := checkHome(r.dir, o.AnyFileSystem); err != nil {
		return err
	}
	if err := r.checkPresent(); err != nil {
		return err
	}
	ctx := context.Background()
	book, err := ledger.Open(ctx, r.path(ledgerFile))
	switch {
	case errors.Is(err, ledger.ErrNewerSchema):
		return fmt.Errorf("%w: %v", ErrNewerSchema, err)
	case errors.Is(err, ledger.ErrMissing), errors.Is(err, ledger.ErrDamaged):
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	case err != nil:
		return err
	}
	r.ledger = book
	if r.objects, err = objects.Open(r.path(objectFolder)); err != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	_, err = r.read(ctx)
	return err
}

// checkPresent tells a folder that was never a home from a home that has lost
// its registry.
func (r *Registry) checkPresent() error {
	_, err := os.Lstat(r.path(registryFile))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range []string{ledgerFile, lockFile, keyFolder, objectFolder} {
		if _, err := os.Lstat(r.path(name)); err == nil {
			return fmt.Errorf("%q is missing from a home that has %q: restore it from a backup: %w", r.path(registryFile), name, ErrDamaged)
		}
	}
	return fmt.Errorf("%q: %w", r.dir, ErrNotInitialised)
}

// Close ends the use of the workspace.
func (r *Registry) Close() error { return r.ledger.Close() }

// Dir returns the home's path.
func (r *Registry) Dir() string { return r.dir }

// Keys returns the folder of the host key, for proofs.LoadKey.
func (r *Registry) Keys() string { return r.path(keyFolder) }

// Ledger returns the workspace's ledger.
func (r *Registry) Ledger() *ledger.Ledger { return r.ledger }

// Objects returns the workspace's objects.
func (r *Registry) Objects() *objects.Store { return r.objects }

// public reads the host's public key and compares it with the registry's.
func (r *Registry) public(state *State) (proofs.PublicKey, error) {
	path := filepath.Join(r.Keys(), proofs.PublicKeyFile)
	public, err := proofs.LoadPublicKey(path)
	if err != nil {
		return proofs.PublicKey{}, err
	}
	if got := public.Fingerprint(); got != state.Host {
		return proofs.PublicKey{}, fmt.Errorf("%q has fingerprint %s, the registry was made with %s: %w", path, got.Short(), state.Host.Short(), ErrDamaged)
	}
	return public, nil
}

// salt reads the secret of the case split.
func (r *Registry) salt() ([]byte, error) {
	path := filepath.Join(r.Keys(), saltFile)
	file, _, err := openPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("reading the split's salt: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, 100))
	if err != nil {
		return nil, fmt.Errorf("reading the split's salt: %w", err)
	}
	salt, err := hex.DecodeString(string(trimNewline(data)))
	if err != nil || len(salt) != 32 {
		return nil, fmt.Errorf("reading the split's salt: %q doesn't hold 64 hexadecimal digits: %w", path, ErrDamaged)
	}
	return salt, nil
}

func trimNewline(data []byte) []byte {
	if len(data) > 0 && data[len(data)-1] == '\n' {
		return data[:len(data)-1]
	}
	return data
}

// writeNew writes a new private file and syncs it.
func writeNew(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}
