package editor

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// temporaryPrefix begins the names of files that are about to become, or have
// just been, a file of the tree: the prefix, the process, a random part.
const temporaryPrefix = ".signalbox-edit-"

// maxTemporaryAge is how long a temporary file is left alone whose process
// seems to be alive; process numbers are used again.
const maxTemporaryAge = time.Hour

// claimed holds the temporary names that this process works with.
var claimed sync.Map

// IsTemporary says whether a file name is one that the editor gives to files in
// the making. Who copies a tree leaves them out.
func IsTemporary(name string) bool { return strings.HasPrefix(name, temporaryPrefix) }

// claimName returns a new temporary name. discard gives it back.
func claimName() (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	name := temporaryPrefix + strconv.Itoa(os.Getpid()) + "-" + hex.EncodeToString(random[:])
	claimed.Store(name, true)
	return name, nil
}

// discard removes what stands under a temporary name, if anything does. What
// can't be removed is left to a later sweep.
func (t *tree) discard(dir int, name string) {
	if t.at("discard") == nil {
		_ = unix.Unlinkat(dir, name, 0)
	}
	claimed.Delete(name)
}

// sweep removes the temporary files at and below a folder that no living
// process is working with.
func (t *tree) sweep(rel string, depth int) {
	dir, err := t.folder(rel)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	entries, err := names(dir, maxEntries)
	if err != nil {
		return
	}
	for _, name := range entries {
		stat, err := lstat(dir, name)
		switch {
		case err != nil:
		case stat.Mode&unix.S_IFMT == unix.S_IFDIR && depth > 1:
			t.sweep(join(rel, name), depth-1)
		case stat.Mode&unix.S_IFMT == unix.S_IFREG && IsTemporary(name) && abandoned(name, stat):
			_ = unix.Unlinkat(dir, name, 0)
		}
	}
}

// abandoned says whether nobody works with a temporary file any more.
func abandoned(name string, stat unix.Stat_t) bool {
	if _, ours := claimed.Load(name); ours {
		return false
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(name, temporaryPrefix), "-")
	process, err := strconv.Atoi(number)
	if err != nil || process <= 0 || process == os.Getpid() {
		return true
	}
	if unix.Kill(process, 0) == unix.ESRCH {
		return true
	}
	return time.Since(time.Unix(stat.Mtim.Unix())) > maxTemporaryAge
}

func join(rel, name string) string {
	if rel == "." {
		return name
	}
	return rel + "/" + name
}
