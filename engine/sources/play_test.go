package sources

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// A play is an observer on a node whose relist and streams the test plays.
type play struct {
	t      *testing.T
	o      *Observer
	now    time.Time
	f      Facts
	states map[string]pleg.State // of ids, as the relist has settled them
	breaks error                 // what each stream that is opened ends with at once; nil for none
	opened map[Source]int        // how often
	found  []Unseen              // and not looked at yet
}

func newPlay(t *testing.T, c Config) *play {
	c.Release = cmp.Or(c.Release, pleg.Newest)
	p := &play{t: t, o: New(c, noon), now: noon, states: make(map[string]pleg.State), opened: make(map[Source]int)}
	p.f = Facts{Records: p, Period: time.Second}
	p.relist()
	p.pass(0)
	return p
}

// watching is a play with one source that has been connected for a second.
func watching(t *testing.T, source Source) *play {
	p := newPlay(t, Config{Streams: []Stream{{Source: source, On: true, Forced: true}}})
	p.states["web/app"], p.states["web/log"] = pleg.Running, pleg.Running
	p.pass(2500 * time.Millisecond)
	p.relist()
	p.relist()
	return p
}

func (p *play) Object(id string) (ref pleg.ObjectRef, settled pleg.State, known bool) {
	settled, known = p.states[id]
	return pleg.ObjectRef{ID: id, Container: "of-" + id}, settled, known
}
func (p *play) Pod(pleg.UID) *pleg.Pod                  { return nil }
func (p *play) Status(pleg.UID) (*pleg.PodStatus, bool) { return nil, false }

// pass lets time pass, from one moment to the next at which something is due. Lanes open and
// close streams as they are asked to.
func (p *play) pass(d time.Duration) {
	p.t.Helper()
	end := p.now.Add(d)
	for range 10_000 {
		p.advance()
		if p.lanes() {
			continue
		}
		due := p.o.Due(p.now, p.f)
		if due.IsZero() || due.After(end) {
			p.now = end
			p.advance()
			return
		}
		p.now = due
	}
	p.t.Fatal("time does not pass")
}

func (p *play) advance() { p.found = append(p.found, p.o.Advance(p.now, p.f)...) }

// lanes does what the stream lanes do, and reports whether they did anything.
func (p *play) lanes() (changed bool) {
	for i := range p.o.Watches {
		w := &p.o.Watches[i]
		source := w.Config.Source
		switch open := p.o.Open(source, p.now); {
		case open && !w.open():
			p.opened[source]++
			p.o.Opened(p.now, source)
			if p.breaks != nil {
				p.snap(source, p.breaks)
			}
		case !open && w.open():
			p.o.Ended(p.now, source, call.ErrCanceled, "canceled")
		default:
			continue
		}
		changed = true
	}
	return changed
}

// snap ends a stream.
func (p *play) snap(source Source, err error) {
	p.o.Ended(p.now, source, call.KindOf(err), err.Error())
	p.advance()
}

// relist begins a relist whose lists succeed at once.
func (p *play) relist() {
	p.f.ListedBefore, p.f.Listed, p.f.ListsBack = p.f.Listed, p.now, p.now
}

// sends has a source send events.
func (p *play) sends(source Source, events ...pleg.Upstream) {
	for _, u := range events {
		p.o.Heard(p.now, source, []SourceEvent{{Upstream: u, Received: p.now}}, 0, p.f)
	}
}

// sees has the relist release an event of an id.
func (p *play) sees(kind pleg.Kind, id string) *Sightings {
	to := [...]pleg.State{pleg.Running, pleg.Exited, pleg.Absent}[kind]
	e := pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{ID: id}, From: p.states[id], To: to}
	p.states[id] = to
	return p.release(e, false, true)
}

func (p *play) release(e pleg.Event, atStart, ran bool) *Sightings {
	seen, unseen := p.o.Released(p.now, e, atStart, ran, p.f)
	p.found = append(p.found, unseen...)
	return seen
}

// take returns what only sources have seen since the last call.
func (p *play) take() []Unseen {
	all := p.found
	p.found = nil
	return all
}

// unseen returns the same as lines.
func (p *play) unseen() (lines []string) {
	for _, u := range p.take() {
		by, _ := u.Seen.First()
		if u.Delivery != pleg.Unseen || by == FromRelist || !u.Seen.At[FromRelist].IsZero() {
			p.t.Errorf("%+v", u)
		}
		lines = append(lines, fmt.Sprintf("%v %v by %v", u.Kind, u.ID, by))
	}
	return lines
}

func (p *play) wantUnseen(what string, want ...string) {
	p.t.Helper()
	if diff := gocmp.Diff(want, p.unseen()); diff != "" {
		p.t.Errorf("%s: unseen (-want +got):\n%s", what, diff)
	}
}

// wantDrift compares the drift of the first source, but for leads and the sum.
func (p *play) wantDrift(want Drift) Drift {
	p.t.Helper()
	all := p.o.Drifts()
	got := all[0]
	want.Source, want.LeadP50, want.LeadP99 = got.Source, got.LeadP50, got.LeadP99
	want.Transitions = want.Both + want.MissedByRelist + want.MissedBySource
	if got != want {
		p.t.Errorf("drift is %+v\nwant     %+v", got, want)
	}
	return got
}

func (p *play) state(source Source) SourceState { return p.o.watch(source).State }

// changes returns the changes that people see, as "source state: reason".
func (p *play) changes() (lines []string) {
	for i, c := range p.o.Changes {
		if c.Seq != p.o.Changes[0].Seq+uint64(i) || !c.State.Shown() {
			p.t.Errorf("%+v", c)
		}
		line := fmt.Sprintf("%v %v", c.Source, c.State)
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		lines = append(lines, line)
	}
	return lines
}

func (p *play) wantChanges(want ...string) {
	p.t.Helper()
	if diff := gocmp.Diff(want, p.changes()); diff != "" {
		p.t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func started(id string) pleg.Upstream { return pleg.Upstream{Signal: pleg.SignalStarted, ID: id} }
func stopped(id string) pleg.Upstream { return pleg.Upstream{Signal: pleg.SignalStopped, ID: id} }
