package terminal

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// frameTime is the least time between two frames.
const frameTime = 22 * time.Millisecond

// drawnMsg passes through the program when the renderer has all that the model has shown. The model
// does not see it.
type drawnMsg struct{}

// A clock says when Bubble Tea draws. Bubble Tea's own clock (2.0.9 to 2.1.1) wakes the process 60
// times a second; this one ticks only when the model has shown something: at once, or frameTime after
// the frame before. Bubble Tea has no option for that until its pull request 1776 or 1796 is released:
// it takes the ticker that is in its field, and makes one only where there is none.
type clock struct {
	dirty chan struct{}
	ticks chan time.Time
	send  func(tea.Msg) // returns when the program has taken the message
}

// newClock has program draw by a clock of ours from its start. Where program has no such field its
// own clock stays, and ours does nothing.
func newClock(program *tea.Program) *clock {
	c := &clock{dirty: make(chan struct{}, 1), ticks: make(chan time.Time, 1), send: program.Send}
	field := reflect.ValueOf(program).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return c
	}
	ticker := time.NewTicker(time.Hour) // wakes nobody, since nobody reads its own channel
	ticker.C = c.ticks
	*(**time.Ticker)(field.Addr().UnsafePointer()) = ticker
	return c
}

// want asks for a frame. It returns at once.
func (c *clock) want() {
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// run ticks for the frames that are wanted until done is closed.
func (c *clock) run(done <-chan struct{}) {
	next := time.NewTimer(0) // passes when a frame may be drawn
	defer next.Stop()
	for received(c.dirty, done) && received(next.C, done) {
		select {
		case <-c.dirty: // this frame shows it as well
		default:
		}
		c.send(drawnMsg{})
		select {
		case c.ticks <- time.Now():
		default: // the tick before is still to come, and draws the newest
		}
		next.Reset(frameTime)
	}
}

// received waits for from, and reports false if done is closed first.
func received[T any](from <-chan T, done <-chan struct{}) bool {
	select {
	case <-from:
		return true
	case <-done:
		return false
	}
}
