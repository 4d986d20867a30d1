package panetest

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Streamed is the healthy node with event sources: one that is well, one that has lost
// its stream and one that is refused.
func Streamed() *engine.Snapshot {
	s := Healthy()
	s.Sources = []engine.SourceState{
		{Source: ledger.FromCRI, State: engine.StreamConnected, Since: Ago(4 * time.Minute), Received: 1024, Backlog: 12, Unknown: 3, LastAt: Ago(12 * time.Second), LastErr: "Unavailable: the runtime was started again"},
		{Source: ledger.FromCgroup, State: engine.StreamLost, Since: Ago(3 * time.Second), Reason: "too many open files", NextAt: Noon.Add(2 * time.Second), Tries: 3, Received: 407, Lost: 9, LastAt: Ago(30 * time.Second), LastErr: "too many open files", BadClock: "an hour ahead"},
		{Source: ledger.FromPidfd, State: engine.StreamRefused, Since: Ago(time.Hour), Reason: "not permitted: run as root"},
	}
	s.SourceChanges = []engine.SourceChange{
		{Seq: 1, At: Ago(time.Hour), Source: ledger.FromPidfd, State: engine.StreamRefused, Reason: "not permitted: run as root"},
		{Seq: 2, At: Ago(59 * time.Minute), Source: ledger.FromCRI, State: engine.StreamConnected},
		{Seq: 3, At: Ago(5 * time.Minute), Source: ledger.FromCRI, State: engine.StreamLost, Reason: "Unavailable: the runtime was started again"},
		{Seq: 4, At: Ago(4 * time.Minute), Source: ledger.FromCRI, State: engine.StreamConnected},
		{Seq: 5, At: Ago(3 * time.Second), Source: ledger.FromCgroup, State: engine.StreamLost, Reason: "too many open files"},
	}
	s.Drift = []ledger.Drift{
		{Source: ledger.FromCRI, Transitions: 412, Both: 391, MissedByRelist: 14, MissedBySource: 7, Duplicates: 2, Late: 5, LeadP50: 480 * time.Millisecond, LeadP99: -20 * time.Millisecond},
		{Source: ledger.FromCgroup, Transitions: 399, Both: 380, MissedByRelist: 14, MissedBySource: 5, LeadP50: 475 * time.Millisecond, LeadP99: 11 * time.Millisecond},
	}
	s.UnseenMore = 41
	s.Mode = engine.ModeState{Ignored: 1024}
	s.Calls = append(s.Calls, answers.Calls{Op: call.GetContainerEvents, Count: 1, InFlight: 1, ResponseBytes: 96 << 10})
	return s
}

// FellBack is the same where the kubelet's evented mode was asked for, and its stream did
// not last.
func FellBack() *engine.Snapshot {
	s := Streamed()
	s.Mode = engine.ModeState{Mode: pleg.Generic, Asked: pleg.Evented, Reason: "the stream failed five times: Unavailable: connection refused", Attempts: 5, Applied: 31, Ignored: 4, Repeated: 12}
	s.Sources[0].State, s.Sources[0].Reason = engine.StreamFellBack, "five attempts failed"
	return s
}

// StreamEvents are the [Events] of a node with event sources: two were seen by them before
// the relist, one after it; and one each that no relist has seen, that nobody knows, and
// that is derived.
func StreamEvents(s *engine.Snapshot) []engine.Event {
	all := Events(s)
	seen := func(e *engine.Event, from ledger.Source, lead time.Duration) {
		relist := e.SeenAt
		e.Seen = &ledger.Sightings{}
		e.Seen.At[ledger.FromRelist] = relist
		e.Seen.At[from] = relist.Add(-lead)
		_, e.SeenAt = e.Seen.First()
		e.Lag -= relist.Sub(e.SeenAt)
	}
	for i := range all {
		all[i].Seen = &ledger.Sightings{}
		all[i].Seen.At[ledger.FromRelist] = all[i].SeenAt
	}
	seen(&all[2], ledger.FromCRI, 470*time.Millisecond)
	seen(&all[3], ledger.FromCRI, 620*time.Millisecond)
	all[3].Seen.At[ledger.FromPidfd] = all[3].SeenAt.Add(-4 * time.Millisecond)
	_, all[3].SeenAt = all[3].Seen.First()
	seen(&all[4], ledger.FromCRI, -35*time.Millisecond)
	pay := Find(s, "payments-6c8f9d7b5-t8wfx")
	short := Happened(9, 54, pleg.Died, pay, "migrate", pleg.Running, pleg.Exited)
	short.Delivery, short.Exited, short.ExitCode, short.HasLag = pleg.Unseen, true, 3, false
	short.Seen = &ledger.Sightings{}
	short.Seen.At[ledger.FromCRI], short.At = short.SeenAt, short.SeenAt
	nobodys := short
	nobodys.Seq, nobodys.Pod, nobodys.Container, nobodys.ID = 10, pleg.PodRef{}, "", ID("nobody knows it")
	nobodys.SeenAt, nobodys.Exited, nobodys.ExitCode = Ago(5*time.Second), false, 0
	nobodys.Seen = &ledger.Sightings{}
	nobodys.Seen.At[ledger.FromCgroup], nobodys.At = nobodys.SeenAt, nobodys.SeenAt
	up := Happened(11, 57, pleg.NetworkSetUp, pay, "", pleg.Absent, pleg.Running)
	up.Delivery = pleg.Derived
	return append(all, short, nobodys, up)
}
