package draft

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"signalbox/rule"
)

// Entry is one line of a journal. Kind says what it is about; Data is the JSON
// document of that kind. Kind "edit" is this package's own, with an Edit.
type Entry struct {
	N    int        `json:"n"`
	Kind string     `json:"kind"`
	Data rule.Value `json:"data"`
}

// maxEntryBytes bounds one line, so that a damaged file can't take all memory.
const maxEntryBytes = 64 << 20

type journal struct {
	file    *os.File
	entries []Entry
}

// openJournal reads all entries. What follows the last newline is the rest of a
// write that a crash cut short, and is dropped.
func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file}
	if err := j.load(); err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

func (j *journal) load() error {
	data, err := io.ReadAll(io.LimitReader(j.file, maxEntryBytes*4))
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole < len(data) {
		if err := j.file.Truncate(int64(whole)); err != nil {
			return err
		}
	}
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
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("writing journal: %w", err)
	}
	j.entries = append(j.entries, entry)
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// Record appends an entry of the caller's own kind.
func (d *Draft) Record(kind string, data any) error { return d.journal.append(kind, data) }

// Entries returns the journal so far, oldest first.
func (d *Draft) Entries() []Entry { return d.journal.entries }
