package events

import (
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// sightings writes who saw the event when, and what a kubelet makes of that; nothing where
// there was no event source.
func (s *sheet) sightings(d *widget.Doc) {
	seen := s.row.Seen
	if seen == nil {
		return
	}
	th := s.View.Theme
	d.Section("SEEN BY")
	for source, at := range seen.At {
		of := ledger.Source(source)
		switch {
		case !at.IsZero():
			s.sighting(d, of, at)
		case of == ledger.FromRelist:
			d.Field(of.String(), th.Warn, "not seen")
		}
	}
	d.Field("mode", th.Text, s.row.Mode.String()+": "+s.acts())
}

// sighting writes when somebody saw the event, and how far ahead of the relist that was.
func (s *sheet) sighting(d *widget.Doc, of ledger.Source, at time.Time) {
	th := s.View.Theme
	says := at.Local().Format(fullTime)
	if lead, ok := s.row.Seen.Lead(of); ok && of != ledger.FromRelist {
		how := " before the relist"
		if lead < 0 {
			lead, how = -lead, " after the relist"
		}
		says += ", " + text.Took(lead) + how
	}
	first, _ := s.row.Seen.First()
	d.Field(of.String(), theme.When(of == first, th.Strong, th.Text), says)
}

// acts says what has a kubelet of the mode in which it was decided act on such an event.
func (s *sheet) acts() string {
	m, release := s.row.Mode, s.View.Release
	switch {
	case m == pleg.Generic:
		return "the kubelet acts when a relist has seen it; event sources only show when it could have known"
	case !m.Writes(release):
		return "the kubelet asks for a relist of the pod where the runtime's stream tells an end by a failure or by the OOM killer; what it acts on is what a relist sees"
	}
	return "the kubelet acts when the runtime's stream tells it, or when the relist of every 5 minutes sees it, if that is sooner"
}

// otherwise says which kubelet could have acted on what no relist has seen.
func (s *sheet) otherwise() string {
	switch {
	case s.row.Seen == nil || s.row.Seen.At[ledger.FromCRI].IsZero():
		return "No kubelet could: none has a source of events but the runtime's stream, and that has not told it."
	case s.row.Mode == pleg.Generic:
		return "With the gate EventedPLEG a kubelet up to 1.36 would have had it from the runtime's stream at once; one of 1.37 would have relisted the pod then if it was an end by a failure."
	}
	return "The runtime's stream has told it; nothing of it was left for the relist that should have followed."
}
