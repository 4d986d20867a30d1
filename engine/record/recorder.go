package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/guard"
)

const (
	// A segment lasts at least segmentFor, and at most mostSegmentFor. In between it ends once it
	// has shortSegment bytes before compression, so that a seek is quick. On a quiet node,
	// checkpoints and first lists take most of the bytes. A segment ends at once when it has
	// mostSegment bytes.
	segmentFor     = time.Minute
	mostSegmentFor = 5 * time.Minute
	shortSegment   = 8 << 20
	mostSegment    = 32 << 20
	// flushEvery is the longest time that a crash may take from a recording.
	flushEvery = 3 * time.Second
	// mostWaiting is how many observations may wait to be compressed.
	mostWaiting = 1 << 16

	// RingFor and RingBytes limit what a ring keeps: the last whole segments of that time, or of
	// that many bytes after compression, whichever is less.
	RingFor   = 15 * time.Minute
	RingBytes = 32 << 20
)

// Options say how a [Recorder] records. The zero value keeps a ring of the usual length.
type Options struct {
	Head  Head          // without Runtime and Kubelet
	Ring  time.Duration // how long the ring in memory is; default [RingFor], less than 0 for none
	Bytes int64         // of the ring at most; default [RingBytes]
}

// A Recorder is the [engine.Tape] of one engine. It keeps a ring of the last minutes, and writes
// to a file if there is one. It has one goroutine that compresses, and another that writes. Only
// the engine calls Begin and Observe. The other methods are safe for concurrent use.
type Recorder struct {
	options    Options
	start      engine.Start
	checkpoint func() any // of the model
	file       *file      // nil for none
	stop       chan struct{}
	stopped    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards what follows
	clock   clock
	waiting []waiting
	began   time.Duration // start of the last segment, since the start
	last    time.Duration // of the last observation
	sizes   sizes
	err     error         // why the recording has ended; nil while it goes on
	endedAt time.Duration // when err, or an error of the file, was first seen

	packing sync.Mutex // guards what follows, and is locked before mu
	codec   *codec
	zstd    *zstd.Encoder
	out     bytesOut // of the present part
	plain   int      // bytes of the part before compression
	ring    []*kept
}

// A waiting observation is not compressed yet.
type waiting struct {
	at          time.Time
	entry       entry
	observation engine.Observation
	opening     *opening // of the segment that begins with it; nil if no segment does
}

// sizes are those of the last segment, and of the ring.
type sizes struct {
	plain int64         // of the segment before compression
	ring  int64         // of the ring after compression
	from  time.Duration // when the ring begins, since the start
}

// kept is a segment of the ring. Its bytes are only appended to.
type kept struct {
	began time.Duration
	bytes []byte
}

// NewRecorder returns a recorder that has not begun.
func NewRecorder(o Options) *Recorder {
	o.Ring, o.Bytes = cmp.Or(o.Ring, RingFor), cmp.Or(o.Bytes, RingBytes)
	return &Recorder{options: o}
}

// Begin takes the model. Its observations come next.
func (r *Recorder) Begin(m *engine.Model) { r.begin(m.Start(), func() any { return m.Checkpoint() }) }

func (r *Recorder) begin(s engine.Start, checkpoint func() any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start, r.checkpoint, r.clock, r.codec = s, checkpoint, clock{start: s.At}, newCodec(clock{start: s.At})
	r.began, r.stop, r.stopped = -mostSegmentFor, make(chan struct{}), make(chan struct{})
	r.zstd, r.err = zstd.NewWriter(nil, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	guard.Go(r.run)
}

// Observe records an observation before the model applies it. If a segment begins, it copies the
// model's checkpoint. It leaves everything else to the goroutine.
func (r *Recorder) Observe(at time.Time, o engine.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	w := waiting{at: at, observation: o}
	w.entry.At, w.entry.Step = r.clock.since(at)
	r.last = w.entry.At
	if end, is := o.(engine.CallEnded); is && end.Answer.Version != nil {
		r.options.Head.Runtime = strings.TrimSpace(end.Answer.Version.RuntimeName + " " + end.Answer.Version.RuntimeVersion)
	}
	lasts, size := r.last-r.began, r.sizes.plain
	if lasts >= mostSegmentFor || lasts >= segmentFor && size > shortSegment || size > mostSegment {
		r.sizes.plain, r.began = 0, r.last
		w.opening = r.open()
	}
	if len(r.waiting) == mostWaiting {
		r.err = errors.New("there is no time to record what happens")
	}
	if r.err != nil {
		r.endedAt = r.last
		return
	}
	r.waiting = append(r.waiting, w)
}

// open returns the opening of a segment, with a copy of the model's state. To encode that takes ten
// times as long, so that is left to the goroutine. r.mu is locked.
func (r *Recorder) open() *opening {
	o := &opening{Head: r.options.Head, Start: r.start, At: r.last, Steps: r.clock.steps}
	o.Head.Kubelet = r.start.Release.String()
	o.state = r.clock.writing(ages{}).copy(r.checkpoint())
	return o
}

// run compresses until the recorder is closed.
func (r *Recorder) run() {
	defer close(r.stopped)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.pack()
		case <-r.stop:
			return
		}
	}
}

// pack compresses what waits.
func (r *Recorder) pack() {
	r.packing.Lock()
	defer r.packing.Unlock()
	r.mu.Lock()
	all := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	var last time.Time
	for _, w := range all {
		if w.opening != nil {
			r.flush(goesOn, last)
		}
		if err := r.write(w); err != nil {
			r.mu.Lock()
			r.err, r.endedAt = err, r.last
			r.mu.Unlock()
			break
		}
		last = w.at
	}
	r.flush(goesOn, last)
}

// write compresses one observation, after the opening of the segment that it begins. r.packing is
// locked.
func (r *Recorder) write(w waiting) error {
	if w.opening != nil {
		item, err := w.opening.encode()
		if err != nil {
			return err
		}
		r.roll(w, item)
	}
	item, err := r.codec.write(w.entry, w.observation)
	if err == nil && tooLarge(item) {
		err = fmt.Errorf("record: %s takes %d MiB, more than can be played", kindOf(w.observation), len(item)>>20)
	}
	if err == nil {
		r.compress(item)
	}
	return err
}

// roll ends a segment and begins the next. r.packing is locked.
func (r *Recorder) roll(first waiting, opening []byte) {
	if len(r.ring) > 0 {
		r.emit(ends, first.at, lastBlock)
	}
	r.zstd.Reset(&r.out)
	r.codec.begin()
	r.ring = append(r.ring, &kept{began: first.entry.At})
	r.compress(opening)
	r.flush(begins, first.at)
}

// bytesOut takes what zstd writes.
type bytesOut []byte

func (o *bytesOut) Write(b []byte) (int, error) {
	*o = append(*o, b...)
	return len(b), nil
}

// compress compresses an item of the present part. r.packing is locked.
func (r *Recorder) compress(item []byte) {
	_, _ = r.zstd.Write(item) // it does not fail: bytesOut takes all
	r.plain += len(item)
}

// flush ends the present part, if there is anything in it. r.packing is locked.
func (r *Recorder) flush(kind [4]byte, at time.Time) {
	if r.plain == 0 {
		return
	}
	_ = r.zstd.Flush()
	r.emit(kind, at, r.out)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sizes.plain += int64(r.plain)
	r.plain, r.out = 0, r.out[:0]
}

// emit hands a part to the file and to the ring. It drops the oldest segment while the others
// last as long as the ring, or while all are larger than the ring. r.packing is locked.
func (r *Recorder) emit(kind [4]byte, at time.Time, b []byte) {
	b = appendPart(nil, kind, at, b)
	r.file.write(b, kind == begins)
	last, size := r.ring[len(r.ring)-1], int64(0)
	if r.options.Ring > 0 {
		last.bytes = append(last.bytes, b...)
	}
	for _, k := range r.ring {
		size += int64(len(k.bytes))
	}
	for len(r.ring) > 1 && (last.began-r.ring[1].began >= r.options.Ring || size > r.options.Bytes) {
		size -= int64(len(r.ring[0].bytes))
		r.ring = append([]*kept(nil), r.ring[1:]...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sizes.ring, r.sizes.from = size, r.ring[0].began
}

// State says how the recording stands.
func (r *Recorder) State() (s engine.Recording) {
	var fault error
	s.File, s.Written, fault = r.file.state()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Kept = r.sizes.ring; s.Kept > 0 {
		s.Span = r.last - r.sizes.from
	}
	if err := cmp.Or(r.err, fault); err != nil && !errors.Is(err, errClosed) {
		r.endedAt = cmp.Or(r.endedAt, r.last)
		s.Ended, s.EndedAt = err.Error(), r.clock.at(r.endedAt)
	}
	return s
}

var errClosed = errors.New("the recording is closed")

// Close ends the recording, and returns when the file is on the disk, or when ctx ends. If the
// recording had ended before, it returns why. Call it once.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	begun := r.codec != nil
	r.err = cmp.Or(r.err, errClosed)
	r.mu.Unlock()
	if begun {
		close(r.stop)
		<-r.stopped
		r.pack()
		r.packing.Lock()
		if len(r.ring) > 0 {
			r.emit(ends, r.clock.at(r.last), lastBlock)
		}
		r.packing.Unlock()
	}
	err := r.file.close(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !errors.Is(r.err, errClosed) {
		err = errors.Join(r.err, err)
	}
	return err
}
