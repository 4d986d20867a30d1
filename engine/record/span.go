package record

import "time"

// Segment returns a player that begins with segment i of [Recording.Heads].
func (r *Recording) Segment(i int) *Player { return &Player{recording: r, next: i, fresh: true} }

// End returns when the last thing in the recording happened, as far as that can be read; zero
// where nothing is recorded.
func (r *Recording) End() (end time.Time) {
	if len(r.segments) == 0 {
		return end
	}
	p := r.Segment(len(r.segments) - 1)
	defer p.Close()
	end = r.segments[len(r.segments)-1].At
	for {
		e, err := p.entry()
		if err != nil {
			return end
		}
		end = e.At
	}
}
