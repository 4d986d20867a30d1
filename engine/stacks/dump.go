package stacks

import "slices"

// A dump is what is kept of the goroutines that were read.
type dump struct {
	total     int
	reading   goroutine
	states    map[string]string
	functions []function
	byName    map[string]int32
	nameBytes int
	groups    []group
	byStack   map[string]int32 // place in groups by the functions' places
	stack     []byte           // of the last goroutine, as byStack has it
	locks     []lock
	byObject  map[object]int32 // place in locks
	kept      []kept
	receivers int // of all kept
	block     []receiver
}

func newDump() *dump {
	return &dump{states: map[string]string{}, byName: map[string]int32{}, byStack: map[string]int32{}, byObject: map[object]int32{}}
}

// A group is goroutines of the same stack.
type group struct {
	frames  []int32 // places of functions, the innermost first
	count   int
	longest int32 // minutes
	first   int
	state   string
	call    string // of the CRI
	lockers int    // innermost frames that are of a lock that is waited for
	leaver  int    // the innermost frame that is entered without a lock that outer ones hold; maxFrames if there is none
	kept    int
	told    bool // does and calls are
	does    string
	calls   bool
}

// A kept goroutine may hold a lock.
type kept struct {
	number  int
	parent  int
	minutes int32
	group   int32
	lock    int32 // that it waits for, by its place; -1 if it waits for none
	state   string
	on      []receiver
}

// A receiver is what a frame of a goroutine works on.
type receiver struct {
	at      uint64
	depth   uint8 // of the frame
	inexact bool
}

// end counts the goroutine that is being read, if it could be.
func (d *dump) end() {
	g := &d.reading
	whole := g.open && !g.broken && (g.place || len(g.frames) == 0)
	g.open = false
	if !whole {
		return
	}
	d.total++
	id := d.groupOf(g)
	if id < 0 {
		return
	}
	of := &d.groups[id]
	of.count++
	of.longest = max(of.longest, g.minutes)
	lock := int32(-1)
	if of.lockers > 0 {
		lock = d.wait(g, of)
	}
	d.keep(g, id, lock)
}

// groupOf is the place of the group of g's stack, -1 if there are too many.
func (d *dump) groupOf(g *goroutine) int32 {
	d.stack = d.stack[:0]
	for _, f := range g.frames {
		if f.function < 0 {
			return -1
		}
		d.stack = append(d.stack, byte(f.function), byte(f.function>>8), byte(f.function>>16))
	}
	if id, known := d.byStack[string(d.stack)]; known {
		return id
	}
	if len(d.groups) == maxStacks {
		return -1
	}
	of := group{frames: make([]int32, len(g.frames)), first: g.number, state: g.state, lockers: d.lockers(g.frames), leaver: maxFrames}
	for i, f := range g.frames {
		of.frames[i] = f.function
		is := &d.functions[f.function]
		if is.call != "" {
			of.call = is.call
		}
		if is.leaves != nil {
			of.leaver = min(of.leaver, i)
		}
	}
	d.groups = append(d.groups, of)
	d.byStack[string(d.stack)] = int32(len(d.groups) - 1)
	return int32(len(d.groups) - 1)
}

// lockers is how many frames, from the innermost, are those of a lock that the goroutine
// waits for; 0 if it waits for none.
func (d *dump) lockers(frames []frame) int {
	waits := false
	for i, f := range frames {
		of := &d.functions[f.function]
		switch {
		case of.is(ofRuntime):
		case of.is(takesLock):
			waits = true
		case of.of("semaphore.(*Weighted)") && i+1 < len(frames) && d.functions[frames[i+1].function].of("kmutex.(*keyMutex)"):
			return i + 1
		case of.is(ofSync) && (of.owner == "" || of.of("sync.(*Cond)")): // which takes a lock that others gave it
		case waits:
			return i
		default:
			return 0
		}
	}
	return 0
}

// keep keeps a goroutine among those that may hold a lock, if there is room.
func (d *dump) keep(g *goroutine, id, lock int32) {
	of := &d.groups[id]
	if of.kept == maxAlike || len(d.kept) == maxKept {
		return
	}
	n := 0
	for _, f := range g.frames {
		if f.on.at != 0 {
			n++
		}
	}
	if d.receivers+n > maxReceivers {
		return
	}
	d.receivers += n
	of.kept++
	if cap(d.block)-len(d.block) < n {
		d.block = make([]receiver, 0, 8<<10)
	}
	start := len(d.block)
	for depth, f := range g.frames {
		if f.on.at != 0 {
			d.block = append(d.block, receiver{f.on.at, uint8(depth), f.on.inexact})
		}
	}
	d.kept = append(d.kept, kept{g.number, g.parent, g.minutes, id, lock, g.state, slices.Clip(d.block[start:])})
}
