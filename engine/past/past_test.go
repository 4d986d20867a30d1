package past

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func none(func(string) bool) {}

// The memory of helpers has a limit, and old ones are forgotten.
func TestRepeatsAreBounded(t *testing.T) {
	var k Keeper
	helper := func(id string, pid int) *evidence.Report {
		return &evidence.Report{At: now, Processes: evidence.Processes{Helpers: []evidence.Process{{PID: pid, Verb: "delete", Container: id, Own: true}}}}
	}
	for i := range 2 * repeatsMost {
		k.Looked(helper(strings.Repeat("x", i+1), i+1), none)
	}
	if all := k.Read().Repeats; len(all) != repeatsMost {
		t.Errorf("%d are remembered", len(all))
	}
	k.Looked(helper("x", 7), none)
	wrapped := helper("x", 8)
	wrapped.Processes.Helpers = append(wrapped.Processes.Helpers, evidence.Process{PID: 9, Parent: 8, Verb: "delete", Container: "x", Own: true})
	k.Looked(wrapped, none)
	if got := k.Read().Repeats["x"].Times; got != 3 {
		t.Errorf("%d tries, want 3", got)
	}
	k.Looked(&evidence.Report{At: now.Add(repeatKept + 1)}, none)
	if all := k.Read().Repeats; len(all) != 0 {
		t.Errorf("still remembered: %v", all)
	}
}

// The log follows the looks: a kubelet that answers is there, even without a process.
func TestKubeletIsFollowed(t *testing.T) {
	var k Keeper
	nobody := evidence.Answer{Asked: true, Refused: true, Err: "not available: connection refused"}
	look := func(at time.Duration, ping evidence.Answer, daemons ...evidence.Process) Kubelet {
		k.Looked(&evidence.Report{At: now.Add(at), Kubelet: evidence.Kubelet{Ping: ping}, Processes: evidence.Processes{Daemons: daemons}}, none)
		return k.Read().Kubelet
	}
	look(0, nobody)
	if l := look(5*time.Second, nobody); !l.Seen.IsZero() || !l.Gone.Equal(now) {
		t.Errorf("log = %+v, want never seen, and gone since the first look", l)
	}
	look(10*time.Second, nobody, evidence.Process{PID: 7, Command: "kubelet"})
	look(15*time.Second, evidence.Answer{Asked: true, OK: true})
	if l := look(20*time.Second, nobody); !l.Seen.Equal(now.Add(15*time.Second)) || !l.Gone.Equal(now.Add(20*time.Second)) || l.Process.PID != 7 {
		t.Errorf("log = %+v", l)
	}
}

// A look that was cut off misses no container. If nothing at all is found, the containers run elsewhere.
func TestMissedSinceTheFirstLook(t *testing.T) {
	var k Keeper
	look := func(at time.Duration, partial string, here ...string) map[string]time.Time {
		r := &evidence.Report{At: now.Add(at), Processes: evidence.Processes{Partial: partial, Containers: map[string][]evidence.Process{"zombie": {{State: evidence.Zombie}}}}}
		for _, id := range here {
			r.Processes.Containers[id] = []evidence.Process{{}}
		}
		k.Looked(r, slices.Values([]string{"a", "b", "zombie"}))
		return k.Read().Missed
	}
	for i, tt := range []struct {
		partial string
		here    []string
		want    map[string]time.Time
	}{
		{"", []string{"a", "b", "zombie"}, nil},
		{"", []string{"a"}, map[string]time.Time{"b": now.Add(time.Second), "zombie": now.Add(time.Second)}},
		{"", []string{"a", "b"}, map[string]time.Time{"zombie": now.Add(time.Second)}},
		{"cut off", []string{"a"}, nil},
		{"", []string{"a", "b"}, map[string]time.Time{"zombie": now.Add(4 * time.Second)}},
		{"", nil, nil},
	} {
		got := look(time.Duration(i)*time.Second, tt.partial, tt.here...)
		if len(got) != len(tt.want) || len(got) > 0 && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("look %d: missed %v, want %v", i, got, tt.want)
		}
	}
}

// busy notes everything that can be noted, at one moment.
func busy(k *Keeper, i int) {
	at := now.Add(time.Duration(i) * 20 * time.Second)
	pod := pleg.PodRef{UID: pleg.UID(fmt.Sprint(i)), Name: fmt.Sprint("pod-", i)}
	k.Judged(i%2 == 0, at)
	for _, e := range []pleg.Event{{ObjectRef: pleg.ObjectRef{Pod: pod, Container: "app"}, Kind: pleg.Died}, {ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Name: "same"}, ID: fmt.Sprint("c", i)}, Kind: pleg.Kind(i % 3)}} {
		k.Lost(e, at)
	}
	id := fmt.Sprint("id-", i)
	k.Looked(&evidence.Report{At: at, Processes: evidence.Processes{
		Containers: map[string][]evidence.Process{"here": {{}}},
		Helpers:    []evidence.Process{{PID: i, Verb: repeatVerb, Container: "same", Own: true}, {PID: -i, Verb: repeatVerb, Container: id, Own: true}},
	}}, slices.Values([]string{"here", "same", id}))
	k.Looked(&evidence.Report{At: at, Processes: evidence.Processes{Daemons: []evidence.Process{{PID: i, Command: "containerd", Own: true, Age: time.Second}}}}, none)
	k.Counted(Counts{Failed: uint64(i), All: uint64(2 * i)})
	k.WentAway(at, Counts{})
	k.IsThere()
	k.ListCameBack(at)
	k.StatusTook(time.Duration(i))
	k.Recovered(at)
	k.Idle(i%3 > 0, at)
	k.Hung(id, at)
	k.CameBack(Comeback{At: at})
}

// A memory that was read does not change, whatever is noted later.
func TestWhatWasReadStays(t *testing.T) {
	var k Keeper
	var read []Memory
	var texts []string
	text := func(m Memory) string { return fmt.Sprintf("%+v %+v", m, m.Losses) }
	for i := range 100 {
		busy(&k, i)
		m := k.Read()
		read, texts = append(read, m), append(texts, text(m))
	}
	for i, m := range read {
		if text(m) != texts[i] {
			t.Fatalf("what was read after %d moments is now\n%s\nwant\n%s", i, text(m), texts[i])
		}
	}
}

// Nothing grows for ever.
func TestMemoryIsBounded(t *testing.T) {
	var k Keeper
	for i := range 2000 {
		busy(&k, i)
	}
	m := k.Read()
	for name, got := range map[string][2]int{
		"spells": {len(m.Spells), spellsKept}, "losers": {len(m.Losses.Pods), losersMost}, "repeats": {len(m.Repeats), repeatsMost},
		"outages": {len(m.Outages.Times), outagesKept}, "starts": {len(m.Starts), outagesKept}, "recovered": {len(m.Recovered), answers.Outages}, "status": {len(m.Status), statusKept}, "hung objects": {len(m.Hung), hungMost},
	} {
		if got[0] > got[1] || got[0] == 0 {
			t.Errorf("%d %s are remembered, want at most %d", got[0], name, got[1])
		}
	}
}

// Losses after a quiet time are counted from zero.
func TestLossesAfterARest(t *testing.T) {
	var k Keeper
	e := pleg.Event{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Name: "pod"}, Container: "app"}, Kind: pleg.Died}
	for _, at := range []time.Duration{0, time.Minute, time.Minute + LossShown, 2*time.Minute + 2*LossShown} {
		k.Lost(e, now.Add(at))
	}
	if l := k.Read().Losses; l.Total != 1 || !l.First.Equal(l.Last) || l.Unnamed() != 0 {
		t.Errorf("losses = %+v", l)
	}
}

// Each process of the runtime is one start, except processes that it starts itself, and those that have been
// there for long. Two programs that are restarted together count as one restart.
func TestStartsOfTheRuntime(t *testing.T) {
	var k Keeper
	own := func(pid int, command string, age time.Duration) evidence.Process {
		return evidence.Process{PID: pid, Command: command, Own: true, Age: age}
	}
	for i, daemons := range [][]evidence.Process{
		{own(1, "containerd", time.Hour)},
		{own(2, "containerd", time.Second), own(7, "dockerd", time.Second)},
		{own(2, "containerd", time.Minute+time.Second), own(3, "containerd", time.Millisecond)},
		{own(4, "containerd", 2*time.Second), {PID: 5, Command: "containerd", Age: time.Second}, own(6, "kubelet", time.Second)},
	} {
		k.Looked(&evidence.Report{At: now.Add(time.Duration(i) * time.Minute), Processes: evidence.Processes{Daemons: daemons}}, none)
	}
	m := k.Read()
	want := []Start{{"containerd", 2, now.Add(time.Minute - time.Second)}, {"containerd", 4, now.Add(3*time.Minute - 2*time.Second)}}
	if got := m.StartsSince(now); !slices.Equal(got, want) {
		t.Errorf("starts %+v, want %+v", got, want)
	}
	if got := m.StartsSince(now.Add(2 * time.Minute)); !slices.Equal(got, want[1:]) {
		t.Errorf("later %+v, want %+v", got, want[1:])
	}
}
