package pleg

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A node plays a trace's runtime and drives the core as a kubelet would.
type node struct {
	clock
	config    Config
	core      *Core
	restores  bool // after each step, the core is another one, restored from a checkpoint
	pods      []tracePod
	made      map[UID]*Pod // of pods: as listed last
	uids      map[UID]bool // all that ever came up
	inspected []UID
}

func newNode(release Release, trace kubeletTrace, restores bool) (*node, error) {
	config := Config{
		Release:   release,
		Capacity:  cmp.Or(trace.Config.Capacity, -1),
		Threshold: time.Duration(trace.Config.Threshold) * time.Millisecond,
	}
	core, err := New(config)
	return &node{
		clock: clock{start: time.UnixMilli(trace.Config.Start)}, config: config, core: core, restores: restores,
		uids: map[UID]bool{}, made: map[UID]*Pod{},
	}, err
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
	if err := n.restore(); err != nil {
		return stepOut{}, err
	}
	before := n.mark()
	n.inspected = nil
	observed, err := n.operate(in)
	if err != nil {
		return stepOut{}, err
	}
	out := n.outcome(before)
	out.Observed = observed
	if !in.NoDrain {
		n.core.drain()
	}
	return out, nil
}

// mark gives each entry of the cache a status, so that whatever is written in this step is another
// pointer, and returns the entries.
func (n *node) mark() map[UID]Entry {
	entries := n.core.Cache().Entries
	for uid, e := range entries {
		e.Status = cmp.Or(e.Status, new(PodStatus))
		entries[uid] = e
	}
	return maps.Clone(entries)
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
		if err := n.core.Begin(at, n.listed(n.pods...)); err != nil {
			return nil, err
		}
		return nil, n.inspect(in)
	case "relist_pod":
		i := n.find(in.Target)
		if in.PodErr != "" || i < 0 {
			return nil, nil
		}
		if err := n.core.BeginPod(at, n.listed(n.pods[i])[0]); err != nil {
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
	if err := n.restore(); err != nil {
		return err
	}
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
		if err := n.restore(); err != nil {
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

// listed returns pods as the assembler does: one that is as it was is the same pointer.
func (n *node) listed(pods ...tracePod) []*Pod {
	list := make([]*Pod, len(pods))
	for i, p := range pods {
		list[i] = listed(p)
		if old := n.made[p.ID]; reflect.DeepEqual(old, list[i]) {
			list[i] = old
		}
		n.made[p.ID] = list[i]
	}
	return list
}

func listed(p tracePod) *Pod {
	pod := &Pod{PodRef: PodRef{UID: p.ID, Namespace: p.NS, Name: p.Name}}
	for _, s := range p.SB {
		id, state, _ := strings.Cut(s, "|")
		pod.Sandboxes = append(pod.Sandboxes, Sandbox{ID: id, State: stateNamed(state)})
	}
	for _, s := range p.CT {
		f := strings.Split(s, "|")
		pod.Containers = append(pod.Containers, Container{ID: f[0], Name: f[1], State: stateNamed(f[2])})
	}
	return pod
}

func stateNamed(name string) State {
	return State(max(slices.Index(stateNames[:], name), 0))
}
