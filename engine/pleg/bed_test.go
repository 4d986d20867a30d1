package pleg

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

var epoch = time.Unix(1_700_000_000, 0)

var errInspect = errors.New("inspection failed")

// A bed drives a core through relists, a second apart, with a runtime whose
// inspections show what was listed last.
type bed struct {
	t         *testing.T
	core      *Core
	at        time.Time
	listed    []Pod
	failing   map[UID]bool
	ips       map[UID][]string
	inspected []UID
	tried     []string // the first container of each pod inspected
	retried   []UID
	during    func(UID) // called while an inspection is out; nil for nothing
}

func newBed(t *testing.T, cfg Config) *bed {
	t.Helper()
	core, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &bed{t: t, core: core, at: epoch, failing: map[UID]bool{}, ips: map[UID][]string{}}
}

// relist lists everything and returns the events as texts.
func (b *bed) relist(pods ...Pod) []string {
	b.t.Helper()
	b.listed = pods
	b.at = b.at.Add(time.Second)
	for i := range pods {
		pods[i].ListedAt = b.at
	}
	b.must(b.core.Begin(b.at, slices.Clone(pods)))
	return b.finish()
}

// relistPod lists one pod alone, which is then inspected as it is here.
func (b *bed) relistPod(p Pod) []string {
	b.t.Helper()
	b.at = b.at.Add(time.Second)
	p.ListedAt = b.at
	b.listed = append([]Pod{p}, b.listed...)
	b.must(b.core.BeginPod(b.at, p))
	return b.finish()
}

func (b *bed) finish() []string {
	b.t.Helper()
	b.inspected, b.tried, b.retried = nil, nil, nil
	for next, ok := b.core.Next(); ok; next, ok = b.core.Next() {
		uid := next.Pod.UID
		b.inspected = append(b.inspected, uid)
		if len(next.Pod.Containers) > 0 {
			b.tried = append(b.tried, next.Pod.Containers[0].ID)
		}
		if next.Retry {
			b.retried = append(b.retried, uid)
		}
		if b.during != nil {
			b.during(uid)
		}
		st, err := b.status(uid), error(nil)
		if b.failing[uid] {
			st, err = nil, errInspect
		}
		b.must(b.core.Settle(uid, b.at, st, err))
	}
	b.must(b.core.End())
	return texts(b.core.Released())
}

func (b *bed) status(uid UID) *PodStatus {
	i := slices.IndexFunc(b.listed, func(p Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	st := statusOf(&b.listed[i])
	st.IPs = b.ips[uid]
	return st
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) wantEvents(got []string, want ...string) {
	b.t.Helper()
	if !slices.Equal(got, want) {
		b.t.Errorf("events = %q, want %q", got, want)
	}
}

func (b *bed) wantInspected(want ...UID) {
	b.t.Helper()
	if !slices.Equal(b.inspected, want) {
		b.t.Errorf("inspected %v, want %v", b.inspected, want)
	}
}

func (b *bed) wantTried(want ...string) {
	b.t.Helper()
	if !slices.Equal(b.tried, want) {
		b.t.Errorf("tried pods with %v, want %v", b.tried, want)
	}
}

// texts writes events as "a Died c1", and what was not delivered with a mark.
func texts(events []Event) []string {
	var all []string
	for _, e := range events {
		text := strings.TrimSpace(string(e.Pod.UID) + " " + strings.TrimPrefix(e.Kind.String(), "Container") + " " + e.ID)
		if e.Delivery != Delivered {
			text += " " + e.Delivery.String()
		}
		all = append(all, text)
	}
	return all
}

// pod makes a pod of texts such as "c1 running"; ids that begin with s are
// sandboxes.
func pod(uid UID, lines ...string) Pod {
	p := Pod{PodRef: PodRef{UID: uid, Namespace: "ns", Name: "pod-" + string(uid)}}
	for _, line := range lines {
		id, state, _ := strings.Cut(line, " ")
		if strings.HasPrefix(id, "s") {
			p.Sandboxes = append(p.Sandboxes, Sandbox{ID: id, State: stateNamed(state)})
			continue
		}
		p.Containers = append(p.Containers, Container{ID: id, Name: "name-" + id, State: stateNamed(state)})
	}
	return p
}
