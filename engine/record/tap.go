package record

import (
	"time"

	"github.com/plegtop/plegtop/engine"
)

// A Step is one input of the recorded machine, with what came of it.
type Step struct {
	At      time.Time
	In      engine.Input
	Work    engine.Work    // what the machine asked for, as the calls that it made
	Machine *engine.Replay // as it stands after the step: to be asked, and not stepped
	Segment int            // of [Recording.Heads]
	Part    int            // grows where another run begins
}

// Tap has Next hand each step that it plays to see.
func (p *Player) Tap(see func(Step)) { p.tap = see }

// Machine returns the machine as it stood at the beginning of segment i of [Recording.Heads].
// It fails where the segment is damaged.
func (r *Recording) Machine(i int) (*engine.Replay, error) {
	p := r.Segment(i)
	defer p.Close()
	if err := p.begin(); err != nil {
		return nil, p.damaged(err)
	}
	return p.replay, nil
}
