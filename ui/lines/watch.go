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
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// A Feed delivers updates; a [diagnose.Live] is one.
type Feed interface {
	Next(ctx context.Context) (diagnose.Update, error)
}

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
func Watch(ctx context.Context, w io.Writer, feed Feed, o Options) error {
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
	next     diagnose.Headline // that is not written yet
	since    time.Time         // for how long it has been so
	begun    bool              // the health was written once
	healthy  bool
	failure  string
	posted   engine.Node // whose Ready condition was written, without its figures
	loop     string      // the state of the sync loop as of the last update; empty before the first

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
	hold := time.Duration(0)
	switch bad := v.headline.Severity; {
	case bad == diagnose.Info, v.headline.YetToPost(): // all has been well for a while
	case h.Severity < bad:
		hold = steady
	case h.Severity == bad:
		hold = steady / 3
	}
	if h == v.headline || at.Sub(v.since) < hold {
		return false
	}
	v.headline = h
	return true
}

func (v *watcher) head(b []byte, u diagnose.Update) []byte {
	if v.o.JSON {
		return jsonline.Append(b, &headlineLine{newHeader(u.Snapshot.At, "headline"), u.Headline})
	}
	b = append(append(stamp(b, u.Snapshot.At), "headline: "...), text.Clean(u.Headline.Word)...)
	if said := say.Clauses(u.Headline); said != "" {
		b = append(append(b, ": "...), text.Clean(said)...)
	}
	return append(b, '\n')
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
	if v.o.JSON {
		return appendHealth(b, s)
	}
	b = stamp(b, s.At)
	said := "PLEG is healthy"
	switch h := s.Health; {
	case !h.Healthy && h.ListedAt.IsZero():
		said = "no list yet"
		if s.Failure != nil {
			said += ": " + s.Failure.Err.Error()
		}
	case !h.Healthy:
		said = "PLEG is not healthy: " + diagnose.Rounded(h.Verdict)
		if s.Failure != nil {
			said += "; last list: " + s.Failure.Err.Error()
		}
	case s.Failure != nil:
		said = "lists fail: " + s.Failure.Err.Error()
		if h.UnhealthyAt.After(s.At) {
			said += "; PLEG is unhealthy in " + text.Age(h.UnhealthyAt.Sub(s.At))
		}
	}
	return append(append(b, text.Clean(said)...), '\n')
}

// turn appends what happened to a finding. Its end has the name in place of the
// summary, which is true no longer, where it has one.
func (v *watcher) turn(b []byte, at time.Time, t diagnose.Turn) []byte {
	if v.o.JSON {
		return appendFinding(b, at, t)
	}
	state := t.Kind.String()
	if t.Kind == diagnose.Began && t.Again {
		state += " again"
	}
	b = fmt.Appendf(stamp(b, at), "finding %s: ", state)
	switch f := t.Finding; t.Kind {
	case diagnose.Over:
		name := say.Words(string(f.ID), say.Subject(f.Subject))
		if name == string(f.ID) { // others of its kind may go on
			name += ": " + f.Summary + ";"
		}
		return fmt.Appendf(b, "%s after %s\n", text.Clean(name), text.Age(t.Lasted))
	case diagnose.Changed:
		return fmt.Appendf(b, "%v to %v %s: %s\n", t.Was, f.Severity, f.ID, text.Clean(f.Summary))
	default:
		return fmt.Appendf(b, "%v %s: %s\n", f.Severity, f.ID, text.Clean(f.Summary))
	}
}

func (v *watcher) gap(b []byte, u diagnose.Update) []byte {
	if v.o.JSON {
		return appendGap(b, u.Snapshot.At, u.Lost)
	}
	return fmt.Appendf(stamp(b, u.Snapshot.At), "gap: %d events were too many for this reader\n", u.Lost)
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
