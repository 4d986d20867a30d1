package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// worldStreams are all event sources there are. Nobody runs them: a world answers itself.
func worldStreams() []Stream {
	run := func(context.Context, func(pleg.Upstream)) error { return io.EOF }
	return []Stream{{Source: ledger.FromCRI, On: true, Run: run}, {Source: ledger.FromCgroup, On: true, Run: run}}
}

// A talker is a stream that is open.
type talker struct {
	source ledger.Source
	ending bool
}

// stream opens and ends streams.
func (w *world) stream(work Work) {
	for _, source := range work.Close {
		for i := range w.talkers {
			w.talkers[i].ending = w.talkers[i].ending || w.talkers[i].source == source
		}
	}
	for _, source := range work.Open {
		w.talkers = append(w.talkers, talker{source: source})
	}
	if w.talkAt.IsZero() && len(w.talkers) > 0 {
		w.talkAt = w.now
	}
}

// talk is what a stream says, true or not, or that it is over.
func (w *world) talk() Input {
	i := w.IntN(len(w.talkers))
	t := w.talkers[i]
	w.talkAt = w.now.Add(time.Duration(w.ExpFloat64() * float64(4*time.Second)))
	if !t.ending && (w.calm || w.IntN(10) > 0) {
		return w.says(t.source)
	}
	if w.talkers = slices.Delete(w.talkers, i, i+1); len(w.talkers) == 0 {
		w.talkAt = time.Time{}
	}
	kinds := []call.Kind{call.ErrOther, call.ErrClosed, call.ErrUnimplemented, call.ErrUnavailable}
	return StreamEnded{Source: t.source, Kind: kinds[w.IntN(len(kinds))], Text: "snapped"}
}

func (w *world) says(by ledger.Source) Streamed {
	in := Streamed{Source: by, Lost: uint64(max(0, w.IntN(20)-15))}
	n := 1 + w.IntN(3)
	if w.IntN(50) == 0 { // a storm
		n = batch
	}
	for range n {
		if len(w.said) > 0 && w.IntN(5) == 0 { // once more
			again := w.said[w.IntN(len(w.said))]
			again.Received = w.now
			in.Events = append(in.Events, again)
			continue
		}
		in.Events = append(in.Events, w.upstream())
	}
	w.said = in.Events
	return in
}

// upstream is an event of a container or sandbox that is there, or of something else.
func (w *world) upstream() SourceEvent {
	e := SourceEvent{Received: w.now, Upstream: pleg.Upstream{Signal: pleg.Signal(w.IntN(5)), ID: fmt.Sprint("foreign-", w.IntN(100_000))}}
	switch n := w.IntN(3); {
	case n == 0 && len(w.containers) > 0:
		c := w.containers[w.IntN(len(w.containers))]
		e.ID, e.Pod = c.ID, c.Pod
	case n == 1 && len(w.sandboxes) > 0:
		s := w.sandboxes[w.IntN(len(w.sandboxes))]
		e.ID, e.Pod = s.ID, s.Pod
		e.Status = &pleg.PodStatus{PodRef: s.Pod, Sandboxes: []pleg.SandboxStatus{{ID: s.ID, Pod: s.Pod, State: pleg.Running}}}
	}
	switch w.IntN(60) {
	case 0:
		e.At = w.now.Add(time.Duration(w.IntN(7200)-3600) * time.Second)
	case 1:
	default:
		e.At = w.now.Add(-time.Duration(w.IntN(int(time.Second))))
	}
	return e
}

// A streamReferee holds a machine to what it promises about event sources.
type streamReferee struct {
	open   [ledger.Sources]bool
	closed [ledger.Sources]bool
	came   [ledger.Sources]uint64
	unseen map[string]bool
	told   uint64 // the last change of a source's state
	max    int
}

func (r *streamReferee) watch(t *testing.T, w *world, s *Snapshot, in Input, work Work) {
	switch in := in.(type) {
	case Streamed:
		r.came[in.Source] += uint64(len(in.Events)) + in.Lost
	case StreamEnded:
		r.open[in.Source], r.closed[in.Source] = false, false
	}
	for _, source := range work.Close {
		if !r.open[source] || r.closed[source] {
			t.Errorf("%v is closed, and is open: %v, closed before: %v", source, r.open[source], r.closed[source])
		}
		r.closed[source] = true
	}
	for _, source := range work.Open {
		if r.open[source] || w.m.sources.held {
			t.Errorf("%v is opened, and is open: %v, held: %v", source, r.open[source], w.m.sources.held)
		}
		r.open[source] = true
	}
	r.events(t, work.Events)
	for _, state := range s.Sources {
		if state.Received+state.Lost != r.came[state.Source] || state.Backlog+state.Unknown > 2*state.Received {
			t.Errorf("%+v, and %d came", state, r.came[state.Source])
		}
		if up := state.State == StreamOpening || state.State == StreamConnected || state.State == StreamEnding; up != r.open[state.Source] {
			t.Errorf("%+v, and is open: %v", state, r.open[state.Source])
		}
	}
	for _, c := range s.SourceChanges {
		if c.Seq > r.told+1 || !c.State.Told() {
			t.Errorf("%+v comes after %d", c, r.told)
		}
		r.told = max(r.told, c.Seq)
	}
	for _, d := range s.Drift {
		if d.Transitions != d.Both+d.MissedByRelist+d.MissedBySource {
			t.Errorf("%+v", d)
		}
	}
	r.bounds(t, w.m.transitions.Size())
}

// events checks that what sources alone have seen is told once.
func (r *streamReferee) events(t *testing.T, events []Event) {
	if r.unseen == nil {
		r.unseen = make(map[string]bool)
	}
	for _, e := range events {
		if e.Delivery != pleg.Unseen {
			continue
		}
		by, first := e.Seen.First()
		key := fmt.Sprint(e.ID, e.Kind, first.UnixNano())
		if r.unseen[key] || by == ledger.FromRelist || !e.SeenAt.Equal(first) || !e.Seen.At[ledger.FromRelist].IsZero() {
			t.Errorf("told before: %v: %+v", r.unseen[key], e)
		}
		r.unseen[key] = true
	}
}

func (r *streamReferee) bounds(t *testing.T, held ledger.Size) {
	if held.Strangers > ledger.MostStrangers || held.Known > ledger.MostKnown || held.IDs > ledger.MostStrangers+ledger.MostKnown ||
		held.Untold > ledger.MostUntold || held.Unjudged > 2*ledger.MostKnown+1 || held.Unseen > ledger.MostUnseen {
		t.Errorf("%+v", held)
	}
	r.max = max(r.max, held.IDs)
}

// In generic mode a source only looks on: with all of them on, whatever they say, a
// machine makes the same calls and has the same events as without.
func TestSourcesChangeNoDecision(t *testing.T) {
	unseen, events := 0, 0
	for seed := range uint64(3) {
		w := newWorld(t, seed, Config{Streams: worldStreams()}, answers.Policy{})
		start := w.now
		var with []Work
		for range 6000 {
			with = append(with, w.step(w.next(w.m.due())))
		}
		c := w.m.config
		c.Streams = nil
		m := newMachine(c, w.m.policy.Policy, start)
		sameError := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
		for i, l := range w.log {
			in := l.in
			switch in.(type) {
			case Streamed, StreamEnded:
				in = Tick{}
			}
			without := m.step(l.at, in)
			with[i].Open, with[i].Close = nil, nil
			with[i].Changed, without.Changed = false, false
			kept := with[i].Events[:0]
			for _, e := range with[i].Events {
				if e.Delivery == pleg.Unseen {
					unseen++
					continue
				}
				kept = append(kept, bare(e))
			}
			with[i].Events = kept
			for j := range without.Events {
				without.Events[j] = bare(without.Events[j])
				events++
			}
			if diff := difference(without, with[i], sameError, cmp.AllowUnexported(reply{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, step %d, %T (-without +with):\n%s", seed, i, l.in, diff)
			}
		}
	}
	if unseen < 100 || events < 100 {
		t.Errorf("%d unseen and %d other events: this says nothing", unseen, events)
	}
}

// bare is what the core has decided of an event.
func bare(e Event) Event { return Event{Event: e.Event, AtStart: e.AtStart, Reason: e.Reason} }
