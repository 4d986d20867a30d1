package record

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/frozen"
)

const (
	// segmentFor is how long a segment is at least, and stretch how many times as long it may be
	// while its inputs take less than the state that it begins with: that is most of what a quiet
	// node takes, and a seek plays the inputs.
	segmentFor = 4 * time.Minute
	stretch    = 2.5
	// mostSegment is what a segment has at most before compression, but for its first block.
	mostSegment = 32 << 20
	// flushFor is how much a crash may take.
	flushFor = time.Second
	// mostBlock is the largest block that is read.
	mostBlock = 24 << 20
	// window is how far back zstd finds what was there before; a reader takes no more than mostWindow.
	window, mostWindow = 1 << 20, 8 << 20

	// RingFor and RingBytes are what a ring keeps, whichever is less: the last whole segments of
	// so long, or of so many bytes after compression.
	RingFor   = 15 * time.Minute
	RingBytes = 32 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Options say how a [Recorder] records. The zero value keeps a ring of the usual length.
type Options struct {
	Head     Head          // Node, Source, Endpoint, Scenario and Plegtop; the rest is worked out
	Ring     time.Duration // what is kept in memory; default [RingFor], less than 0 for none
	Bytes    int64         // what of that at most; default [RingBytes]
	Segments time.Duration // how long a segment is at least; default 4 min
}

// A Recorder is the [engine.Tape] of one engine. It keeps a ring of the last minutes, and writes
// to a file if there is one. Its Begin, Step and Shown are the engine's to call; the other
// methods may be called at any time from any goroutine.
type Recorder struct {
	options Options

	mu      sync.Mutex // guards what follows
	machine engine.Recorded
	ring    []*segment // the last one is being written
	frozen  *frozen.Writer
	lists   lists
	zstd    *zstd.Encoder
	pending []byte    // of the next block
	one     entry     // that is being written, which would be made anew for each
	written int       // in the segment, before compression
	packed  int64     // in it, after that
	state   int64     // of which its first block
	flushed time.Time // by the engine's clock
	at      time.Time // of the last entry
	runtime string
	roll    bool      // a new segment is to begin
	err     error     // why the recording has ended; nil while it goes on
	endedAt time.Time // when that, or the end of the file, was seen

	file *file // nil for none
}

// NewRecorder returns a recorder that has not begun.
func NewRecorder(o Options) *Recorder {
	o.Ring = cmp.Or(o.Ring, RingFor)
	o.Bytes = cmp.Or(o.Bytes, RingBytes)
	o.Segments = cmp.Or(o.Segments, segmentFor)
	run := make([]byte, 8)
	_, _ = rand.Read(run) // never fails
	o.Head.Format, o.Head.Run = Format, hex.EncodeToString(run)
	return &Recorder{options: o}
}

// Begin takes the machine whose inputs come next.
func (r *Recorder) Begin(m engine.Recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.machine = m
	var err error
	r.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	r.fail(err)
	r.roll = true
}

// Step takes down an input before the machine takes it in.
func (r *Recorder) Step(at time.Time, in engine.Input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ready(at) {
		return
	}
	if v, is := in.(engine.Returned); is && v.Answer.Version != nil {
		r.runtime = strings.TrimSpace(v.Answer.Version.RuntimeName + " " + v.Answer.Version.RuntimeVersion)
	}
	r.entry(r.lists.take(at, in))
}

// Shown takes down that a snapshot was made.
func (r *Recorder) Shown(at time.Time, costs engine.Cost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready(at) {
		r.entry(entry{At: at, Costs: costs})
	}
}

// ready begins a segment if it is time for one, and reports whether the recording goes on.
func (r *Recorder) ready(at time.Time) bool {
	if r.err != nil {
		return false
	}
	if r.roll || r.long(at) || r.written > mostSegment || r.file.full() {
		r.fail(r.begin(at))
	}
	return r.err == nil
}

// long reports whether the segment that is being written has been for long.
func (r *Recorder) long(at time.Time) bool {
	lasts, least := at.Sub(r.ring[len(r.ring)-1].began), r.options.Segments
	return lasts >= least && (r.packed > 2*r.state || lasts >= time.Duration(stretch*float64(least)))
}

// begin begins a segment: ends the last one, and writes how the machine stands.
func (r *Recorder) begin(at time.Time) error {
	if err := r.end(); err != nil {
		return err
	}
	start := r.machine.Start()
	head := r.options.Head
	head.At, head.Runtime, head.Kubelet = at, r.runtime, start.Release.String()
	r.options.Head.Number++
	s := &segment{Head: head, began: at}
	var err error
	if s.head, err = head.append(nil); err != nil {
		return err
	}
	r.roll, r.written, r.packed, r.lists = false, 0, 0, lists{}
	r.frozen = frozen.NewWriter(withoutSecrets)
	r.ring = append(r.ring, s)
	r.file.write(s.head, true)
	r.zstd.Reset(&sink{r, s})
	r.pending = frozen.Append(r.frozen, r.pending[:0], &key{start})
	r.pending = r.machine.Freeze(r.frozen, r.pending)
	if r.frozen.Spent > budget {
		return fmt.Errorf("record: the state of this engine takes %d MiB, more than the %d that can be played: this node has too many pods", r.frozen.Spent>>20, budget>>20)
	}
	r.trim(at)
	err = r.flush(at)
	r.state = r.packed
	return err
}

// end ends the segment that is being written, if one is.
func (r *Recorder) end() error {
	if len(r.ring) == 0 || r.written == 0 {
		return nil
	}
	if err := r.flush(r.at); err != nil {
		return err
	}
	r.written = 0
	_, err := (&sink{r, r.ring[len(r.ring)-1]}).Write(lastBlock)
	return err
}

// trim drops the oldest segments as long as those after them are what the ring keeps. A ring
// of nothing keeps the segment that is being written, but not its bytes.
func (r *Recorder) trim(at time.Time) {
	size := int64(0)
	for _, s := range r.ring {
		size += s.length()
	}
	for len(r.ring) > 1 && (at.Sub(r.ring[1].began) >= r.options.Ring || size > r.options.Bytes) {
		size -= r.ring[0].length()
		r.ring[0] = nil // or what is behind the slice keeps it
		r.ring = r.ring[1:]
	}
}

// entry writes one entry, and the block once that is old.
func (r *Recorder) entry(e entry) {
	r.at, r.one = e.At, e
	r.pending = frozen.Append(r.frozen, r.pending, &r.one)
	r.one = entry{}
	if e.At.Sub(r.flushed) >= flushFor || len(r.pending) > mostSegment/8 {
		r.fail(r.flush(e.At))
	}
}

// flush writes the pending block, so that it is whole in what was written.
func (r *Recorder) flush(at time.Time) error {
	if len(r.pending) == 0 {
		return nil
	}
	if len(r.pending) > mostBlock {
		return fmt.Errorf("record: a block of %d bytes is larger than the %d that can be played: this node has too many pods", len(r.pending), mostBlock)
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(r.pending)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(r.pending, castagnoli))
	_, err := r.zstd.Write(head)
	if err == nil {
		_, err = r.zstd.Write(r.pending)
	}
	if err == nil {
		err = r.zstd.Flush()
	}
	r.written += len(r.pending)
	if cap(r.pending) > 1<<20 { // of a state
		r.pending = nil
	}
	r.pending, r.flushed = r.pending[:0], at
	return err
}

func (r *Recorder) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// State says how the recording stands.
func (r *Recorder) State() engine.Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s engine.Recording
	s.File, s.Written = r.file.state()
	if r.options.Ring > 0 && len(r.ring) > 0 {
		s.Span = r.at.Sub(r.ring[0].began)
		for _, of := range r.ring {
			s.Kept += of.length()
		}
	}
	err := r.file.fault()
	if r.err != nil && !errors.Is(r.err, errClosed) {
		err = r.err
	}
	if err != nil {
		if r.endedAt.IsZero() {
			r.endedAt = r.at
		}
		s.Ended, s.EndedAt = strings.TrimPrefix(err.Error(), "record to "+s.File+": "), r.endedAt
	}
	return s
}

// A sink takes what zstd writes of a segment.
type sink struct {
	recorder *Recorder
	segment  *segment
}

func (s *sink) Write(b []byte) (int, error) {
	s.recorder.packed += int64(len(b))
	s.recorder.file.write(b, false)
	if s.recorder.options.Ring > 0 {
		s.segment.data = append(s.segment.data, b...)
	}
	return len(b), nil
}

// Recording returns what the ring has now. It is empty where none is kept.
func (r *Recorder) Recording() *Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && r.zstd != nil {
		r.fail(r.flush(r.at))
	}
	var all []*segment
	for _, s := range r.ring {
		if len(s.data) > 0 {
			copied := *s
			copied.data = slices.Clip(s.data) // what is there already is never written to again
			all = append(all, &copied)
		}
	}
	return &Recording{segments: all}
}
