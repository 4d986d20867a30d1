package diagnose

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// chaos builds snapshots that no engine would build, out of parts that an engine could build.
type chaos struct{ *rand.Rand }

func (c chaos) maybe() bool { return c.IntN(3) == 0 }

func (c chaos) text() string {
	all := []string{"", "app", "\x1b[2J", "a\nb", "\xff\xfe", "--help", "ns", "pod", "x y", "\u202e"}
	return all[c.IntN(len(all))]
}

func (c chaos) span() time.Duration {
	return []time.Duration{0, 1, time.Millisecond, time.Second, 2 * time.Second, time.Minute, 5 * time.Minute, 1000 * time.Hour, -time.Second}[c.IntN(9)]
}

func (c chaos) time() time.Time {
	if c.maybe() {
		return time.Time{}
	}
	return ago(c.span())
}

func (c chaos) op() call.Operation { return call.Operation(c.IntN(9)) }

func (c chaos) err() error {
	kinds := []call.Kind{call.ErrUnavailable, call.ErrPermission, call.ErrDeadline, call.ErrNotFound, call.ErrTooLarge, call.ErrOther, call.ErrCanceled}
	switch n := c.IntN(len(kinds) + 1); {
	case n == 0:
		return nil
	case c.maybe():
		return kinds[n-1]
	default:
		kind := kinds[n-1]
		return fmt.Errorf("inspect container %s of pod x: %w", c.text(), failure(c.op(), kind, c.text()))
	}
}

func (c chaos) ref() pleg.PodRef {
	return pleg.PodRef{UID: pleg.UID(c.text()), Namespace: c.text(), Name: c.text()}
}

func (c chaos) flight() call.Flight {
	return call.Flight{By: call.Asker(c.IntN(6)), Op: c.op(), Pod: c.ref(), Container: c.text(), ID: c.text(), Since: c.time()}
}

func (c chaos) failure() *answers.Failure {
	err := c.err()
	if err == nil {
		return nil
	}
	return &answers.Failure{Flight: c.flight(), Err: err, At: c.time(), First: c.time(), InRow: c.IntN(9)}
}

func (c chaos) listed() *pleg.Pod {
	if c.maybe() {
		return nil
	}
	p := &pleg.Pod{PodRef: c.ref()}
	for range c.IntN(3) {
		p.Sandboxes = append(p.Sandboxes, pleg.Sandbox{ID: c.text(), State: pleg.State(c.IntN(6)), CreatedAt: c.time()})
		p.Containers = append(p.Containers, pleg.Container{ID: c.text(), Name: c.text(), State: pleg.State(c.IntN(6)), CreatedAt: c.time(), SandboxID: c.text()})
	}
	return p
}

func (c chaos) pod() *engine.Pod {
	p := &engine.Pod{PodRef: c.ref(), Old: c.listed(), Current: c.listed(), StatusErr: c.err(), InspectedAt: c.time(), InspectLast: c.span(), Failure: c.failure()}
	if c.maybe() {
		p.Status = &pleg.PodStatus{PodRef: p.PodRef, Containers: []pleg.ContainerStatus{{ID: c.text(), State: pleg.State(c.IntN(6)), StartedAt: c.time(), FinishedAt: c.time()}}}
	}
	return p
}

func (c chaos) swept() (all []answers.Outcome) {
	for range c.IntN(12) {
		all = append(all, answers.Outcome{Flight: c.flight(), Took: c.span(), Err: c.err()})
	}
	return all
}

func (c chaos) sweep() *answers.Sweep {
	if c.maybe() {
		return nil
	}
	return &answers.Sweep{Began: c.time(), Ended: c.time(), Timeout: c.span(), Total: c.IntN(100), Done: c.IntN(100), Serial: c.span(), Hung: c.swept(), Failed: c.swept(), Flaky: c.IntN(3), Slowest: c.swept(), Refused: c.text()}
}

func (c chaos) processes() (all []evidence.Process) {
	for range c.IntN(4) {
		all = append(all, evidence.Process{PID: c.IntN(9), Command: c.text(), State: evidence.State(c.IntN(128)), For: c.span(), Age: c.span(), Wchan: c.text(), Container: c.text(), Sandbox: c.text(), Socket: c.text(), Own: c.IntN(2) == 0})
	}
	return all
}

func (c chaos) report() *evidence.Report {
	if c.maybe() {
		return nil
	}
	r := &evidence.Report{At: c.time()}
	r.Processes = evidence.Processes{Shims: c.processes(), Helpers: c.processes(), Daemons: c.processes(), Containers: map[string][]evidence.Process{c.text(): c.processes()}}
	r.Usage = []evidence.Usage{{Name: "containerd", CPU: evidence.Cores(c.Float64())}}
	r.Kubelet.StillFor, r.Kubelet.LastSeen = c.span(), c.time()
	return r
}

func (c chaos) snapshot() *engine.Snapshot {
	s := &engine.Snapshot{
		At: now, Started: c.time(), Threshold: c.span(), Timeout: c.span(), Paused: c.maybe(), PodFailure: c.failure(),
		Table:  answers.Table{Failure: c.failure(), StatusErr: c.failure(), VersionErr: c.failure(), Sweep: c.sweep()},
		Health: kubelet.Health{Healthy: c.maybe(), Verdict: c.text(), ListedAt: c.time(), SettledAt: c.time(), Since: c.time(), Flips: c.IntN(5)},
		Phase:  engine.Phase{Step: engine.Step(c.IntN(6)), Began: c.time(), ListTook: c.span(), Done: c.IntN(400), Total: c.IntN(400), OnDemand: c.maybe()},
		Node:   kubelet.Node{Ready: c.maybe(), Known: c.maybe(), DownAt: c.time(), Message: c.text()},
	}
	s.Version.RuntimeName = c.text()
	for range c.IntN(20) {
		s.Pods = append(s.Pods, c.pod())
	}
	for range c.IntN(6) {
		s.InFlight = append(s.InFlight, c.flight())
		s.Probes = append(s.Probes, answers.Outcome{Flight: c.flight(), At: c.time(), Took: c.span(), Err: c.err()})
		s.Relists.History = append(s.Relists.History, engine.Relist{At: c.time(), Took: c.span(), List: c.span(), Inspected: c.IntN(300), Failed: c.maybe()})
		s.Conditions = append(s.Conditions, pleg.Condition{Type: c.text(), Status: c.maybe(), Reason: c.text(), Message: c.text()})
	}
	s.Relists.Count = uint64(c.IntN(9))
	for range c.IntN(8) {
		s.Calls = append(s.Calls, answers.Calls{
			Op: c.op(), Count: uint64(c.IntN(50)), P50: c.span(), P90: c.span(), P99: c.span(), Max: c.span(), LastOK: c.time(), LastErr: c.err(), LastErrAt: c.time(),
			LastResponseBytes: uint64(c.IntN(20 << 20)), ByCode: []answers.CodeCount{{Code: "Unavailable", Count: uint64(c.IntN(4))}},
		})
	}
	return s
}

// FuzzDiagnose checks that no snapshot makes a diagnosis panic, that equal snapshots give equal findings, and that
// these are in order and whole.
func FuzzDiagnose(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := chaos{rand.New(rand.NewPCG(seed, 1))}
		w := newWitness()
		for range c.IntN(4) {
			w.Add(engine.Update{Snapshot: c.snapshot()})
		}
		in := Input{Snapshot: c.snapshot(), Evidence: c.report(), Endpoint: c.text()}
		if c.maybe() {
			_ = in
		}
		in.Snapshot.Memory = w.Read()
		found := Diagnose(in)
		if diff := cmp.Diff(found, Diagnose(in), cmp.AllowUnexported(Step{}, Link{})); diff != "" {
			t.Errorf("the same input gives other findings:\n%s", diff)
		}
		whole(t, found)
	})
}

// FuzzLive checks, whatever an engine shows: each finding that begins ends once, nothing is there twice, and a node
// whose last list failed is never called healthy.
func FuzzLive(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := chaos{rand.New(rand.NewPCG(seed, 2))}
		var all []engine.Update
		at := now
		for range 30 {
			s := c.snapshot()
			if len(all) > 0 && !c.maybe() {
				again := *all[len(all)-1].Snapshot
				s = &again
			}
			at = at.Add(time.Duration(1+c.IntN(3000)) * time.Millisecond)
			s.At = at
			all = append(all, engine.Update{Snapshot: s})
		}
		begun := make(map[Key]bool)
		for _, u := range play(t, all...) {
			for _, turn := range u.Turns {
				key := turn.Finding.Key()
				if begun[key] != (turn.Kind != Began) {
					t.Fatalf("%v %v, begun before: %t", turn.Kind, key, begun[key])
				}
				begun[key] = turn.Kind != Over
			}
			there := make(map[Key]bool)
			for _, f := range u.Findings {
				if there[f.Key()] || !begun[f.Key()] {
					t.Fatalf("%v is there twice, or has not begun", f.Key())
				}
				there[f.Key()] = true
			}
			switch h, s := u.Headline, u.Snapshot; {
			case !isHeadWord(h.Word) || h.Clock.In < 0:
				t.Fatalf("headline %+v", h)
			case s.Paused != (h.Word == "PAUSED"), h.Word == "HEALTHY" && (s.Failure != nil || s.Health.ListedAt.IsZero() || !s.Health.Healthy || h.Severity != Info):
				t.Fatalf("headline %+v of %+v, failure %v", h, s.Health, s.Failure)
			}
		}
	})
}

func whole(t *testing.T, found []Finding) {
	t.Helper()
	effects := false
	for _, f := range found {
		if f.Summary == "" || f.ID == "" {
			t.Errorf("half a finding: %+v", f)
		}
		if f.Cause != "" && !has(found, f.Cause) {
			t.Errorf("%s is blamed on %s, which is not there", f.ID, f.Cause)
		}
		if effects && f.Cause == "" {
			t.Errorf("the cause %s comes after an effect", f.ID)
		}
		effects = effects || f.Cause != ""
		if f.act() == (Step{}) {
			t.Errorf("%s: %s: nothing to do of %q", f.ID, f.Summary, f.Next)
		}
		risky := false
		for _, s := range f.Next {
			if risky && s.Looks() {
				t.Errorf("%s: a look after a step that may do harm: %v", f.ID, s)
			}
			risky = risky || s.acts() && s.Risky()
		}
	}
}

// failAt makes an inspection of the pod at this place fail.
func (n *node) failAt(place int, f *answers.Failure) {
	failing := *n.Pods[place]
	failing.Failure, failing.StatusErr = f, f.Err
	n.Pods[place] = &failing
}

func diagnoseAgain(b *testing.B, n *node) {
	n.Objects = engine.ObjectsOf(n.Pods) // as an engine hands on
	in := n.input()
	b.ReportAllocs()
	for b.Loop() {
		Diagnose(in)
	}
}

// BenchmarkManyFail measures the cost on a node of 10,000 containers, each in its own pod, whose inspections all fail,
// in ways that are not alike.
func BenchmarkManyFail(b *testing.B) {
	for _, sets := range []int{1, 3000} {
		b.Run(fmt.Sprint(sets, "_deployments"), func(b *testing.B) {
			n := healthy(10_000)
			for i, p := range n.Pods {
				f := &answers.Failure{Flight: call.Flight{Op: call.ContainerStatus, Pod: p.PodRef, Container: "app", ID: "c"}, At: ago(time.Second), First: ago(time.Minute), InRow: 9}
				f.Pod.Name = fmt.Sprintf("api-%d-7d9f8b6c5d-%s", i%sets, hash(i))
				f.Err = &call.Error{Op: f.Op, Kind: call.ErrOther, Code: fmt.Sprint("Code", i%sets), Text: "broken"}
				n.failAt(i, f)
			}
			diagnoseAgain(b, n)
		})
	}
}

// BenchmarkManyHang measures the same if the deadline ends all of them.
func BenchmarkManyHang(b *testing.B) {
	for _, n := range []*node{healthy(10_000), checked(10_000)} {
		b.Run(fmt.Sprintf("once_%t", n.Policy.Once), func(b *testing.B) {
			for i, p := range n.Pods {
				c := &p.Old.Containers[0]
				f := &answers.Failure{Flight: call.Flight{Op: call.ContainerStatus, Pod: p.PodRef, Container: c.Name, ID: c.ID, Since: ago(3 * time.Second)}, At: ago(time.Second), First: ago(time.Minute), InRow: 9}
				f.Err = failure(f.Op, call.ErrDeadline, tooLate)
				n.failAt(i, f)
			}
			diagnoseAgain(b, n)
		})
	}
}

// BenchmarkManyCrash measures the same if all containers crash, in ways that are not alike.
func BenchmarkManyCrash(b *testing.B) {
	for _, sets := range []int{1, 3000} {
		b.Run(fmt.Sprint(sets, "_deployments"), func(b *testing.B) {
			n := healthy(10_000)
			for i := range n.Pods {
				n.crashes(i, fmt.Sprintf("api-%d-7d9f8b6c5d-%s", i%sets, hash(i)), uint32(4+i%7), int32(1+i%sets%250))
			}
			diagnoseAgain(b, n)
		})
	}
}

// BenchmarkUpdate measures the cost of an update in which nothing has changed, on a node with 1,000 pods of three
// containers.
func BenchmarkUpdate(b *testing.B) {
	n := healthy(1000)
	look := looked(n)
	for _, p := range n.Pods {
		third, status := p.Old.Containers[1], p.Status.Containers[1]
		third.ID, third.Name, status.ID, status.Name = third.ID+"-3", "third", status.ID+"-3", "third"
		p.Old.Containers, p.Status.Containers = append(p.Old.Containers, third), append(p.Status.Containers, status)
		look.Processes.Containers[third.ID] = look.Processes.Containers[p.Old.Containers[1].ID]
	}
	n.Counts.Containers = 3000
	for _, report := range []*evidence.Report{nil, look} {
		b.Run(fmt.Sprintf("evidence_%t", report != nil), func(b *testing.B) {
			n.Evidence = report
			live := NewLive(unchanged{&n.Snapshot}, "")
			b.ReportAllocs()
			for b.Loop() {
				if u, err := live.Next(b.Context()); err != nil || !u.Headline.Sound() {
					b.Fatal(u.Headline, err)
				}
			}
		})
	}
}

type unchanged struct{ *engine.Snapshot }

func (u unchanged) Next(context.Context) (engine.Update, error) {
	return engine.Update{Snapshot: u.Snapshot}, nil
}

// BenchmarkDiagnose is the cost that the screen pays ten times a second, on a
// healthy node with 1,000 pods of two containers, and with one that hangs.
func BenchmarkDiagnose(b *testing.B) {
	for _, bb := range []struct {
		name string
		node *node
	}{
		{"healthy", healthy(1000)},
		{"check", checked(1000)},
		{"hung", healthy(1000).hangOn(3, "app", 47*time.Second).probesAnswered()},
	} {
		b.Run(bb.name, func(b *testing.B) {
			diagnoseAgain(b, bb.node)
		})
	}
}
