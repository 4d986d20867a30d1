package pleg

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const hour = time.Hour

var (
	epoch      = time.Unix(1_700_000_000, 0)
	errInspect = errors.New("inspection failed")
	oneOfEach  = []Release{28, 34, 36} // one release of each relist
)

// eachRelease runs a test for one release of each relist.
func eachRelease(t *testing.T, f func(*testing.T, *bed, Release)) {
	for _, release := range oneOfEach {
		t.Run(release.String(), func(t *testing.T) { f(t, newBed(t, Config{Release: release}), release) })
	}
}

// A bed drives a core through relists, a second apart, with a runtime whose inspections show what
// was listed last.
type bed struct {
	t         *testing.T
	core      *Core
	at        time.Time
	listed    []*Pod
	failing   map[UID]bool
	ips       map[UID][]string
	inspected []UID
	tried     []string  // the first container of each pod inspected
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
func (b *bed) relist(pods ...*Pod) []string {
	b.t.Helper()
	b.listed = pods
	b.at = b.at.Add(time.Second)
	b.must(b.core.Begin(b.at, pods))
	return texts(b.finish())
}

// relistPod lists one pod alone; an inspection of it shows that pod.
func (b *bed) relistPod(p *Pod) []string {
	b.t.Helper()
	b.at = b.at.Add(time.Second)
	b.listed = append([]*Pod{p}, b.listed...)
	b.must(b.core.BeginPod(b.at, p))
	return texts(b.finish())
}

// finish makes the inspections of a relist, ends it, and returns its events.
func (b *bed) finish() []Event {
	b.t.Helper()
	b.inspected, b.tried = nil, nil
	for next, ok := b.core.Next(); ok; next, ok = b.core.Next() {
		uid := next.Pod.UID
		b.inspected = append(b.inspected, uid)
		if len(next.Pod.Containers) > 0 {
			b.tried = append(b.tried, next.Pod.Containers[0].ID)
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
	return b.core.Released()
}

func (b *bed) status(uid UID) *PodStatus {
	i := slices.IndexFunc(b.listed, func(p *Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	st := statusOf(b.listed[i])
	st.IPs = b.ips[uid]
	return st
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) wantErr(err, want error) {
	b.t.Helper()
	if !errors.Is(err, want) {
		b.t.Errorf("error = %v, want %v", err, want)
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

// wantReinspect tells which pods are to be inspected even if nothing changes.
func (b *bed) wantReinspect(want ...UID) {
	b.t.Helper()
	for _, uid := range []UID{"a", "b", "c"} {
		if got := b.core.reinspecting(uid); got != slices.Contains(want, uid) {
			b.t.Errorf("reinspecting %s: %v", uid, got)
		}
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

// pod makes a pod of texts such as "c1 running"; ids that begin with s are sandboxes.
func pod(uid UID, lines ...string) *Pod {
	p := &Pod{PodRef: PodRef{UID: uid, Namespace: "ns", Name: "pod-" + string(uid)}}
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

// statusOf answers an inspection with what was listed.
func statusOf(p *Pod) *PodStatus {
	st := &PodStatus{PodRef: p.PodRef, Sandboxes: make([]SandboxStatus, len(p.Sandboxes)), Containers: make([]ContainerStatus, len(p.Containers))}
	for i := range p.Sandboxes {
		s := &p.Sandboxes[i]
		st.Sandboxes[i] = SandboxStatus{ID: s.ID, Pod: p.PodRef, State: s.State, CreatedAt: s.CreatedAt}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		st.Containers[i] = ContainerStatus{ID: c.ID, Name: c.Name, State: c.State, CreatedAt: c.CreatedAt}
	}
	return st
}

// manyPods makes pods of one sandbox and containers that run, or have exited where ended reports it.
func manyPods(pods, containers int, ended func(pod int) bool) []*Pod {
	list := make([]*Pod, pods)
	for i := range list {
		state := Running
		if ended(i) {
			state = Exited
		}
		list[i] = &Pod{
			PodRef:    PodRef{UID: UID(fmt.Sprintf("%08x-0000-4000-8000-00000000%04x", i*2654435761%(1<<32), i)), Namespace: "default", Name: fmt.Sprintf("pod-%d", i)},
			Sandboxes: []Sandbox{{ID: longID(i, 0), State: Running}},
		}
		for c := range containers {
			list[i].Containers = append(list[i].Containers, Container{ID: longID(i, c+1), Name: fmt.Sprintf("c%d", c), State: state})
		}
	}
	return list
}

// reinspecting reports whether a pod will be inspected even if nothing changed.
func (c *Core) reinspecting(uid UID) bool {
	r, ok := c.Record(uid)
	return ok && r.Reinspect || !ok && c.state.Requested[uid]
}

// drain empties the event channel.
func (c *Core) drain() { c.state.Unread = 0 }
