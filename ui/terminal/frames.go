package terminal

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// frameTime is the least time between two frames.
const frameTime = 22 * time.Millisecond

// settledMsg passes through the program when all that the model has shown has reached the
// renderer. The model does not see it.
type settledMsg struct{}

// frames are the clock by which Bubble Tea draws. Its own (v2.0.9) wakes the process for
// each frame that could be drawn; this one ticks when the model has shown something: at
// once, or frameTime after the frame before. It does nothing at rest.
type frames struct {
	dirty  chan struct{}
	ticks  chan time.Time
	settle func() // returns when what was shown before the call has reached the renderer
}

func newFrames(settle func()) *frames {
	return &frames{dirty: make(chan struct{}, 1), ticks: make(chan time.Time, 1), settle: settle}
}

// drive has program draw by f from its start. Bubble Tea has no option for that: it takes
// the clock that is in its field, and makes one only where there is none.
func (f *frames) drive(program *tea.Program) {
	clock := time.NewTicker(time.Hour) // wakes nobody, since nobody reads its own channel
	clock.C = f.ticks
	field := reflect.ValueOf(program).Elem().FieldByName("ticker")
	reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(clock))
}

// want asks for a frame. It returns at once.
func (f *frames) want() {
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

// run ticks for the frames that are wanted until done is closed.
func (f *frames) run(done <-chan struct{}) {
	next := time.NewTimer(0) // passes when a frame may be drawn
	defer next.Stop()
	for {
		select {
		case <-f.dirty:
		case <-done:
			return
		}
		select {
		case <-next.C:
		case <-done:
			return
		}
		select {
		case <-f.dirty: // this frame shows it as well
		default:
		}
		f.settle()
		select {
		case f.ticks <- time.Now():
		default: // the tick before is still to come, and draws the newest
		}
		next.Reset(frameTime)
	}
}
