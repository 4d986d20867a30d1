package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func hungNode() *engine.Snapshot {
	s := healthyNode()
	p := find(s, "nfs-client")
	s.Health.ListedAt, s.Health.SettledAt, s.Health.UnhealthyAt = ago(47*time.Second), ago(49*time.Second), noon.Add(133*time.Second)
	s.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(47 * time.Second), ListTook: 12 * time.Millisecond, Done: 3, Total: 17}
	s.InFlight = []engine.Flight{{Op: call.ContainerStatus, Pod: p.PodRef, Container: "app", ID: p.Current.Containers[0].ID, Since: ago(47 * time.Second)}}
	s.Calls[5].InFlight = 1
	return s
}

func unhealthyNode() *engine.Snapshot {
	s := hungNode()
	s.Health = engine.Health{
		Verdict:  "pleg was last seen active 3m12.481s ago; threshold is 3m0s",
		ListedAt: ago(192481 * time.Millisecond), SettledAt: ago(194 * time.Second), Since: ago(12 * time.Second), Flips: 3,
	}
	s.Phase.Began, s.InFlight[0].Since = ago(192*time.Second), ago(72*time.Second)
	p := find(s, "nfs-client")
	p.Status, p.StatusErr, p.Failure, p.Reinspect = nil, errHung, &engine.Failure{Err: errHung, InRow: 2, First: ago(100 * time.Second)}, true
	s.Calls[5].Errors, s.Calls[5].ByCode, s.Calls[5].LastErr, s.Calls[5].LastErrAt = 2, []engine.CodeCount{{Code: "DeadlineExceeded", Count: 2}}, errHung, ago(72*time.Second)
	s.Channel.Discarded, s.Channel.Len = 12, 1000
	s.Anomalies.NoMetadata = 3
	return s
}

func failingNode() *engine.Snapshot {
	s := healthyNode()
	s.Health.ListedAt, s.Health.SettledAt = ago(104*time.Second), ago(104*time.Second)
	s.Failure = &engine.Failure{Flight: engine.Flight{Op: call.ListPodSandbox}, Err: fmt.Errorf("list pods: %w", errRefused), At: ago(time.Second), First: ago(103 * time.Second), InRow: 101}
	s.StatusErr = &engine.Failure{Flight: engine.Flight{Op: call.Status}, Err: errRefused, At: ago(time.Second), First: ago(time.Second), InRow: 1}
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "cni plugin not initialized"}}
	s.Relists.Failed = 101
	for i := range 60 {
		s.Relists.History[60+i].Failed = true
	}
	s.Calls[2].Errors, s.Calls[2].ByCode, s.Calls[2].LastErr, s.Calls[2].LastErrAt = 101, []engine.CodeCount{{Code: "Unavailable", Count: 101}}, errRefused, ago(time.Second)
	return s
}

func renamed(s *engine.Snapshot, prefix string) *engine.Snapshot {
	for _, p := range s.Pods {
		p.Name = prefix + p.Name
	}
	return s
}

func withSweepOf(w *engine.Sweep) *engine.Snapshot {
	s := healthyNode()
	s.Sweep = w
	return s
}

const nasty = "a\x1b[31mX\x1b]0;own\x07\u009b2J\x9b3m\r\n\tb\u202Egnp\u200B\x7f\xff\u2066"

var long = nasty + strings.Repeat("日", 4000)

// hostileNode has hostile text in every field that a runtime fills.
func hostileNode() *engine.Snapshot {
	s := unhealthyNode()
	s.Version = pleg.Version{RuntimeName: nasty, RuntimeVersion: nasty, APIVersion: nasty}
	s.Health.Verdict = nasty
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: nasty, Message: long}}
	s.Failure = &engine.Failure{Flight: engine.Flight{Pod: pleg.PodRef{Name: nasty}, Container: nasty}, Err: &call.Error{Code: nasty, Text: long, Kind: call.ErrOther}, InRow: 3, First: ago(time.Minute)}
	for i, p := range s.Pods {
		p.PodRef = pleg.PodRef{UID: pleg.UID(fmt.Sprint(i, nasty)), Namespace: nasty, Name: nasty + p.Name}
		if i%2 == 1 {
			p.Name = long
		}
		for j := range p.Current.Containers {
			c := &p.Current.Containers[j]
			c.Name, c.Image, c.ID = nasty, long, fmt.Sprint(j, nasty)
		}
		for j := range p.Current.Sandboxes {
			p.Current.Sandboxes[j].ID = fmt.Sprint(j, "s", nasty)
		}
		if p.Status != nil {
			for j := range p.Status.Containers {
				st := &p.Status.Containers[j]
				st.ID, st.Name, st.Reason, st.Message, st.Image = fmt.Sprint(j, nasty), nasty, nasty, long, long
			}
			p.Status.IPs = []string{nasty}
		}
		if p.StatusErr != nil {
			p.StatusErr = &call.Error{Code: nasty, Text: long, Kind: call.ErrOther}
		}
		p.LastEvent.Pod, p.LastEvent.Container = p.PodRef, nasty
	}
	s.InFlight[0].Pod, s.InFlight[0].Container, s.InFlight[0].ID = s.Pods[0].PodRef, nasty, nasty
	for i := range s.Calls {
		s.Calls[i].ByCode = []engine.CodeCount{{Code: nasty, Count: 3}}
		s.Calls[i].Errors, s.Calls[i].LastErr = 3, s.Failure.Err
	}
	return s
}
