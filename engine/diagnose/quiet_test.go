package diagnose

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A faulty runtime answers well, apart from its fault. It is safe for concurrent use.
type faulty struct {
	mu       sync.Mutex
	lists    node
	gone     string // a pod that is listed no more
	flipped  map[string]bool
	wrong    func(op call.Operation, id string) error // what a call fails with; errHangs has it hang
	changed  chan struct{}                            // closed when wrong changes
	notReady bool
	stuck    string // a container whose process is in the kernel
}

// errHangs makes a call hang until the fault ends.
var errHangs = fmt.Errorf("hangs")

func (r *faulty) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// asked waits a moment, because each call takes a moment.
func (r *faulty) asked(ctx context.Context, op call.Operation, id string) error {
	time.Sleep(time.Millisecond)
	for {
		r.mu.Lock()
		wrong, changed := r.wrong, r.changed
		r.mu.Unlock()
		var err error
		if wrong != nil {
			err = wrong(op, id)
		}
		if err != errHangs {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return call.NoAnswer(op, call.Expired, ctx.Err().Error())
		}
	}
}

func (r *faulty) Version(ctx context.Context) (pleg.Version, error) {
	return pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v2.4.2", APIVersion: "v1"}, r.asked(ctx, call.Version, "")
}

func (r *faulty) Status(ctx context.Context) ([]pleg.Condition, error) {
	err := r.asked(ctx, call.Status, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	network := pleg.Condition{Type: "NetworkReady", Status: !r.notReady}
	if r.notReady {
		network.Reason, network.Message = "NetworkPluginNotReady", "cni plugin not initialized"
	}
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, network}, err
}

func (r *faulty) seenOf(yield func(*pleg.Pod) bool) {
	for _, p := range r.lists.Pods {
		if p.Name != r.gone && !yield(p.Seen()) {
			return
		}
	}
}

func (r *faulty) ListPodSandbox(ctx context.Context, uid pleg.UID) (all []*pleg.ListedSandbox, err error) {
	err = r.asked(ctx, call.ListPodSandbox, string(uid))
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.seenOf {
		for _, s := range p.Sandboxes {
			if uid == "" || uid == p.UID {
				all = append(all, &pleg.ListedSandbox{Pod: p.PodRef, Sandbox: s})
			}
		}
	}
	return all, err
}

func (r *faulty) ListContainers(ctx context.Context, uid pleg.UID) (all []*pleg.ListedContainer, err error) {
	err = r.asked(ctx, call.ListContainers, string(uid))
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.seenOf {
		for _, c := range p.Containers {
			if r.flipped[c.ID] {
				c.State = pleg.Exited
			}
			if uid == "" || uid == p.UID {
				all = append(all, &pleg.ListedContainer{Pod: p.PodRef, Container: c})
			}
		}
	}
	return all, err
}

func (r *faulty) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	err := r.asked(ctx, call.PodSandboxStatus, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.seenOf {
		for _, s := range p.Sandboxes {
			if s.ID == id {
				return pleg.SandboxStatus{ID: id, Pod: p.PodRef, State: s.State, CreatedAt: s.CreatedAt, IPs: []string{"10.0.0.1"}}, err
			}
		}
	}
	return pleg.SandboxStatus{}, &call.Error{Op: call.PodSandboxStatus, Kind: call.ErrNotFound, Code: "NotFound", Text: "gone"}
}

func (r *faulty) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	err := r.asked(ctx, call.ContainerStatus, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.seenOf {
		for _, c := range p.Containers {
			if c.ID == id {
				st := pleg.ContainerStatus{ID: id, Name: c.Name, State: c.State, CreatedAt: c.CreatedAt, StartedAt: c.CreatedAt}
				if r.flipped[id] {
					st.State, st.FinishedAt, st.Reason = pleg.Exited, c.CreatedAt, "Completed"
				}
				return st, err
			}
		}
	}
	return pleg.ContainerStatus{}, &call.Error{Op: call.ContainerStatus, Kind: call.ErrNotFound, Code: "NotFound", Text: "gone"}
}

func (*faulty) Raw(context.Context, call.Operation, string) ([]byte, error) { return nil, nil }

// A fault is switched on, and then off or to another fault.
type fault struct {
	name    string
	on, off func(r *faulty)
	rare    bool   // only Status tells, or a look at the node
	next    string // the pod that has one when this is over
}

func hangsAt(which func(op call.Operation, id string) bool) func(r *faulty) {
	return func(r *faulty) {
		r.wrong = func(op call.Operation, id string) error {
			if which(op, id) {
				return errHangs
			}
			return nil
		}
	}
}

// touch lets a pod be inspected.
func touch(n int, then func(r *faulty)) func(r *faulty) {
	return func(r *faulty) {
		r.flipped[fmt.Sprintf("container-%d-0", n)] = !r.flipped[fmt.Sprintf("container-%d-0", n)]
		if then != nil {
			then(r)
		}
	}
}

func well(r *faulty) { r.wrong, r.notReady, r.stuck = nil, false, "" }

func faults() []fault {
	of := func(op call.Operation, id string) func(call.Operation, string) bool {
		return func(o call.Operation, i string) bool { return o == op && (id == "" || i == id) }
	}
	fails := func(which func(op call.Operation, id string) bool, kind call.Kind, code string) func(r *faulty) {
		return func(r *faulty) {
			r.wrong = func(op call.Operation, id string) error {
				if which(op, id) {
					return &call.Error{Op: op, Kind: kind, Code: code, Text: "broken"}
				}
				return nil
			}
		}
	}
	one, any := of(call.ContainerStatus, "container-1-0"), func(call.Operation, string) bool { return true }
	return []fault{
		{"one container hangs", touch(1, hangsAt(one)), well, false, ""},
		{"one hangs in the kernel", touch(1, func(r *faulty) { hangsAt(one)(r); r.stuck = "container-1-1" }), well, false, ""},
		{"one is in the kernel", func(r *faulty) { r.stuck = "container-1-1" }, well, true, ""},
		{"list hangs", hangsAt(of(call.ListContainers, "")), well, false, ""},
		{"list and container hang", touch(1, hangsAt(func(o call.Operation, id string) bool { return o == call.ListContainers || one(o, id) })), well, false, ""},
		{"Status hangs", hangsAt(of(call.Status, "")), well, false, ""},
		{"all hangs", hangsAt(any), well, false, ""},
		{"all objects hang", touch(1, hangsAt(func(o call.Operation, _ string) bool { return o.AboutObject() })), well, false, ""},
		{"down", fails(any, call.ErrUnavailable, "Unavailable"), well, false, ""},
		{"list fails", fails(of(call.ListContainers, ""), call.ErrOther, "Unknown"), well, false, ""},
		{"failing inspection", touch(1, fails(one, call.ErrOther, "Unknown")), well, false, ""},
		{"no network", func(r *faulty) { r.notReady = true }, well, true, ""},
		{"moves", touch(1, hangsAt(one)), touch(2, hangsAt(of(call.ContainerStatus, "container-2-0"))), false, "pod-00002"},
		{"removed", touch(1, hangsAt(one)), func(r *faulty) { well(r); r.gone = "pod-00001" }, false, ""},
		{"removed from the kernel", func(r *faulty) { r.stuck = "container-1-1" }, func(r *faulty) { well(r); r.gone = "pod-00001" }, false, ""},
	}
}

// A telling is what is shown at one moment after the end of a fault.
type telling struct {
	at time.Duration
	Update
}

// tell runs a live engine during a fault and for half a minute after it, and returns what is shown from the end of the
// fault on.
func (f *fault) tell(t *testing.T, lasts time.Duration) (said []telling) {
	began := time.Now()
	n := &node{Snapshot: *healthy(5).after(began.Sub(now)).Snapshot}
	r := &faulty{lists: *n, flipped: map[string]bool{}, changed: make(chan struct{})}
	e, err := engine.New(engine.Config{Runtime: r, Look: r.look})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	live := NewLive(e.Feed(), "unix://"+ourSocket)
	end := began.Add(20*time.Second + lasts)
	running.Go(func() {
		for u, err := live.Next(ctx); err == nil; u, err = live.Next(ctx) {
			if at := u.Snapshot.At.Sub(end); at > 0 {
				said = append(said, telling{at, u})
			} else if at < 0 && at > -time.Second && len(u.Findings) == 0 {
				t.Errorf("%s for %v: nothing is found", f.name, lasts)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	time.Sleep(20 * time.Second)
	r.set(func() { f.on(r) })
	time.Sleep(lasts)
	r.set(func() { f.off(r) })
	time.Sleep(30 * time.Second)
	cancel()
	running.Wait()
	return said
}

// look shows the processes of the pods that exist.
func (r *faulty) look(context.Context, engine.Looking) (*evidence.Report, error) {
	time.Sleep(50 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.lists
	all.Pods = slices.DeleteFunc(slices.Clone(all.Pods), func(p *engine.Pod) bool { return p.Name == r.gone })
	report := looked(&all)
	report.At, report.Took, report.Kubelet = time.Now(), 50*time.Millisecond, evidence.Kubelet{}
	if stuck := report.Processes.Containers[r.stuck]; len(stuck) > 0 {
		stuck[0].State, stuck[0].For, stuck[0].Wchan = evidence.Uninterrupted, 20*time.Second, "rpc_wait_bit_killable"
	}
	for id, ended := range r.flipped {
		if ended {
			delete(report.Processes.Containers, id)
		}
	}
	return report, nil
}

// When a fault is over, nothing about it is left: on the screen after two seconds, or after the next answer if only
// Status or a look at the node shows it, and in reports after five. A call that does not hang any more is not named
// beside one that hangs now, and nothing is shown about a pod that has been removed.
func TestQuietAfterAFault(t *testing.T) {
	for _, f := range faults() {
		for _, lasts := range []time.Duration{8 * time.Second, 11 * time.Second, 22 * time.Second, 53 * time.Second, 150 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				for _, s := range f.tell(t, lasts) {
					f.quiet(t, lasts, s)
				}
			})
		}
	}
}

// moved reports whether a finding is about what is wrong when the fault is over.
func (f *fault) moved(one Finding) bool { return f.next != "" && one.Subject.Pod.Name == f.next }

// quiet checks that what is shown some time after a fault is not about it.
func (f *fault) quiet(t *testing.T, lasted time.Duration, s telling) {
	screen, told := 2*time.Second, 5*time.Second+second/4
	if f.rare {
		screen = 5*time.Second + second/4
	}
	for _, one := range s.Findings {
		if s.at > screen && !f.moved(one) {
			t.Errorf("%s for %v: %v later on the screen: %s", f.name, lasted, s.at, one.Summary)
		}
	}
	for _, turn := range s.Turns {
		if ruleOf(turn.Finding.ID).Turns { // the second good Status ends it
			told = screen + endStatusAfter
		}
		if !f.moved(turn.Finding) && (s.at > told || turn.Kind == Began) {
			t.Errorf("%s for %v: %v later: %v %s", f.name, lasted, s.at, turn.Kind, turn.Finding.Summary)
		}
	}
	if yetToPost := s.Headline.Word == "NOT READY" && s.Headline.Severity == Warning; s.at > screen && !s.Headline.Sound() && !yetToPost && f.next == "" {
		t.Errorf("%s for %v: %v later: %+v", f.name, lasted, s.at, s.Headline)
	}
}

// The same holds for the store that a finding is about, whatever is seen of the other store.
func TestALookThatDoesNotSeeAStore(t *testing.T) {
	var all []engine.Update
	for at := range 20 {
		n := healthy(5)
		n.Evidence = looked(n)
		n.Evidence.At = now
		if n.Evidence.State = n.Evidence.Disk; at < 5 {
			n.Evidence.State.Free, n.Evidence.State.Left = 0, 0
		} else {
			n.Evidence.State = evidence.Disk{Missing: "no answer for 2s"}
		}
		all = append(all, n.after(time.Duration(at)*second))
	}
	if got, want := turns(play(t, all...)), "0s began critical disk-full\n17s ended critical disk-full\n"; got != want {
		t.Errorf("turns\n%swant\n%s", got, want)
	}
}

// A thing that a look has not seen at all may still be as it was: a stuck process is not over because one look came too
// late to read the processes. It is over when the next look sees it well, or after two looks that saw nothing.
func TestLookThatSeesNothing(t *testing.T) {
	node := func(d time.Duration, look string) engine.Update {
		n := healthy(5)
		r := looked(n)
		r.At = now
		shim := shimOf(r, 1)
		switch look {
		case "stuck":
			shim.State, shim.For, shim.Wchan = evidence.Uninterrupted, time.Minute, "umount"
		case "nothing":
			r.Processes = evidence.Processes{Missing: "no answer within 2s"}
		}
		n.Evidence = r
		return n.after(d)
	}
	for _, tt := range []struct{ second, third, want string }{
		{"nothing", "stuck", ""},
		{"nothing", "well", "10s ended critical process-stuck\n"},
		{"well", "well", "5s ended critical process-stuck\n"},
		{"nothing", "nothing", "17s ended critical process-stuck\n"},
	} {
		var all []engine.Update
		for at := range 20 {
			look := "stuck"
			switch {
			case at >= 10:
				look = tt.third
			case at >= 5:
				look = tt.second
			}
			all = append(all, node(time.Duration(at)*second, look))
		}
		said := play(t, all...)
		if got := turns(said); got != "0s began critical process-stuck\n"+tt.want {
			t.Errorf("%s, then %s:\n%s", tt.second, tt.third, got)
		}
		if shown := len(said[8].Findings) > 0; shown != (tt.second == "nothing") {
			t.Errorf("%s: is it shown after 8 s? %v", tt.second, shown)
		}
	}
}
