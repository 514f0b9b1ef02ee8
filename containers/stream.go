package containers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds on a program's standard error: what is kept for people, and what it
// may write at all.
const (
	keptStderr = 8 << 10
	maxStderr  = 1 << 20
)

// errStderrFlood is returned when a program wrote more than maxStderr.
var errStderrFlood = errors.New("standard error is over its limit")

// The engine's multiplexing: a type byte, three zeros, a big-endian length.
const (
	chunkHeader = 8
	chunkStdout = 1
	chunkStderr = 2
)

// demux reads the engine's multiplexed stream: Read returns standard output
// alone, and what comes on standard error meanwhile is kept, bounded. One frame
// may span many chunks, so chunks are invisible to the reader.
type demux struct {
	buffered *bufio.Reader
	left     int64 // of the stdout chunk under way
	stderr   []byte
	written  int64 // to standard error, kept or not
	failed   error // what the last Read returned
}

func newDemux(r io.Reader) *demux { return &demux{buffered: bufio.NewReaderSize(r, 64<<10)} }

// Read implements io.Reader.
func (d *demux) Read(p []byte) (n int, err error) {
	defer func() { d.failed = err }()
	for d.left == 0 {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	if int64(len(p)) > d.left {
		p = p[:d.left]
	}
	n, err = d.buffered.Read(p)
	d.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads one chunk's header, and its body where it is standard error.
func (d *demux) next() error {
	var header [chunkHeader]byte
	if _, err := io.ReadFull(d.buffered, header[:]); err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(header[4:]))
	switch header[0] {
	case chunkStdout:
		d.left = size
		return nil
	case chunkStderr:
		return d.keep(size)
	}
	return fmt.Errorf("engine's stream has a chunk of type %d", header[0])
}

// keep reads size bytes of standard error.
func (d *demux) keep(size int64) error {
	d.written += size
	if d.written > maxStderr {
		return errStderrFlood
	}
	room := min(size, keptStderr-int64(len(d.stderr)))
	kept := make([]byte, max(room, 0))
	if _, err := io.ReadFull(d.buffered, kept); err != nil {
		return err
	}
	d.stderr = append(d.stderr, kept...)
	_, err := io.CopyN(io.Discard, d.buffered, size-int64(len(kept)))
	return err
}

// pending says whether standard output has arrived that no Read has returned.
// It takes in standard error that arrived whole, and never waits.
func (d *demux) pending() (bool, error) {
	for d.left == 0 {
		if d.buffered.Buffered() < chunkHeader {
			return false, nil
		}
		header, err := d.buffered.Peek(chunkHeader)
		if err != nil {
			return false, err
		}
		size := int(binary.BigEndian.Uint32(header[4:]))
		if header[0] == chunkStderr && d.buffered.Buffered()-chunkHeader < size {
			return false, nil
		}
		if err := d.next(); err != nil {
			return false, err
		}
	}
	return true, nil
}
