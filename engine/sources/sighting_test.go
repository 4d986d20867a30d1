package sources

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Half of the leads are as long as LeadP50 or longer, and 99 of 100 as long as LeadP99.
func TestLeads(t *testing.T) {
	p := watching(t, FromCgroup)
	for i := range 100 {
		id, lead := fmt.Sprint("id-", i), time.Duration(i-10)*time.Millisecond
		if lead < 0 {
			p.sees(pleg.Started, id)
			p.pass(-lead)
			p.sends(FromCgroup, started(id))
		} else {
			p.sends(FromCgroup, started(id))
			p.pass(lead)
			p.sees(pleg.Started, id)
		}
	}
	p.pass(2 * Patience)
	d := p.wantDrift(Drift{Both: 100, Late: 10})
	if d.LeadP50.Round(time.Millisecond) != 39*time.Millisecond || d.LeadP99.Round(time.Millisecond) != -10*time.Millisecond {
		t.Errorf("leads %v and %v", d.LeadP50, d.LeadP99)
	}
}

// What began and ended between two relists is reported all the same, once and in its order: right
// before the event of a later step, or when the relist has had its time.
func TestWhatIsTooShortForTheRelist(t *testing.T) {
	p := watching(t, FromCgroup)
	end := stopped("web/job")
	end.At = p.now.Add(-time.Millisecond)
	end.Pod = pleg.PodRef{Namespace: "default", Name: "web", UID: "uid"}
	end.Status = &pleg.PodStatus{Containers: []pleg.ContainerStatus{{ID: "web/job", Name: "job", State: pleg.Exited, ExitCode: 137, Reason: "OOMKilled"}}}
	p.sends(FromCgroup, started("web/job"), end, started("web/blink"), stopped("web/blink"))
	p.pass(time.Second)
	p.wantUnseen("before the relist")
	p.sees(pleg.Removed, "web/job")
	u := p.take()
	if len(u) != 2 || u[0].Kind != pleg.Started || u[0].Container != "of-web/job" {
		t.Fatalf("%+v", u)
	}
	want := Unseen{
		Event:    pleg.Event{Kind: pleg.Died, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "web/job", Container: "of-web/job"}, From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 137},
		Seen:     u[1].Seen,
		Happened: end.At, Reason: "OOMKilled",
	}
	if diff := gocmp.Diff(want, u[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.pass(Patience)
	p.wantUnseen("the relist sees nothing", "ContainerStarted web/blink by cgroup", "ContainerDied web/blink by cgroup")
	p.pass(time.Hour)
	p.wantUnseen("later")
	p.wantDrift(Drift{MissedByRelist: 4})
	if s := p.state(FromCgroup); s.Unknown != 2 || s.Received != 4 {
		t.Errorf("%+v", s)
	}
}

// The event of an id that no relist has says what the source says of it.
func TestUnseenEventOfAnUnknownID(t *testing.T) {
	p := watching(t, FromCRI)
	pod := pleg.PodRef{Namespace: "default", Name: "web", UID: "uid"}
	status := &pleg.PodStatus{PodRef: pod, Sandboxes: []pleg.SandboxStatus{{ID: "sandbox"}}, Containers: []pleg.ContainerStatus{{ID: "blink", Name: "job", State: pleg.Exited, ExitCode: 3}}}
	p.sends(FromCRI, pleg.Upstream{Signal: pleg.SignalStarted, ID: "sandbox", Pod: pod, Status: status})
	p.sends(FromCRI, pleg.Upstream{Signal: pleg.SignalStopped, ID: "blink", Pod: pod, Status: status})
	p.sends(FromCRI, pleg.Upstream{Signal: pleg.SignalDeleted, ID: "blink"}, pleg.Upstream{Signal: pleg.SignalCreated, ID: "made"})
	p.pass(2 * Patience)
	var got []pleg.Event
	for _, u := range p.take() {
		got = append(got, u.Event)
	}
	want := []pleg.Event{
		{Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "sandbox", Pod: pod, Sandbox: true}, From: pleg.Absent, To: pleg.Running},
		{Kind: pleg.Died, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "blink", Pod: pod, Container: "job"}, From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 3},
		{Kind: pleg.Removed, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: "blink"}, From: pleg.Exited, To: pleg.Absent},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The relist has the time that it needs: to list, also what the runtime lists late; with a
// long period; and after a pause.
func TestRelistHasItsTime(t *testing.T) {
	p := watching(t, FromCgroup)
	p.f.UsualLists = 60 * time.Millisecond
	for _, tt := range []struct {
		name   string
		period time.Duration
		pause  time.Duration
		sees   time.Duration
	}{
		{"lists take time", time.Second, 0, Patience + 110*time.Millisecond},
		{"a long period", 20 * time.Second, 0, 22 * time.Second},
		{"a pause", time.Second, 5 * time.Minute, Patience},
	} {
		p.f.Period = tt.period
		p.f.Paused = tt.pause > 0
		p.sends(FromCgroup, stopped("web/app"))
		p.pass(tt.pause)
		if p.f.Paused {
			p.f.Paused, p.f.Resumed = false, p.now
		}
		p.pass(tt.sees)
		p.sees(pleg.Died, "web/app")
		p.wantUnseen(tt.name)
		p.sees(pleg.Started, "web/app") // anew
	}
}

// A list that leaves a pod out once does not make nonsense of what comes later.
func TestAnIDThatIsListedAnew(t *testing.T) {
	p := watching(t, FromCgroup)
	for range 3 {
		p.sees(pleg.Died, "web/app")
		p.sees(pleg.Removed, "web/app")
		p.pass(time.Second)
		p.sees(pleg.Started, "web/app")
		p.pass(time.Minute)
	}
	p.sends(FromCgroup, stopped("web/app"))
	p.pass(500 * time.Millisecond)
	if lead, ok := p.sees(pleg.Died, "web/app").Lead(FromCgroup); lead != 500*time.Millisecond || !ok {
		t.Errorf("lead %v, %v", lead, ok)
	}
	p.pass(time.Minute)
	all := p.o.Drifts()
	if d := all[0]; d.Both != 1 || d.Duplicates+d.Late > 0 || d.LeadP99 < 490*time.Millisecond {
		t.Errorf("%+v", d)
	}
}

// A source that makes ids up fills neither the list of events nor the memory, and keeps nobody
// from seeing the rest. All is forgotten in the end.
func TestStrangersAreBounded(t *testing.T) {
	p := watching(t, FromCgroup)
	const n = MostIDs + 100
	for i := range n {
		p.sends(FromCgroup, stopped(fmt.Sprint("made-up-", i)))
	}
	p.sends(FromCgroup, stopped("web/app"))
	p.pass(100 * time.Millisecond)
	if lead, ok := p.sees(pleg.Died, "web/app").Lead(FromCgroup); !ok || lead != 100*time.Millisecond {
		t.Errorf("a container of the node is crowded out: %v, %v", lead, ok)
	}
	if len(p.o.IDs) > MostIDs || len(p.o.Waits) > 3*MostIDs {
		t.Errorf("%d ids, %d waits", len(p.o.IDs), len(p.o.Waits))
	}
	p.pass(2 * Patience)
	s := p.state(FromCgroup)
	if unseen := p.unseen(); len(unseen) != MostUnseen || p.o.Uncounted != n-MostUnseen || s.Received != n+1 || s.Unknown != n {
		t.Errorf("%d unseen, %d more: %+v", len(unseen), p.o.Uncounted, s)
	}
	for i := range n {
		p.sees(pleg.Died, fmt.Sprint("real-", i))
	}
	if len(p.o.IDs) > MostIDs {
		t.Errorf("%d ids of the relist", len(p.o.IDs))
	}
	p.pass(2 * Lasts)
	if len(p.o.IDs)+len(p.o.Waits) > 0 {
		t.Errorf("%d ids and %d waits are never forgotten", len(p.o.IDs), len(p.o.Waits))
	}
}
