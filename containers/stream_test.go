package containers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// chunk is one piece of the engine's multiplexed stream.
func chunk(kind byte, data []byte) []byte {
	header := []byte{kind, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(header[4:], uint32(len(data)))
	return append(header, data...)
}

// TestDemuxLaw: however a program's two streams are cut into chunks and reads,
// each comes out whole and in order.
func TestDemuxLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var packed, stdout, stderr []byte
		for range rapid.IntRange(0, 20).Draw(rt, "chunks") {
			data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "data")
			if rapid.Bool().Draw(rt, "stderr") {
				packed, stderr = append(packed, chunk(chunkStderr, data)...), append(stderr, data...)
				continue
			}
			packed, stdout = append(packed, chunk(chunkStdout, data)...), append(stdout, data...)
		}
		var source io.Reader = bytes.NewReader(packed)
		if rapid.Bool().Draw(rt, "slow") {
			source = iotest.OneByteReader(source)
		}
		d := newDemux(source)
		got, err := io.ReadAll(d)
		if err != nil || !bytes.Equal(got, stdout) || !bytes.Equal(d.stderr, stderr) {
			rt.Fatalf("stdout %q (%v), stderr %q; want %q and %q", got, err, d.stderr, stdout, stderr)
		}
	})
}

func TestDemuxLimits(t *testing.T) {
	full := chunk(chunkStderr, make([]byte, maxStderr))
	d := newDemux(bytes.NewReader(full))
	if _, err := io.ReadAll(d); err != nil || len(d.stderr) != keptStderr {
		t.Errorf("control: %v, kept %d", err, len(d.stderr))
	}
	d = newDemux(bytes.NewReader(append(full, chunk(chunkStderr, []byte("x"))...)))
	if _, err := io.ReadAll(d); !errors.Is(err, errStderrFlood) {
		t.Errorf("one byte over: %v", err)
	}
	for name, broken := range map[string][]byte{
		"half a header": {1, 0, 0}, "half a body": chunk(chunkStdout, []byte("abc"))[:9], "unknown type": chunk(3, nil),
	} {
		if _, err := io.ReadAll(newDemux(bytes.NewReader(broken))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDemuxPending(t *testing.T) {
	for _, c := range []struct {
		name  string
		after []byte
		want  bool
	}{
		{"nothing", nil, false},
		{"standard error", chunk(chunkStderr, []byte("words")), false},
		{"half of standard error", chunk(chunkStderr, []byte("words"))[:10], false},
		{"empty output", chunk(chunkStdout, nil), false},
		{"output", chunk(chunkStdout, []byte("x")), true},
		{"output after standard error", append(chunk(chunkStderr, []byte("w")), chunk(chunkStdout, []byte("x"))...), true},
	} {
		d := newDemux(bytes.NewReader(append(chunk(chunkStdout, []byte("reply")), c.after...)))
		if _, err := io.ReadFull(d, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		if got, err := d.pending(); got != c.want || err != nil {
			t.Errorf("%s: pending = %v, %v", c.name, got, err)
		}
	}
}

// FuzzDemux: whatever an engine or a program sends, the reader ends, and keeps
// a bounded amount.
func FuzzDemux(f *testing.F) {
	f.Add(chunk(chunkStdout, []byte("hello")))
	f.Add(append(chunk(chunkStderr, []byte("words")), chunk(chunkStdout, []byte("x"))...))
	f.Add([]byte{2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDemux(bytes.NewReader(data))
		got, readErr := io.ReadAll(d)
		if len(got) > len(data) || len(d.stderr) > keptStderr {
			t.Errorf("%d bytes gave %d, kept %d", len(data), len(got), len(d.stderr))
		}
		if pending, _ := d.pending(); readErr == nil && (pending || d.buffered.Buffered() > 0) {
			t.Error("a stream that was read whole has more")
		}
	})
}
