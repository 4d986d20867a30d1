package pleg

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type kubeletTrace struct {
	Name   string
	Engine string
	Config struct {
		Capacity  int   `json:"channel_capacity"`
		Threshold int64 `json:"relist_threshold_ms"`
		Start     int64 `json:"start_unix_ms"`
	}
	Steps []struct {
		In  stepIn
		Out stepOut
	}
	Full map[UID]*traceEntry `json:"cache_full"`
}

type stepIn struct {
	Op        string
	Advance   int64       `json:"advance_ms"`
	Pods      *[]tracePod // nil: as before
	Target    UID
	Reinspect []UID            `json:"request_reinspect"`
	ListErr   string           `json:"get_pods_error"`
	ListTook  int64            `json:"get_pods_ms"`
	PodErr    string           `json:"get_pod_error"`
	Errors    map[UID]string   `json:"status_errors"`
	Took      map[UID]int64    `json:"status_ms"`
	Views     map[UID]tracePod `json:"status_view"`
	NoDrain   bool             `json:"no_drain"`
}

type tracePod struct {
	ID       UID
	Name, NS string
	IPs      []string
	SB, CT   []string
}

type traceEvent struct {
	Pod  UID
	Type string
	CID  string
}

type traceEntry struct {
	Err string
	CT  []string
	SB  []string
	IPs []string
	Mod int64 `json:"mod_ms"`
}

// stepOut is what the recording says of a step, and what the core is asked for
// after it.
type stepOut struct {
	Events            []traceEvent
	Accepted          int
	Discarded         int
	AcceptedEvents    []traceEvent `json:"accepted_events"`
	AcceptedExact     bool         `json:"accepted_exact"`
	ChannelLen        int          `json:"channel_len"`
	Inspected         []UID
	Cache             map[UID]*traceEntry
	CacheTime         int64         `json:"cache_time_ms"`
	Observed          map[UID]int64 `json:"observed_ms"`
	Reinspect         []UID
	Records           map[UID]string
	RelistTime        int64 `json:"relist_time_ms"`
	Now               int64 `json:"now_ms"`
	Healthy           bool
	HealthError       string         `json:"health_error"`
	RunningPods       int            `json:"running_pods"`
	RunningContainers map[string]int `json:"running_containers"`
}

// TestKubeletGolden compares the core with what the kubelet's own PLEG did.
func TestKubeletGolden(t *testing.T) {
	traces, steps := checkTraces(t, false)
	fmt.Printf("golden: traces=%d steps=%d\n", traces, steps)
}

// A core that is encoded, decoded and restored after each step, also within relists, goes on like
// the original.
func TestCheckpointGolden(t *testing.T) { checkTraces(t, true) }

func checkTraces(t *testing.T, restores bool) (traces, steps int) {
	eachTrace(t, kubeletSchema, func(t *testing.T, trace kubeletTrace) {
		n, ok := checkTrace(t, trace, restores)
		steps += n
		if ok {
			traces++
		}
	})
	if traces == 0 {
		t.Error("no trace was read")
	}
	return traces, steps
}

// checkTrace returns how many steps it has found right, and whether that is all.
func checkTrace(t *testing.T, trace kubeletTrace, restores bool) (steps int, ok bool) {
	release, err := engineRelease(trace.Engine)
	if err != nil {
		t.Errorf("%s: %v", trace.Name, err)
		return 0, false
	}
	n, err := newNode(release, trace, restores)
	if err != nil {
		t.Errorf("%s: %v", trace.Name, err)
		return 0, false
	}
	for i, step := range trace.Steps {
		got, err := n.play(step.In)
		if err != nil {
			t.Errorf("%v %s step %d: %v", release, trace.Name, i, err)
			return i, false
		}
		if diff := diffOutcome(step.Out, got); diff != "" {
			t.Errorf("%v %s step %d (-kubelet +core):\n%s", release, trace.Name, i, diff)
			return i, false
		}
	}
	if diff := diffCache(trace.Full, n.cache()); diff != "" {
		t.Errorf("%v %s cache at the end (-kubelet +core):\n%s", release, trace.Name, diff)
		return len(trace.Steps), false
	}
	return len(trace.Steps), true
}

// diffOutcome compares a step. Where the recording leaves something open,
// because the kubelet takes pods at random, it is held to what it does say.
func diffOutcome(want, got stepOut) string {
	cache := diffCache(want.Cache, got.Cache)
	accepted := diffAccepted(want, got)
	want.Cache, got.Cache = nil, nil
	want.AcceptedEvents, got.AcceptedEvents, want.AcceptedExact = nil, nil, false
	forgetUnheld(want.Observed, got.Observed)
	return diffLoosely(want, got) + cache + accepted
}

// forgetUnheld drops the times of pods that the cache does not hold. Such a time
// changes nothing; the recording is of the kubelet's call.
func forgetUnheld(want, got map[UID]int64) {
	for uid, at := range got {
		if at == -1 {
			delete(want, uid)
			delete(got, uid)
		}
	}
}

func diffAccepted(want, got stepOut) string {
	switch {
	case want.Discarded == 0:
		return ""
	case want.AcceptedExact:
		return diffLoosely(want.AcceptedEvents, got.AcceptedEvents)
	case len(want.AcceptedEvents) != len(got.AcceptedEvents):
		return fmt.Sprintf("accepted %d events, want %d\n", len(got.AcceptedEvents), len(want.AcceptedEvents))
	}
	rest := want.Events
	for _, e := range got.AcceptedEvents { // ours come by UID, as the recorded ones are sorted
		i := slices.Index(rest, e)
		if i < 0 {
			return fmt.Sprintf("accepted %v, which is not among the events in this order\n", e)
		}
		rest = rest[i+1:]
	}
	return ""
}

// diffCache compares cache entries. The core drops nothing for a pod that the
// cache does not hold; the recording says so of each call.
func diffCache(want, got map[UID]*traceEntry) string {
	got = maps.Clone(got)
	for uid, e := range want {
		mine, ok := got[uid]
		if e == nil && !ok {
			got[uid] = nil
		}
		if e != nil && mine != nil && e.Mod == -2 {
			mine.Mod = -2
		}
	}
	return diffLoosely(want, got)
}

// diffLoosely takes nothing and an empty list for the same.
func diffLoosely(want, got any) string {
	if reflect.DeepEqual(want, got) { // so it is, as a rule, and much faster
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}
