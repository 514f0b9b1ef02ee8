package draft

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"signalbox/rule"
)

// Entry is one line of a journal. Kind says what it is about; Data is the JSON
// document of that kind. Kind "edit" is this package's own, with an Edit.
type Entry struct {
	N    int        `json:"n"`
	Kind string     `json:"kind"`
	Data rule.Value `json:"data"`
}

// Bounds of a line and of all of them, so that a damaged file can't take all
// memory.
const (
	maxEntryBytes   = 64 << 20
	maxJournalBytes = 4 * maxEntryBytes
)

// ErrInUse is returned for a change of a draft that another process is working
// on.
var ErrInUse = errors.New("draft is in use by another process")

// journal is append-only. writable says that this process holds its lock.
type journal struct {
	file     *os.File
	entries  []Entry
	size     int64 // of the whole lines
	writable bool
}

// openJournal reads all entries, and locks the journal if nobody else has. What
// follows the last newline is the rest of a write that a crash cut short, and is
// dropped; of a journal that is locked elsewhere it is what is being written.
func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, writable: unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil}
	if err := j.load(); err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

func (j *journal) load() error {
	data, err := io.ReadAll(io.LimitReader(j.file, maxJournalBytes+1))
	if err != nil {
		return err
	}
	if len(data) > maxJournalBytes {
		return fmt.Errorf("%s has more than %d bytes", journalFile, maxJournalBytes)
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole < len(data) && j.writable {
		if err := j.file.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	j.size = int64(whole)
	for line := range bytes.Lines(data[:whole]) {
		var entry Entry
		if err := rule.Decode(bytes.TrimSuffix(line, []byte("\n")), &entry); err != nil {
			return fmt.Errorf("%s line %d: %w", journalFile, len(j.entries)+1, err)
		}
		if entry.N != len(j.entries)+1 {
			return fmt.Errorf("%s line %d: has number %d", journalFile, len(j.entries)+1, entry.N)
		}
		j.entries = append(j.entries, entry)
	}
	return nil
}

// append writes one entry and returns after it is on disk.
func (j *journal) append(kind string, data any) error {
	if !j.writable {
		return ErrInUse
	}
	value, err := rule.ValueOf(data)
	if err != nil {
		return err
	}
	entry := Entry{N: len(j.entries) + 1, Kind: kind, Data: value}
	line, err := rule.Canonical(entry)
	if err != nil {
		return err
	}
	if len(line) > maxEntryBytes {
		return fmt.Errorf("writing journal: an entry of %d bytes: the limit is %d", len(line), maxEntryBytes)
	}
	line = append(line, '\n')
	_, err = j.file.Write(line)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil { // what isn't acknowledged must not be found later
		return fmt.Errorf("writing journal: %w", errors.Join(err, j.file.Truncate(j.size)))
	}
	j.size += int64(len(line))
	j.entries = append(j.entries, entry)
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// Record appends an entry of the caller's own kind.
func (d *Draft) Record(kind string, data any) error { return d.journal.append(kind, data) }

// Entries returns the journal so far, oldest first.
func (d *Draft) Entries() []Entry { return d.journal.entries }
