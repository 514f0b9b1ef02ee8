package main

import "io/fs"

// op is one operation that changes a disk. Those on what a file holds last once
// the file is synced, those on a folder's entries once the folder is.
type op struct {
	kind   opKind
	node   int // the file, or the folder whose entry changes
	name   int
	child  int // entry: the node that the name gets, -1 for none
	from   int // rename: the folder and the name that lose it
	was    int
	offset int
	data   []byte
	mode   fs.FileMode
}

type opKind int

const (
	opWrite opKind = iota
	opTruncate
	opMode
	opEntry  // create, mkdir, unlink
	opRename // one operation, as journals have it
	opSync
)

// apply changes the disk. An operation on a folder that never came to be, because
// what made it was lost, is lost too.
func (o op) apply(d *disk) {
	switch o.kind {
	case opWrite:
		d.nodes[o.node].data = splice(d.nodes[o.node].data, o.offset, o.data)
	case opTruncate:
		d.nodes[o.node].data = splice(d.nodes[o.node].data[:min(o.offset, len(d.nodes[o.node].data))], o.offset, nil)
	case opMode:
		d.nodes[o.node].mode = o.mode
	case opEntry:
		d.set(o.node, o.name, o.child)
	case opRename:
		d.set(o.from, o.was, -1)
		d.set(o.node, o.name, o.child)
	}
}

func (d *disk) set(folder, name, child int) {
	if child < 0 {
		delete(d.nodes[folder].entries, name)
		return
	}
	d.nodes[folder].entries[name] = child
}

// splice returns old with data at offset, with zeros before it where old is
// shorter.
func splice(old []byte, offset int, data []byte) []byte {
	spliced := make([]byte, max(len(old), offset+len(data)))
	copy(spliced, old)
	copy(spliced[offset:], data)
	return spliced
}

// recording is what one act did to a disk.
type recording struct {
	base *disk // with every node that comes into being later, without a name
	ops  []op
}

// mostPending bounds how many operations that aren't synced are lost in all
// combinations; with more of them each is lost alone and kept alone.
const mostPending = 10

// states calls visit with every disk that a crash could leave. done says that
// all operations had been made.
func (r recording) states(visit func(d *disk, done bool)) {
	if r.base == nil {
		return
	}
	for end := 0; end <= len(r.ops); end++ {
		pending, lasting := r.split(end)
		for _, lost := range losses(len(pending)) {
			d := r.base.clone()
			for i, o := range r.ops[:end] {
				if j := indexOf(pending, i); lasting[i] || j >= 0 && !lost[j] {
					o.apply(d)
				}
			}
			visit(d, end == len(r.ops))
		}
		if torn, ok := r.torn(end); ok {
			visit(torn, false)
		}
	}
}

// split says which of the first operations a sync has made last, and which not.
func (r recording) split(end int) (pending []int, lasting map[int]bool) {
	lasting = map[int]bool{}
	for i, o := range r.ops[:end] {
		if o.kind != opSync {
			continue
		}
		for j, earlier := range r.ops[:i] {
			if earlier.node == o.node {
				lasting[j] = true
			}
		}
	}
	for i, o := range r.ops[:end] {
		if o.kind != opSync && !lasting[i] {
			pending = append(pending, i)
		}
	}
	return pending, lasting
}

// torn is the disk on which only half of the last write arrived.
func (r recording) torn(end int) (*disk, bool) {
	if end == 0 || r.ops[end-1].kind != opWrite {
		return nil, false
	}
	d := r.base.clone()
	for _, o := range r.ops[:end-1] {
		o.apply(d)
	}
	half := r.ops[end-1]
	half.data = half.data[:len(half.data)/2]
	half.apply(d)
	return d, true
}

// losses lists which of n operations to lose.
func losses(n int) [][]bool {
	var all [][]bool
	if n <= mostPending {
		for set := range 1 << n {
			lost := make([]bool, n)
			for i := range n {
				lost[i] = set>>i&1 == 1
			}
			all = append(all, lost)
		}
		return all
	}
	for i := range n {
		one, others := make([]bool, n), make([]bool, n)
		for j := range n {
			one[j], others[j] = j == i, j != i
		}
		all = append(all, one, others)
	}
	none, every := make([]bool, n), make([]bool, n)
	for i := range n {
		every[i] = true
	}
	return append(all, none, every)
}

func indexOf(list []int, wanted int) int {
	for i, v := range list {
		if v == wanted {
			return i
		}
	}
	return -1
}
