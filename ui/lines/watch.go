package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// Options say what [Watch] writes.
type Options struct {
	JSON       bool     // NDJSON in place of text
	Namespaces []string // of the events and findings; empty for all
}

// Watch writes the headline, events, changes of health and of event sources, findings,
// drift and gaps to w until the feed ends, or the reader of a pipe has gone, neither of
// which is an error. It returns the first other error of w. When ctx ends, which is to end
// the feed as well, it writes what there is to say last; a write that is stuck is left
// behind, all within a second. Text is cleaned and holds no control byte but the line
// feed; JSON keeps the original, escaped.
func Watch(ctx context.Context, w io.Writer, feed diagnose.Updates, o Options) error {
	reading, readNoMore := outlasting(ctx, lastRead)
	defer readNoMore()
	writing, writeNoMore := outlasting(ctx, lastWrite)
	defer writeNoMore()
	v := watcher{o: o}
	for ended := false; !ended; {
		var b []byte
		u, err := feed.Next(reading)
		switch ended = errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrStopped); {
		case ended:
			b = v.end()
		case err != nil:
			return fmt.Errorf("watch: %w", err)
		default:
			b = v.update(u.Within(o.Namespaces))
		}
		if len(b) == 0 {
			continue
		}
		err = writeUntil(writing, w, b)
		if errors.Is(err, errNoReader) || errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("watch: write: %w", err)
		}
	}
	return nil
}

// A watcher turns updates into lines. It remembers what was written last, so that
// only changes are.
type watcher struct {
	o        Options
	headline diagnose.Headline // that was written last, without its figures
	gone     time.Time         // since when that is not so; zero while it is
	next     diagnose.Headline // that is not written yet
	since    time.Time         // for how long it has been so
	begun    bool              // the health was written once
	healthy  bool
	failure  string
	posted   kubelet.Node // whose Ready condition was written, without its figures
	loop     string       // the state of the sync loop as of the last update; empty before the first

	last      *engine.Snapshot // nil before the first
	change    uint64           // of an event source, the last that was written
	nextDrift time.Time
}

func (v *watcher) update(u diagnose.Update) []byte {
	var b []byte
	v.last = u.Snapshot
	if v.turned(u) {
		b = v.head(b, u)
	}
	if u.Lost > 0 {
		b = v.gap(b, u)
	}
	b = v.sources(b, u.Snapshot)
	for _, e := range u.Events {
		if len(v.o.Namespaces) == 0 || slices.Contains(v.o.Namespaces, e.Pod.Namespace) {
			b = v.event(b, e)
		}
	}
	if v.changed(u.Snapshot) {
		b = v.health(b, u.Snapshot)
	}
	b = v.node(b, u.Snapshot)
	for _, t := range u.Turns {
		b = v.turn(b, u.Snapshot.At, t)
	}
	if v.driftDue(u.Snapshot.At) {
		b = v.drift(b, u.Snapshot)
	}
	return b
}

// steady is how long a headline must have stayed the same before it takes the place
// of a worse one: what comes and goes from one relist to the next is no news. People are
// told within 5 s of the end of a fault.
const steady = 3 * time.Second

// turned reports whether the headline is to be written, and remembers it.
func (v *watcher) turned(u diagnose.Update) bool {
	h, at := withoutFigures(u.Headline), u.Snapshot.At
	if h != v.next {
		v.next, v.since = h, at
	}
	if h == v.headline {
		v.gone = time.Time{}
		return false
	}
	if v.gone.IsZero() {
		v.gone = at
	}
	hold := time.Duration(0)
	switch bad := v.headline.Severity; {
	case bad == diagnose.Info, v.headline.YetToPost(): // all has been well for a while
	case h.Severity < bad:
		hold = steady
	case h.Severity == bad:
		hold = steady / 3
	}
	if at.Sub(v.since) < hold && at.Sub(v.gone) < steady { // what is so no more does not wait for the next to stay the same
		return false
	}
	v.headline, v.gone = h, time.Time{}
	return true
}

func (v *watcher) head(b []byte, u diagnose.Update) []byte {
	said := "headline: " + u.Headline.Word
	if clauses := say.Clauses(u.Headline); clauses != "" {
		said += ": " + clauses
	}
	return v.line(b, u.Snapshot.At, &headlineLine{newHeader(u.Snapshot.At, "headline"), u.Headline}, said)
}

// changed reports whether s has another verdict, or another failure of the
// list, than what was written last, and remembers it. Before the first list
// returned there is nothing to write.
func (v *watcher) changed(s *engine.Snapshot) bool {
	if s.Health.ListedAt.IsZero() && s.Failure == nil {
		return false
	}
	failure := ""
	if s.Failure != nil {
		failure = s.Failure.Err.Error()
	}
	same := v.begun && v.healthy == s.Health.Healthy && v.failure == failure
	v.begun, v.healthy, v.failure = true, s.Health.Healthy, failure
	return !same
}

func (v *watcher) event(b []byte, e engine.Event) []byte {
	if v.o.JSON {
		return appendEvent(b, e)
	}
	b = stamp(b, e.SeenAt)
	b = fmt.Appendf(b, "%-16s %s %s", e.Kind, cmp.Or(text.Clean(e.Pod.String()), "-"), subject(e))
	if e.Exited {
		b = fmt.Appendf(b, " exit %d", e.ExitCode)
	}
	if e.Reason != "" {
		b = append(append(b, ' '), text.Clean(e.Reason)...)
	}
	if e.HasLag {
		b = append(append(b, " lag "...), text.Took(e.Lag)...)
	}
	b = seenBy(b, e)
	if e.Delivery != 0 {
		b = fmt.Appendf(b, " (%v)", e.Delivery)
	}
	return append(b, '\n')
}

// subject names the container or sandbox of e, or nothing for the pod itself.
func subject(e engine.Event) string {
	switch {
	case e.Sandbox:
		return "sandbox " + text.Clean(pleg.ShortID(e.ID))
	case e.ID == "":
		return "-"
	case e.Container == "":
		return text.Clean(pleg.ShortID(e.ID))
	}
	return text.Clean(e.Container)
}

func (v *watcher) health(b []byte, s *engine.Snapshot) []byte {
	l := &healthLine{
		header: newHeader(s.At, "health"), Healthy: s.Health.Healthy, Verdict: s.Health.Verdict,
		ListAge: s.Health.ListAge(s.At), Threshold: s.Threshold,
	}
	if s.Failure != nil {
		l.Error = s.Failure.Err.Error()
	}
	said := "PLEG is healthy"
	switch h := s.Health; {
	case !h.Healthy && h.ListedAt.IsZero():
		said = "no list yet"
		if s.Failure != nil {
			said += ": " + l.Error
		}
	case !h.Healthy:
		said = "PLEG is not healthy: " + diagnose.Rounded(h.Verdict)
		if s.Failure != nil {
			said += "; last list: " + l.Error
		}
	case s.Failure != nil:
		said = "lists fail: " + l.Error
		if h.UnhealthyAt.After(s.At) {
			said += "; PLEG is unhealthy in " + text.Age(h.UnhealthyAt.Sub(s.At))
		}
	}
	return v.line(b, s.At, l, said)
}

// turn appends what happened to a finding. Its end has the name in place of the
// summary, which is true no longer, where it has one.
func (v *watcher) turn(b []byte, at time.Time, t diagnose.Turn) []byte {
	l := &findingLine{header: newHeader(at, "finding"), State: t.Kind, Lasted: t.Lasted, Again: t.Again, Finding: t.Finding}
	f := &t.Finding
	said := fmt.Sprintf("%v %s: %s", f.Severity, f.ID, f.Summary)
	switch t.Kind {
	case diagnose.Over:
		name := say.Words(string(f.ID), say.Subject(f.Subject))
		if name == string(f.ID) { // others of its kind may go on
			name += ": " + f.Summary + ";"
		}
		said = fmt.Sprintf("%s after %s", name, text.Age(t.Lasted))
	case diagnose.Changed:
		l.Was = &t.Was
		said = fmt.Sprintf("%v to %s", t.Was, said)
	}
	state := t.Kind.String() + theme.When(t.Kind == diagnose.Began && t.Again, " again", "")
	return v.line(b, at, l, "finding "+state+": "+said)
}

func (v *watcher) gap(b []byte, u diagnose.Update) []byte {
	return v.line(b, u.Snapshot.At, &gapLine{newHeader(u.Snapshot.At, "gap"), u.Lost}, fmt.Sprintf("gap: %d events were too many for this reader", u.Lost))
}

// line appends a line about a moment: the object as NDJSON, or the text.
func (v *watcher) line(b []byte, at time.Time, object any, said string) []byte {
	if v.o.JSON {
		return jsonline.Append(b, object)
	}
	return append(append(stamp(b, at), text.Clean(said)...), '\n')
}

// stamp appends the local time of day to milliseconds and a space.
func stamp(b []byte, at time.Time) []byte {
	return append(at.Local().AppendFormat(b, "15:04:05.000"), ' ')
}

// figures are words that begin with a digit.
var figures = regexp.MustCompile(`(^|[\s(<>~])\d[^\s,;:)]*`)

// withoutFigures returns what must differ for a headline to be another one.
func withoutFigures(h diagnose.Headline) diagnose.Headline {
	h.Text = figures.ReplaceAllString(h.Text, "${1}0")
	h.Clock.In, h.Clock.To = 0, 0
	return h
}
