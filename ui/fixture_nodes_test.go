package ui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// Times of day are drawn as the clock on the wall shows them: in goldens as at
// Greenwich.
func init() { time.Local = time.UTC }

// Noon is the time of all fixtures.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Ago returns a moment before noon.
func Ago(d time.Duration) time.Time { return Noon.Add(-d) }

// ctr describes a container of a fixture: its name, state, restarts and, if it
// has ended, its exit code.
type ctr struct {
	name     string
	state    pleg.State
	restarts uint32
	exit     int32
	reason   string
}

func pod(ns, name string, age time.Duration, ctrs ...ctr) *engine.Pod {
	uid := pleg.UID("uid-" + ns + "-" + name)
	ref := pleg.PodRef{UID: uid, Namespace: ns, Name: name}
	p := &pleg.Pod{PodRef: ref}
	st := &pleg.PodStatus{PodRef: ref, IPs: []string{"10.1.0.7"}}
	sandbox := pleg.Sandbox{ID: ID("sb", ns, name), State: pleg.Running, CreatedAt: Ago(age)}
	p.Sandboxes = []pleg.Sandbox{sandbox}
	st.Sandboxes = []pleg.SandboxStatus{{ID: sandbox.ID, Pod: ref, State: pleg.Running, CreatedAt: Ago(age), IPs: st.IPs}}
	for _, c := range ctrs {
		cid := ID(c.name, ns, name)
		made, image := Ago(age/time.Duration(c.restarts+1)), "registry.local/"+c.name+":v3"
		p.Containers = append(p.Containers, pleg.Container{ID: cid, Name: c.name, State: c.state, Attempt: c.restarts, CreatedAt: made, Image: image})
		status := pleg.ContainerStatus{ID: cid, Name: c.name, State: c.state, Attempt: c.restarts, Image: image, CreatedAt: made, ExitCode: c.exit, Reason: c.reason}
		if c.state != pleg.Created {
			status.StartedAt = made
		}
		if c.state == pleg.Exited {
			status.FinishedAt = Ago(30 * time.Second)
		}
		st.Containers = append(st.Containers, status)
	}
	return &engine.Pod{
		ListedAt: Ago(time.Second),
		PodRef:   ref, Old: p, Current: p, Status: st, StatusAt: Ago(time.Second),
		Inspected: 3, InspectedAt: Ago(40 * time.Second), InspectLast: 7 * time.Millisecond, InspectWorst: 23 * time.Millisecond,
	}
}

// ID makes an id of names, always the same.
func ID(parts ...string) string {
	h := uint64(14695981039346656037)
	for _, c := range fmt.Sprint(parts) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return fmt.Sprintf("%016x%016x", h, h*31)
}

func up(name string) ctr { return ctr{name: name, state: pleg.Running} }

// Healthy is a node on which little is wrong.
func Healthy() *engine.Snapshot {
	pods := []*engine.Pod{
		pod("kube-system", "coredns-6f6b679f8f-x7f2k", 12*24*time.Hour, up("coredns")),
		pod("kube-system", "kube-proxy-lx9d2", 12*24*time.Hour, up("kube-proxy")),
		pod("kube-system", "calico-node-8xk2p", 12*24*time.Hour, ctr{"install-cni", pleg.Exited, 0, 0, "Completed"}, up("calico-node")),
		pod("shop", "cart-7d9c5b7d4-2m4ns", 3*time.Hour, up("cart"), up("istio-proxy")),
		pod("shop", "checkout-5f7b8c6d9-kq7vz", 3*time.Hour, up("checkout"), up("istio-proxy")),
		pod("shop", "payments-6c8f9d7b5-t8wfx", 9*time.Minute, ctr{"payments", pleg.Exited, 4, 137, "OOMKilled"}, up("istio-proxy")),
		pod("batch", "report-29384710-7xkzq", 47*time.Second, ctr{"report", pleg.Exited, 0, 0, "Completed"}),
		pod("batch", "import-29384711-c5n2m", 12*time.Second, ctr{"import", pleg.Created, 0, 0, ""}),
		pod("default", "nfs-client", 26*time.Hour, up("app"), up("sidecar")),
		pod("monitoring", "node-exporter-9v6wq", 12*24*time.Hour, up("node-exporter")),
		pod("monitoring", "prometheus-0", 5*24*time.Hour, up("prometheus"), up("config-reloader"), up("thanos-sidecar")),
	}
	slices.SortFunc(pods, func(a, b *engine.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	s := &engine.Snapshot{
		Seq: 7, At: Noon, Started: Ago(time.Hour), Release: 36, Period: time.Second, Threshold: 3 * time.Minute, Timeout: 2 * time.Minute,
		Version: pleg.Version{RuntimeName: "containerd", RuntimeVersion: "2.4.1", APIVersion: "v1"},
		Health:  kubelet.Health{Healthy: true, ListedAt: Ago(700 * time.Millisecond), SettledAt: Ago(600 * time.Millisecond), Since: Ago(time.Hour)},
		Phase:   engine.Phase{Step: engine.Waiting, Began: Ago(700 * time.Millisecond)},
		Relists: engine.Relists{Count: 3412, Last: 14 * time.Millisecond, P50: 13 * time.Millisecond, P99: 88 * time.Millisecond, Max: 1200 * time.Millisecond, Interval: time.Second},
		Pods:    pods,
		Channel: engine.Channel{Capacity: 1000, Delivered: 214, Filtered: 31},
		Cost:    engine.Cost{CallsPerSecond: 2.3, BytesPerSecond: 48_123},
		Conditions: []pleg.Condition{
			{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true},
			{Type: "ContainerdHasNoDeprecationWarnings"}, // false on every cgroup v1 node: no alert
		},
	}
	for i := range 120 {
		took := 9*time.Millisecond + time.Duration(i*i%29)*time.Millisecond
		if i%37 == 5 {
			took = 400 * time.Millisecond
		}
		s.Relists.History = append(s.Relists.History, engine.Relist{At: Ago(time.Duration(120-i) * time.Second), Took: took, List: took * 2 / 3, Inspected: i % 3})
	}
	for i, op := range call.Operations()[:6] {
		s.Calls = append(s.Calls, answers.Calls{
			Op: op, Count: uint64(1+i) * 812, P50: time.Duration(1+i) * time.Millisecond, P90: time.Duration(2+i) * time.Millisecond,
			P99: time.Duration(9+i) * time.Millisecond, Max: time.Duration(90+i) * time.Millisecond, ResponseBytes: uint64(i+1) * 3 << 17, LastOK: Ago(700 * time.Millisecond),
		})
	}
	Count(s)
	return s
}

// Count counts what a snapshot holds.
func Count(s *engine.Snapshot) {
	c := engine.Counts{Pods: len(s.Pods)}
	for _, p := range s.Pods {
		c.Sandboxes += len(p.Seen().Sandboxes)
		c.Containers += len(p.Seen().Containers)
	}
	s.Counts = c
}

// Find returns the pod of that name.
func Find(s *engine.Snapshot, name string) *engine.Pod {
	i := slices.IndexFunc(s.Pods, func(p *engine.Pod) bool { return p.Name == name })
	return s.Pods[i]
}

// Happened is an event of a pod's container at one second.
func Happened(seq uint64, second int, kind pleg.Kind, p *engine.Pod, container string, from, to pleg.State) engine.Event {
	e := engine.Event{Seq: seq, SeenAt: Ago(time.Duration(60-second) * time.Second), Lag: 640 * time.Millisecond, HasLag: kind != pleg.Removed}
	e.Event = pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{Pod: p.PodRef, Container: container, ID: ID(container, p.Namespace, p.Name)}, From: from, To: to, At: e.SeenAt.Add(-14 * time.Millisecond)}
	if container == "" {
		e.Sandbox, e.ID = true, p.Seen().Sandboxes[0].ID
	}
	if kind == pleg.Changed {
		e.Delivery = pleg.Filtered
	}
	return e
}

// Events are the events of a few changes on the healthy node.
func Events(s *engine.Snapshot) []engine.Event {
	imp, pay, rep := Find(s, "import-29384711-c5n2m"), Find(s, "payments-6c8f9d7b5-t8wfx"), Find(s, "report-29384710-7xkzq")
	died := Happened(4, 30, pleg.Died, pay, "payments", pleg.Running, pleg.Exited)
	died.Exited, died.ExitCode, died.Reason = true, 137, "OOMKilled"
	done := Happened(5, 34, pleg.Died, rep, "report", pleg.Running, pleg.Exited)
	done.Exited, done.Reason = true, "Completed"
	lost := Happened(7, 50, pleg.Removed, rep, "old-report", pleg.Exited, pleg.Absent)
	lost.Delivery = pleg.Discarded
	all := []engine.Event{
		Happened(1, 13, pleg.Started, rep, "", pleg.Absent, pleg.Running),
		Happened(2, 14, pleg.Started, rep, "report", pleg.Absent, pleg.Running),
		Happened(3, 21, pleg.Started, pay, "payments", pleg.Created, pleg.Running),
		died, done,
		Happened(6, 49, pleg.Changed, imp, "import", pleg.Absent, pleg.Created),
		lost,
		Happened(8, 52, pleg.PodSync, imp, "", pleg.Absent, pleg.Absent),
	}
	pay.LastEvent, rep.LastEvent, imp.LastEvent = died, done, all[5]
	return all
}

var errRefused = &call.Error{Op: call.ListPodSandbox, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "connection refused"}

var errHung = fmt.Errorf("inspect: %w", errors.New("ContainerStatus: DeadlineExceeded: context deadline exceeded"))

// Big is a node with many pods of so many containers each.
func Big(pods, containers int) *engine.Snapshot {
	s := Healthy()
	s.Pods = nil
	ctrs := make([]ctr, containers)
	for i := range ctrs {
		ctrs[i] = up(fmt.Sprintf("container-%d", i))
	}
	for i := range pods {
		s.Pods = append(s.Pods, pod(fmt.Sprintf("namespace-%02d", i*20/pods), fmt.Sprintf("deployment-%04d-7d9c5b7d4-2m4ns", i), time.Duration(i+3)*time.Hour, ctrs...))
	}
	Count(s)
	return s
}

// Working gives a node's snapshot a worker for each of its pods that acts, one in each state,
// of which two are held up.
func Working(s *engine.Snapshot) *engine.Snapshot {
	all := podworker.Workers{Acting: true, Expecting: true}
	for i, p := range s.Pods {
		w := &podworker.Worker{
			Pod: p.PodRef, Since: Ago(time.Duration(7*i) * time.Second), WakeUps: uint64(3 + i*i%7), Syncs: uint64(4 + i*i%7), Saved: uint64(i % 4),
			Last: Happened(0, 0, pleg.Started, p, p.Seen().Containers[0].Name, pleg.Created, pleg.Running).Event, LastAt: Ago(time.Duration(11*i) * time.Second),
		}
		switch i {
		case 1:
			w.State, w.Since = podworker.Syncing, Ago(400*time.Millisecond)
		case 2:
			w.State, w.Since, w.After, w.Queued = podworker.WaitsForStatus, Ago(47*time.Second), Ago(47*time.Second), 2
		case 4:
			w.State, w.Since, w.Queued, w.Expired, w.Spared = podworker.WaitsForExpected, Ago(4*time.Second), 1, 1, true
			w.Expected = []podworker.Expectation{
				{Kind: pleg.Started, Container: "payments", Until: Noon.Add(26 * time.Second)},
				{Kind: pleg.Started, Until: Noon.Add(29 * time.Second)},
			}
		case 6:
			w.State, w.Since, w.After = podworker.WaitsForStatus, Ago(700*time.Millisecond), Ago(700*time.Millisecond)
		}
		all.WakeUps, all.Saved, all.Expired, all.Syncs = all.WakeUps+w.WakeUps, all.Saved+w.Saved, all.Expired+w.Expired, all.Syncs+w.Syncs
		all.All = append(all.All, w)
	}
	s.Workers = all
	return s
}
