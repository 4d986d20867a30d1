package pleg

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A node plays a trace's runtime and drives the core as a kubelet would.
type node struct {
	clock
	core      *Core
	pods      []tracePod
	uids      map[UID]bool // all that ever came up
	inspected []UID
}

func newNode(release Release, trace kubeletTrace) (*node, error) {
	capacity := trace.Config.Capacity
	if capacity == 0 {
		capacity = NoCapacity
	}
	core, err := New(Config{
		Release:   release,
		Capacity:  capacity,
		Threshold: time.Duration(trace.Config.Threshold) * time.Millisecond,
	})
	return &node{clock: clock{start: time.UnixMilli(trace.Config.Start)}, core: core, uids: map[UID]bool{}}, err
}

func (n *node) play(in stepIn) (stepOut, error) {
	n.advance(in.Advance)
	if in.Pods != nil {
		n.pods = *in.Pods
	}
	for _, p := range n.pods {
		n.uids[p.ID] = true
	}
	for _, uid := range in.Reinspect {
		n.uids[uid] = true
		n.core.RequestReinspect(uid)
	}
	before := maps.Clone(n.core.Cache().entries)
	n.inspected = nil
	observed, err := n.operate(in)
	if err != nil {
		return stepOut{}, err
	}
	out := n.outcome(before)
	out.Observed = observed
	if !in.NoDrain {
		n.core.Drain()
	}
	return out, nil
}

// operate returns the times at which pods were observed; -1 for a pod that the
// cache does not hold.
func (n *node) operate(in stepIn) (map[UID]int64, error) {
	at := n.now()
	switch in.Op {
	case "none":
		return nil, nil
	case "relist":
		n.advance(in.ListTook)
		if in.ListErr != "" {
			return nil, nil
		}
		if err := n.core.Begin(at, listed(at, n.pods...)); err != nil {
			return nil, err
		}
		return nil, n.inspect(in)
	case "relist_pod":
		i := n.find(in.Target)
		if in.PodErr != "" || i < 0 {
			return nil, nil
		}
		if err := n.core.BeginPod(at, listed(at, n.pods[i])[0]); err != nil {
			return nil, err
		}
		if err := n.inspect(in); err != nil {
			return nil, err
		}
		e, _ := n.core.Cache().Entry(in.Target)
		return map[UID]int64{in.Target: n.offsetOrNever(e.Observed)}, nil
	default:
		return nil, fmt.Errorf("operation %q is not known", in.Op)
	}
}

func (n *node) inspect(in stepIn) error {
	for next, ok := n.core.Next(); ok; next, ok = n.core.Next() {
		uid, at := next.Pod.UID, n.now()
		n.inspected = append(n.inspected, uid)
		n.advance(in.Took[uid])
		var st *PodStatus
		var err error
		if text, fails := in.Errors[uid]; fails {
			err = errors.New(text)
		} else {
			st = n.status(in, uid)
		}
		if err := n.core.Settle(uid, at, st, err); err != nil {
			return err
		}
	}
	return n.core.End()
}

// find returns the place of a pod, the first of its UID: GetPodStatus and
// GetPod of the recording look no further.
func (n *node) find(uid UID) int {
	return slices.IndexFunc(n.pods, func(p tracePod) bool { return p.ID == uid })
}

// status is what the trace's runtime answers: the view if there is one, else
// the pod as it is, else an empty status.
func (n *node) status(in stepIn, uid UID) *PodStatus {
	p, ok := in.Views[uid]
	if i := n.find(uid); !ok && i >= 0 {
		p = n.pods[i]
	}
	st := &PodStatus{PodRef: PodRef{UID: uid, Namespace: p.NS, Name: p.Name}, IPs: p.IPs}
	for _, s := range p.SB {
		id, state, _ := strings.Cut(s, "|")
		ready := Exited
		if state == "running" {
			ready = Running
		}
		st.Sandboxes = append(st.Sandboxes, SandboxStatus{ID: id, State: ready})
	}
	for _, s := range p.CT {
		f := strings.Split(s, "|")
		code, _ := strconv.Atoi(f[3])
		st.Containers = append(st.Containers, ContainerStatus{ID: f[0], Name: f[1], State: stateNamed(f[2]), ExitCode: int32(code)})
	}
	return st
}

func listed(at time.Time, pods ...tracePod) []Pod {
	list := make([]Pod, len(pods))
	for i, p := range pods {
		list[i] = Pod{PodRef: PodRef{UID: p.ID, Namespace: p.NS, Name: p.Name}, ListedAt: at}
		for _, s := range p.SB {
			id, state, _ := strings.Cut(s, "|")
			list[i].Sandboxes = append(list[i].Sandboxes, Sandbox{ID: id, State: stateNamed(state)})
		}
		for _, s := range p.CT {
			f := strings.Split(s, "|")
			list[i].Containers = append(list[i].Containers, Container{ID: f[0], Name: f[1], State: stateNamed(f[2])})
		}
	}
	return list
}

func stateNamed(name string) State {
	return State(max(slices.Index(stateNames[:], name), 0))
}
