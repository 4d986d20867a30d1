package record

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// A Hole is a part of a recording that is damaged. Nothing of it is shown.
type Hole struct {
	From time.Time // of the last thing before it; zero where it is not known when it begins
	To   time.Time // of what is shown first after it
	Err  error     // why it cannot be played

	segment time.Time // with which it begins
}

// damage says why nothing from the hole on can be played.
func (h *Hole) damage() error {
	return fmt.Errorf("replay: the segment of %s is damaged: %w", h.segment.Format(time.RFC3339), h.Err)
}

// LeftOut says which parts of a recording were left out of what was played, since they are
// damaged; those after them were played.
type LeftOut struct{ Holes []Hole }

func (l *LeftOut) Error() string {
	first := l.Holes[0]
	when := "up to " + first.To.Local().Format(time.DateTime)
	if !first.From.IsZero() {
		when = "from " + first.From.Local().Format(time.DateTime) + " to " + first.To.Local().Format(time.DateTime)
	}
	if more := len(l.Holes) - 1; more > 0 {
		return fmt.Sprintf("the recording is damaged %s and in %d more places, which are left out: %v", when, more, first.Err)
	}
	return fmt.Sprintf("the recording is damaged %s, which is left out: %v", when, first.Err)
}

// Unwrap returns why the first one cannot be played.
func (l *LeftOut) Unwrap() error { return l.Holes[0].Err }

// Covers reports whether a moment is in a part that was left out.
func (l *LeftOut) Covers(at time.Time) bool {
	for _, h := range l.Holes {
		if at.After(h.From) && at.Before(h.To) {
			return true
		}
	}
	return false
}

// LeftOut returns a [*LeftOut] of what was left out so far; nil if nothing was.
func (p *Player) LeftOut() error {
	if len(p.holes) == 0 {
		return nil
	}
	return &LeftOut{p.holes}
}

// errLost says why a segment is missing whose head cannot be read, or which is not ended.
var errLost = errors.New("what is there is no part of a recording")

// tear begins a hole, where none is open: what comes next goes on from nothing that was before.
func (p *Player) tear(from time.Time, err error) {
	if p.torn == nil {
		p.torn = &Hole{From: from.Round(0), Err: err, segment: p.recording.segments[p.next-1].At}
	}
	p.begun, p.block, p.events, p.run, p.fresh = false, nil, nil, "", true
}

// mend ends the hole that is open, if one is, at what is shown after it.
func (p *Player) mend(at time.Time) {
	if p.torn != nil {
		p.torn.To = at.Round(0)
		p.holes, p.torn = append(p.holes, *p.torn), nil
	}
}

// broken leaves out the rest of the segment that is played, which is damaged: the next one begins
// with a state of its own.
func (p *Player) broken(err error) {
	from := p.at
	if from.IsZero() {
		from = p.recording.segments[p.next-1].At
	}
	p.tear(from, err)
}

// end returns io.EOF, or why the recording can be played no further where nothing comes after a
// hole, with what was left out before.
func (p *Player) end() error {
	err := p.recording.damage
	if p.torn != nil {
		err = p.torn.damage()
	}
	switch out := p.LeftOut(); {
	case err == nil:
		return io.EOF
	case out != nil:
		return fmt.Errorf("%w; before that %s", err, out.Error())
	}
	return err
}
