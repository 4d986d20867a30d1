package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// drifts returns the node with an open stream of the runtime's events that agrees so far
// with the relist, after a minute in which all of it came together.
func drifts(d sources.Drift, change ...func(*node)) *node {
	n := healthy(3)
	n.Sources = []sources.SourceState{{Source: sources.FromCRI, State: sources.StreamConnected, Since: ago(time.Minute), Received: 500}, {Source: sources.FromCgroup}}
	d.Source, d.Transitions = sources.FromCRI, d.Both+d.MissedByRelist+d.MissedBySource
	n.Drift, n.DriftLately = []sources.Drift{d}, []sources.Window{{Drift: d, Lasted: time.Minute}}
	for _, f := range change {
		f(n)
	}
	return n
}

// broke has the stream break so often, each a while before the one after.
func broke(times int, apart time.Duration) func(*node) {
	return func(n *node) {
		for i := times; i > 0; i-- {
			at := ago(time.Duration(i) * apart)
			n.SourceChanges = append(n.SourceChanges,
				sources.SourceChange{At: at, Source: sources.FromCRI, State: sources.StreamLost, Reason: "Unavailable: closed"},
				sources.SourceChange{At: at.Add(time.Second), Source: sources.FromCRI, State: sources.StreamConnected})
		}
	}
}

// evented has the kubelet go by the stream.
func evented(n *node) {
	n.Mode = sources.ModeState{Mode: pleg.Evented, Asked: pleg.Evented}
}

func state(change func(*sources.SourceState)) func(*node) {
	return func(n *node) { change(&n.Sources[0]) }
}

// TestEventDrift holds what is told of a stream, and that nothing is told of one that is
// well, of a handful, and where it is not open.
func TestEventDrift(t *testing.T) {
	badClock := state(func(k *sources.SourceState) { k.BadClock = "an hour ahead" })
	for _, tt := range []struct {
		name string
		node *node
		want string // severity and the beginning of the summary
	}{
		{"no sources", healthy(3), ""},
		{"all agree", drifts(sources.Drift{Both: 4000, MissedByRelist: 60, Late: 80}), ""},
		{"the relist misses what is short", drifts(sources.Drift{Both: 100, MissedByRelist: 300}), ""},
		{"a handful, all lost", drifts(sources.Drift{MissedBySource: 19}), ""},
		{"four of many", drifts(sources.Drift{Both: 100, MissedBySource: 4}), ""},
		{"a few of very many", drifts(sources.Drift{Both: 4000, MissedBySource: 9, Duplicates: 9}), ""},
		{"lossy", drifts(sources.Drift{Both: 400, MissedBySource: 200}), "warning the runtime's event stream missed 200 of 600 changes in 1m0s: a kubelet with evented PLEG would have lost them"},
		{"lossy, and switched off since", drifts(sources.Drift{Both: 400, MissedBySource: 200}, state(func(k *sources.SourceState) { k.State = sources.StreamOff })), ""},
		{"lossy, in evented mode", drifts(sources.Drift{Both: 400, MissedBySource: 200}, evented), "warning the runtime's event stream missed 200 of 600 changes in 1m0s: each waited for a relist, one every 1s"},
		{"nearly all lost", drifts(sources.Drift{Both: 10, MissedBySource: 40}), "warning the runtime's event stream missed 40 of 50 changes"},
		{"doubled", drifts(sources.Drift{Both: 50, Duplicates: 50}), "warning the runtime's event stream sent 50 of 50 changes twice in 1m0s"},
		{"told more often than there are changes", drifts(sources.Drift{Both: 50, Duplicates: 12_222}), "warning the runtime's event stream sent 50 changes, and some of them again and again, 12,222 times in 1m0s"},
		{"late", drifts(sources.Drift{Both: 50, Late: 45}), "info the runtime's event stream sent 45 of 50 changes in 1m0s only after the relist had seen them, one every 1s"},
		{"late, in evented mode", drifts(sources.Drift{Both: 50, Late: 45}, evented), "warning the runtime's event stream sent 45 of 50"},
		{"broken twice", drifts(sources.Drift{Both: 50}, broke(2, time.Minute)), ""},
		{"broken again and again", drifts(sources.Drift{Both: 50}, broke(4, 20*time.Second)), "warning the runtime's event stream broke 4 times in 1m20s: Unavailable: closed"},
		{"broken long ago", drifts(sources.Drift{Both: 50}, broke(4, 11*time.Minute)), ""},
		{"a flood of nothing", drifts(sources.Drift{Both: 50}, func(n *node) { n.DriftLately[0].Unknown = 60_000 }), "warning the runtime floods its event stream: 60,000 events that came too fast or are of unknown containers in 1m0s"},
		{"a flood that changes are lost in", drifts(sources.Drift{Both: 50, MissedBySource: 30}, func(n *node) { n.DriftLately[0].Unknown = 60_000 }), "warning the runtime floods its event stream: 60,000 events that came too fast or are of unknown containers in 1m0s"},
		{"a flood that nobody can read", drifts(sources.Drift{Both: 50}, func(n *node) {
			n.DriftLately[0].Lost, n.DriftLately[0].Unknown = 40_000, 20_000
		}), "warning the runtime floods its event stream: 60,000 events that came too fast or are of unknown containers in 1m0s"},
		{"a clock an hour ahead", drifts(sources.Drift{Both: 50}, badClock), "info the times of the runtime's events make no sense: an hour ahead"},
		{"the same, in evented mode", drifts(sources.Drift{Both: 50}, badClock, evented), "warning the times"},
		{"fallen back", drifts(sources.Drift{}, func(n *node) {
			n.Mode = sources.ModeState{Asked: pleg.Evented, Reason: "five attempts failed: not enabled"}
			n.Sources[0].State = sources.StreamFellBack
		}), "warning evented has fallen back to generic for good: five attempts failed: not enabled"},
		{"refused", drifts(sources.Drift{}, state(func(k *sources.SourceState) { k.State = sources.StreamRefused })), ""},
		{"lists hang", drifts(sources.Drift{Both: 400, MissedBySource: 200}).hang(call.ListPodSandbox, time.Minute), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			for _, f := range tt.node.diagnose() {
				if f.ID == EventDrift {
					got = f.Severity.String() + " " + f.Summary
					whole(t, []Finding{f})
				}
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDriftEvidenceHasALead holds that a lead is told where there was one, and only there.
func TestDriftEvidenceHasALead(t *testing.T) {
	for both, want := range map[uint64]bool{0: false, 90: true} {
		found := drifts(sources.Drift{Both: both, MissedBySource: 50, LeadP50: second}).diagnose()
		if got := strings.Contains(found[0].Evidence[0], "; half come 1s or more before the relist"); got != want {
			t.Errorf("%d seen by both: %q", both, found[0].Evidence[0])
		}
	}
}
