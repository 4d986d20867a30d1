package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/frozen"
)

// budget is how much memory the state that a segment begins with may take, and each entry after
// it, beside the block that it is in.
const budget = 56 << 20

// A Player plays a recording from some moment on. It makes no call and reads no clock. Not safe
// for concurrent use.
type Player struct {
	recording *Recording
	next      int // the segment after the one that is played
	seq       uint64
	events    []engine.Event // since the last snapshot

	tap    func(Step)
	replay *engine.Replay // nil before the first segment
	run    string
	again  *Shown // is to be returned once more; nil for none
	fresh  bool   // the run has begun, or was joined, since the last snapshot
	zstd   *zstd.Decoder
	in     *bufio.Reader
	block  []byte // what is left of the one that is played
	reader *frozen.Reader
	lists  lists
}

// A Shown is a moment of a recording: what there was to see, with the events since the one before.
type Shown struct {
	engine.Update
	Head  Head // of the segment that has it
	Fresh bool // nothing before it is known: the first one, and where another run begins
}

// Play returns a player that begins with the last segment which begins at or before a moment; at
// the beginning for the zero time.
func (r *Recording) Play(from time.Time) *Player {
	return &Player{recording: r, next: r.before(from), fresh: true}
}

// Close frees what the player has. It is of no use after that.
func (p *Player) Close() {
	if p.zstd != nil {
		p.zstd.Close()
	}
}

// Next plays up to the next snapshot that was made and returns it. At the end it returns io.EOF,
// or what is wrong with what comes next.
func (p *Player) Next() (Shown, error) {
	if s := p.again; s != nil {
		p.again = nil
		return *s, nil
	}
	for {
		e, err := p.entry()
		if err != nil {
			return Shown{}, err
		}
		if e.In == nil {
			return p.show(e)
		}
		in, ok := p.lists.give(e)
		if !ok {
			return Shown{}, p.broken(errors.New("a list refers to rows that are not there"))
		}
		w, err := p.replay.Work(e.At, in)
		if err != nil {
			return Shown{}, err
		}
		p.events = append(p.events, w.Events...)
		if p.tap != nil {
			p.tap(Step{At: e.At, In: in, Work: w, Machine: p.replay, Segment: p.next - 1})
		}
	}
}

func (p *Player) show(e entry) (Shown, error) {
	s, err := p.replay.Snapshot(e.At, e.Costs)
	if err != nil {
		return Shown{}, err
	}
	p.seq++
	s.Seq = p.seq // for the whole recording: what one reader had it is not given again
	shown := Shown{Update: engine.Update{Snapshot: s, Events: p.events}, Head: p.recording.segments[p.next-1].Head, Fresh: p.fresh}
	p.events, p.fresh = nil, false
	return shown, nil
}

// entry returns the next entry of the recording.
func (p *Player) entry() (e entry, err error) {
	for len(p.block) == 0 {
		if p.in == nil {
			if err := p.begin(); err != nil {
				return e, err
			}
			continue
		}
		switch err := p.read(); {
		case errors.Is(err, io.EOF):
			p.in = nil
		case err != nil:
			return e, p.broken(err)
		}
	}
	p.reader.Budget = budget
	p.block, err = frozen.Read(p.reader, p.block, &e)
	if err != nil {
		return e, p.broken(err)
	}
	return e, nil
}

// begin begins the next segment: takes the machine as it stood then.
func (p *Player) begin() error {
	if p.next == len(p.recording.segments) {
		if p.recording.damage != nil {
			return p.recording.damage
		}
		return io.EOF
	}
	s := p.recording.segments[p.next]
	p.next++
	if err := p.open(s.open()); err != nil {
		return p.broken(err)
	}
	var k key
	block, err := frozen.Read(p.reader, p.block, &k)
	if err != nil {
		return p.broken(err)
	}
	if p.replay, p.block, err = engine.Thaw(k.Start, p.reader, block); err != nil {
		return p.broken(err)
	}
	if p.run != s.Run {
		p.run, p.fresh = s.Run, true
	}
	return nil
}

// open reads the first block of a segment.
func (p *Player) open(in io.Reader) (err error) {
	if p.zstd == nil {
		p.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
	}
	if err == nil {
		err = p.zstd.Reset(in)
	}
	if err != nil {
		return err
	}
	p.in, p.lists = bufio.NewReader(p.zstd), lists{}
	if err := p.read(); err != nil {
		return fmt.Errorf("its first block: %w", err)
	}
	p.reader = frozen.NewReader(budget)
	return nil
}

// read reads the next block. It returns io.EOF at the end of the segment, and where that was cut off.
func (p *Player) read() error {
	var head [8]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return ended(err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > mostBlock {
		return fmt.Errorf("a block of %d bytes", n)
	}
	block, err := readAll(p.in, int(n))
	if err != nil {
		return ended(err)
	}
	if crc32.Checksum(block, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return errors.New("a block does not have its checksum")
	}
	p.block = block
	return nil
}

// readAll reads so many bytes, and takes memory only for those that are there.
func readAll(in io.Reader, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		at := len(b)
		b = append(b, make([]byte, min(n-at, max(at, 1<<16)))...)
		if _, err := io.ReadFull(in, b[at:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// ended makes the end of a segment of an error that says so.
func ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// broken says where the recording cannot be played, and why.
func (p *Player) broken(err error) error {
	h := p.recording.segments[p.next-1].Head
	return fmt.Errorf("replay: the segment of %s is damaged: %w", h.At.Format(time.RFC3339), err)
}
