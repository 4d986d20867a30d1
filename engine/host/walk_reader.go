package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// patience is how long one small file of /proc may take. On a busy node the
	// slow ones take some milliseconds: whoever takes longer sleeps in the kernel.
	patience = 250 * time.Millisecond

	// mostStuck bounds the reads of risky files that are left behind. With so
	// many out, no further one is begun.
	mostStuck = 2
)

var (
	errHangs   = errors.New("the read does not come back")
	errRefused = errors.New("not read, since other reads do not come back")
)

// A procFile is what one read is about. For most files of a process the kernel
// takes a lock that the process itself, or whoever moves it between control
// groups, may hold for ever: these are risky. The list of processes, their
// threads and their stat are not.
type procFile struct {
	pid   int // 0 for what belongs to none
	file  string
	risky bool
}

// A reader reads one file after the other in a goroutine of its own. A read that
// does not come back is left behind with its goroutine, and nothing of the kind
// is read of that process until it has: at most mostStuck of risky files, and one
// more that should not have been. It must not be used from two goroutines at once.
type reader struct {
	patience time.Duration
	hand     *hand // nil if there is none at work

	mu    sync.Mutex           // guards what follows, and the hands' busy and left
	stuck map[subject]procFile // the reads that were left behind
}

// A subject is what a stuck read keeps from being read again.
type subject struct {
	pid   int
	risky bool
}

// A hand is the goroutine that reads.
type hand struct {
	work       chan func()
	done       chan struct{} // holds one, so that nobody need wait for it
	busy, left bool
	about      subject
}

func newReader() *reader { return &reader{patience: patience, stuck: map[subject]procFile{}} }

// fetch returns what read returns, or an error once that takes too long.
func fetch[T any](ctx context.Context, r *reader, f procFile, read func() (T, error)) (T, error) {
	var answer struct {
		value T
		err   error
	}
	err := r.do(ctx, f, func() {
		defer func() { // package procfs counts on files that are whole
			if cause := recover(); cause != nil {
				answer.err = fmt.Errorf("malformed: %v", cause)
			}
		}()
		answer.value, answer.err = read()
	})
	if err != nil { // the answer may still be written to
		var none T
		return none, err
	}
	return answer.value, answer.err
}

func (r *reader) do(ctx context.Context, f procFile, read func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h, err := r.begin(f)
	if err != nil {
		return err
	}
	h.work <- read
	timer := time.NewTimer(r.patience)
	defer timer.Stop()
	select {
	case <-h.done:
		return nil
	case <-timer.C:
		return r.leave(h, f, errHangs)
	case <-ctx.Done():
		return r.leave(h, f, ctx.Err())
	}
}

// begin returns a hand that is ready for the file, unless that must not be
// read.
func (r *reader) begin(f procFile) (*hand, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := subject{f.pid, f.risky}
	if _, again := r.stuck[about]; again {
		return nil, errHangs
	}
	if len(r.stuck) > mostStuck || (f.risky && len(r.stuck) == mostStuck) {
		return nil, errRefused
	}
	if r.hand == nil {
		r.hand = &hand{work: make(chan func()), done: make(chan struct{}, 1)}
		go r.run(r.hand)
	}
	r.hand.busy, r.hand.about = true, about
	return r.hand, nil
}

// run does the hand's work until there is no more, or until it comes back from
// a read that nobody waits for any longer.
func (r *reader) run(h *hand) {
	for read := range h.work {
		read()
		if r.finish(h) {
			return
		}
	}
}

func (r *reader) finish(h *hand) (left bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.left {
		delete(r.stuck, h.about)
		return true
	}
	h.busy = false
	h.done <- struct{}{}
	return false
}

// leave gives up waiting for the hand, unless it has just finished.
func (r *reader) leave(h *hand, f procFile, cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !h.busy {
		<-h.done
		return nil
	}
	h.left = true
	r.hand = nil
	r.stuck[h.about] = f
	return cause
}

// rest lets the hand go until the next look.
func (r *reader) rest() {
	if r.hand != nil {
		close(r.hand.work)
		r.hand = nil
	}
}

// hanging returns the reads that were left behind and have not come back, by
// process.
func (r *reader) hanging() []procFile {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []procFile
	for _, f := range r.stuck {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b procFile) int { return a.pid - b.pid })
	return all
}
