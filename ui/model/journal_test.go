package model

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// at returns a snapshot made so long after noon, when the engine started.
func at(d time.Duration) *engine.Snapshot { return &engine.Snapshot{At: noon.Add(d), Started: noon} }

// died returns event seq, a death in one of three pods.
func died(seq uint64) engine.Event {
	return engine.Event{Seq: seq, SeenAt: noon.Add(time.Duration(seq) * time.Second), Event: pleg.Event{
		Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: pleg.UID(fmt.Sprint("uid", seq%3)), Name: "p"}, ID: "c", Container: "x"},
		From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: int32(seq % 2),
	}}
}

func events(from, to uint64) (all []engine.Event) {
	for seq := from; seq <= to; seq++ {
		all = append(all, died(seq))
	}
	return all
}

func failed(e engine.Event, _ time.Time) bool { return e.ExitCode != 0 }

// about returns rows as one word each.
func about(j *Journal) string {
	var all []string
	for _, r := range j.Shown() {
		word := fmt.Sprint(r.Seq)
		if r.Gap > 0 {
			word = fmt.Sprintf("%d(gap of %d)", r.Seq, r.Gap)
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// A filter by age is asked again as time passes, though no event comes.
func TestFilterFollowsTheTime(t *testing.T) {
	j := NewJournal(10)
	j.Observe(engine.Update{Snapshot: at(4 * time.Second), Events: events(1, 4)}) // one a second
	j.Filter(func(e engine.Event, at time.Time) bool { return at.Sub(e.SeenAt) < 3*time.Second }, true)
	for i, tt := range []struct {
		after   time.Duration
		events  []engine.Event
		want    string
		changes bool
	}{
		{4 * time.Second, nil, "2 3 4", false},
		{4500 * time.Millisecond, events(5, 5), "2 3 4 5", false}, // a new row at the end is no change
		{6 * time.Second, nil, "4 5", true},
		{time.Hour, nil, "", true},
	} {
		version := j.Version
		j.Observe(engine.Update{Snapshot: at(tt.after), Events: tt.events})
		if got := about(j); got != tt.want || (j.Version != version) != tt.changes {
			t.Errorf("%d: %s, version %d after %d, want %s", i, got, j.Version, version, tt.want)
		}
	}
}

func TestRowsOfAPod(t *testing.T) {
	j := NewJournal(10)
	of := func() (all []uint64) {
		for _, r := range slices.Backward(j.Of("uid1")) {
			all = append(all, r.Seq)
		}
		return all
	}
	j.Observe(engine.Update{Snapshot: at(0), Events: append(events(1, 7), events(10, 11)...)})
	if got := of(); !slices.Equal(got, []uint64{10, 7, 4, 1}) || j.Newest("uid1") != 10 {
		t.Errorf("of the pod: %v, newest %d", got, j.Newest("uid1"))
	}
	j.Observe(engine.Update{Snapshot: at(0), Events: events(12, 20)})
	if got := of(); !slices.Equal(got, []uint64{19, 16, 13}) {
		t.Errorf("of the pod, with the oldest dropped: %v", got)
	}
	j.Observe(engine.Update{Snapshot: at(0), Events: slices.DeleteFunc(events(21, 60), func(e engine.Event) bool { return e.Pod.UID == "uid1" })})
	if got := of(); got != nil || j.Newest("uid1") != 0 || len(j.ofPod) != 2 {
		t.Errorf("of the pod, with all dropped: %v, newest %d of %v", got, j.Newest("uid1"), j.ofPod)
	}
}

// The journal is held against a list that keeps everything.
func FuzzRows(f *testing.F) {
	f.Add([]byte{1, 2, 3, 40, 41, 42, 80, 81, 120, 200, 250})
	f.Add([]byte{39, 39, 39, 200, 39, 39, 80, 81, 255})
	f.Fuzz(func(t *testing.T, acts []byte) {
		j := NewJournal(20)
		var all []uint64 // every event that came
		var show func(engine.Event, time.Time) bool
		next, version := uint64(1), 0
		for i, act := range acts {
			s := at(time.Duration(i) * time.Second)
			switch {
			case act < 40: // some events
				news := events(next, next+uint64(act))
				for _, e := range news {
					all = append(all, e.Seq)
				}
				next += uint64(act) + 1
				j.Observe(engine.Update{Snapshot: s, Events: news})
			case act < 80: // lost ones
				next += uint64(act)
				j.Observe(engine.Update{Snapshot: s, Lost: uint64(act)})
			default: // a filter
				version++
				if show = nil; act%2 == 0 {
					show = failed
				}
				j.Filter(show, false)
			}
			if n := j.Len(); n > 20+20/8 {
				t.Fatalf("%d rows are kept, want about 20", n)
			}
			var want, got []uint64
			for _, seq := range all {
				if j.Row(seq) != nil && (show == nil || failed(died(seq), noon)) {
					want = append(want, seq)
				}
			}
			last := uint64(0)
			for _, r := range j.Shown() {
				if r.Seq <= last {
					t.Fatalf("%d follows on %d", r.Seq, last)
				}
				if last = r.Seq; r.Gap == 0 {
					got = append(got, r.Seq)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || j.Version != version {
				t.Fatalf("act %d, version %d: shown (-want +got):\n%s", i, j.Version, diff)
			}
			if newest := all[max(0, len(all)-1):]; len(newest) == 1 && j.Row(newest[0]) == nil {
				t.Fatalf("the newest row, %d, has gone", newest[0])
			}
		}
	})
}

// A day of 1,000 changes a second takes as much memory as a minute of it.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	j := NewJournal(10_000)
	seq, pods := uint64(0), 0
	pod := func() *engine.Pod {
		pods++
		ref := pleg.PodRef{UID: pleg.UID(fmt.Sprint("uid", pods)), Namespace: "ns", Name: fmt.Sprintf("%08d", pods)}
		p := &engine.Pod{PodRef: ref, Status: &pleg.PodStatus{PodRef: ref}}
		for i := range 3 {
			p.Status.Containers = append(p.Status.Containers, pleg.ContainerStatus{ID: fmt.Sprintf("%064d", i), Name: "c"})
		}
		return p
	}
	second := func(n int) {
		s := at(time.Duration(n) * time.Second)
		for range 10 {
			s.Pods = append(s.Pods, pod()) // all others have gone
		}
		s.Relists = engine.Relists{Count: uint64(n + 1), History: []engine.Relist{{At: s.At}}}
		s.Calls = []answers.Calls{{Seconds: []answers.Second{{At: s.At, Count: 3}}}}
		news := events(seq+1, seq+1000)
		seq += 1000
		for i := range news {
			news[i].ID, news[i].Pod.UID = fmt.Sprintf("%064d", i), pleg.UID(fmt.Sprint("of", news[i].Seq))
		}
		j.Observe(engine.Update{Snapshot: s, Events: news})
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for n := range 100 {
		second(n)
	}
	early := heap() - before
	for n := range 200 {
		second(2000 + n)
	}
	if late := heap() - before; late > early*5/4 || late > 12<<20 {
		t.Errorf("%d KB after 100 s, %d KB after 300 s more", early>>10, late>>10)
	} else {
		t.Logf("%d KB", late>>10)
	}
	runtime.KeepAlive(j)
}

// TestByRelist holds which events a relist has found: not those that came to the kubelet, or to
// plegtop alone, without one.
func TestByRelist(t *testing.T) {
	seen := func(by sources.Source) *sources.Sightings {
		s := new(sources.Sightings)
		s.At[by] = time.Unix(1, 0)
		return s
	}
	for _, tt := range []struct {
		name string
		e    engine.Event
		want bool
	}{
		{"without event sources", engine.Event{}, true},
		{"seen by the relist", engine.Event{Seen: seen(sources.FromRelist)}, true},
		{"seen by a source alone", engine.Event{Seen: seen(sources.FromCgroup)}, false},
		{"unseen", engine.Event{Event: pleg.Event{Delivery: pleg.Unseen}}, false},
		{"derived", engine.Event{Event: pleg.Event{Delivery: pleg.Derived}}, true},
	} {
		if got := (&Row{Event: tt.e}).ByRelist(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
