package pleg

import (
	"fmt"
	"maps"
	"slices"
)

func (n *node) outcome(before map[UID]Entry) stepOut {
	out := stepOut{
		ChannelLen:        n.core.Len(),
		Events:            []traceEvent{},
		Inspected:         slices.AppendSeq([]UID{}, slices.Values(n.inspected)),
		Reinspect:         []UID{},
		Cache:             n.written(before),
		CacheTime:         n.offsetOrNever(n.core.Cache().Time),
		Records:           map[UID]string{},
		RelistTime:        n.offsetOrNever(n.core.ListedAt()),
		Now:               n.ms,
		Healthy:           true,
		RunningPods:       n.core.state.Gauges.RunningPods,
		RunningContainers: map[string]int{},
	}
	slices.Sort(out.Inspected)
	n.report(&out, n.core.Released())
	for _, uid := range slices.Sorted(maps.Keys(n.uids)) {
		if n.core.reinspecting(uid) {
			out.Reinspect = append(out.Reinspect, uid)
		}
	}
	for uid, r := range n.core.Records() {
		out.Records[uid] = recordText(r)
	}
	if err := n.core.Healthy(n.now()); err != nil {
		out.Healthy, out.HealthError = false, err.Error()
	}
	for s, count := range n.core.state.Gauges.Containers {
		if count > 0 {
			out.RunningContainers[State(s).String()] = count
		}
	}
	return out
}

func (n *node) report(out *stepOut, events []Event) {
	for _, e := range events {
		event := traceEvent{e.Pod.UID, e.Kind.String(), e.ID}
		if e.Delivery != Filtered {
			out.Events = append(out.Events, event)
		}
		switch e.Delivery {
		case Delivered:
			out.Accepted++
			out.AcceptedEvents = append(out.AcceptedEvents, event)
		case Discarded:
			out.Discarded++
		}
	}
}

func recordText(r Record) string {
	text := ""
	if r.Old != nil {
		text += "o"
	}
	if r.Current != nil {
		text += "c"
	}
	return text
}

// written returns the cache entries that are not what they were before; nil
// stands for one that went.
func (n *node) written(before map[UID]Entry) map[UID]*traceEntry {
	written := map[UID]*traceEntry{}
	for uid := range before {
		if _, ok := n.core.Cache().Entry(uid); !ok {
			written[uid] = nil
		}
	}
	for uid, e := range n.core.Cache().Entries {
		was, ok := before[uid]
		if !ok || was.Status != e.Status {
			written[uid] = n.entry(e)
		}
	}
	return written
}

func (n *node) cache() map[UID]*traceEntry {
	all := map[UID]*traceEntry{}
	for uid, e := range n.core.Cache().Entries {
		all[uid] = n.entry(e)
	}
	return all
}

func (n *node) entry(e Entry) *traceEntry {
	t := &traceEntry{Mod: n.offset(e.Modified), Err: e.Err}
	if e.Status == nil {
		return t
	}
	t.IPs = e.Status.IPs
	for _, s := range e.Status.Sandboxes {
		ready := map[bool]string{true: "ready", false: "notready"}[s.State == Running]
		t.SB = append(t.SB, s.ID+"|"+ready)
	}
	for _, c := range e.Status.Containers {
		t.CT = append(t.CT, fmt.Sprintf("%s|%s|%v|%d", c.ID, c.Name, c.State, c.ExitCode))
	}
	return t
}
