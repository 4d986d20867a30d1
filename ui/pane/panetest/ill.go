package panetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Hung is a node on which the status of a container has been out for 47 s.
func Hung() *engine.Snapshot {
	s := Healthy()
	p := Find(s, "nfs-client")
	s.Health.ListedAt, s.Health.SettledAt, s.Health.UnhealthyAt = Ago(47*time.Second), Ago(49*time.Second), Noon.Add(133*time.Second)
	s.Phase = engine.Phase{Step: engine.Inspecting, Began: Ago(47 * time.Second), ListTook: 12 * time.Millisecond, Done: 3, Total: 17}
	s.InFlight = []call.Flight{{Op: call.ContainerStatus, Pod: p.PodRef, Container: "app", ID: p.Current.Containers[0].ID, Since: Ago(47 * time.Second)}}
	s.Calls[5].InFlight = 1
	return s
}

// Unhealthy is the same later: its PLEG is unhealthy.
func Unhealthy() *engine.Snapshot {
	s := Hung()
	s.Health = engine.Health{
		Verdict:  "pleg was last seen active 3m12.481s ago; threshold is 3m0s",
		ListedAt: Ago(192481 * time.Millisecond), SettledAt: Ago(194 * time.Second), Since: Ago(12 * time.Second), Flips: 3,
	}
	s.Phase.Began, s.InFlight[0].Since = Ago(192*time.Second), Ago(72*time.Second)
	p := Find(s, "nfs-client")
	p.Status, p.StatusErr, p.Failure, p.Reinspect = nil, errHung, &answers.Failure{Err: errHung, InRow: 2, First: Ago(100 * time.Second)}, true
	s.Calls[5].Errors, s.Calls[5].ByCode, s.Calls[5].LastErr, s.Calls[5].LastErrAt = 2, []answers.CodeCount{{Code: "DeadlineExceeded", Count: 2}}, errHung, Ago(72*time.Second)
	s.Channel.Discarded, s.Channel.Len = 12, 1000
	s.Anomalies.NoMetadata = 3
	return s
}

// Failing is a node whose lists have failed for 103 s.
func Failing() *engine.Snapshot {
	s := Healthy()
	s.Health.ListedAt, s.Health.SettledAt = Ago(104*time.Second), Ago(104*time.Second)
	s.Failure = &answers.Failure{Flight: call.Flight{Op: call.ListPodSandbox}, Err: fmt.Errorf("list pods: %w", errRefused), At: Ago(time.Second), First: Ago(103 * time.Second), InRow: 101}
	s.StatusErr = &answers.Failure{Flight: call.Flight{Op: call.Status}, Err: errRefused, At: Ago(time.Second), First: Ago(time.Second), InRow: 1}
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "cni plugin not initialized"}}
	s.Relists.Failed = 101
	for i := range 60 {
		s.Relists.History[60+i].Failed = true
	}
	s.Calls[2].Errors, s.Calls[2].ByCode, s.Calls[2].LastErr, s.Calls[2].LastErrAt = 101, []answers.CodeCount{{Code: "Unavailable", Count: 101}}, errRefused, Ago(time.Second)
	return s
}

// WithSweep is the healthy node with a sweep.
func WithSweep(w *answers.Sweep) *engine.Snapshot {
	s := Healthy()
	s.Sweep = w
	return s
}

// Nasty is what a terminal would obey, and worse.
const Nasty = "a\x1b[31mX\x1b]0;own\x07\u009b2J\x9b3m\r\n\tb\u202Egnp\u200B\x7f\xff\u2066"

// Long is the same, and too long for any screen.
var Long = Nasty + strings.Repeat("日", 4000)

// Hostile has hostile text in every field that a runtime fills.
func Hostile() *engine.Snapshot {
	s := Unhealthy()
	s.Version = pleg.Version{RuntimeName: Nasty, RuntimeVersion: Nasty, APIVersion: Nasty}
	s.Health.Verdict = Nasty
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: Nasty, Message: Long}}
	s.Failure = &answers.Failure{Flight: call.Flight{Pod: pleg.PodRef{Name: Nasty}, Container: Nasty}, Err: &call.Error{Code: Nasty, Text: Long, Kind: call.ErrOther}, InRow: 3, First: Ago(time.Minute)}
	for i, p := range s.Pods {
		p.PodRef = pleg.PodRef{UID: pleg.UID(fmt.Sprint(i, Nasty)), Namespace: Nasty, Name: Nasty + p.Name}
		if i%2 == 1 {
			p.Name = Long
		}
		for j := range p.Current.Containers {
			c := &p.Current.Containers[j]
			c.Name, c.Image, c.ID = Nasty, Long, fmt.Sprint(j, Nasty)
		}
		for j := range p.Current.Sandboxes {
			p.Current.Sandboxes[j].ID = fmt.Sprint(j, "s", Nasty)
		}
		if p.Status != nil {
			for j := range p.Status.Containers {
				st := &p.Status.Containers[j]
				st.ID, st.Name, st.Reason, st.Message, st.Image = fmt.Sprint(j, Nasty), Nasty, Nasty, Long, Long
			}
			p.Status.IPs = []string{Nasty}
		}
		if p.StatusErr != nil {
			p.StatusErr = &call.Error{Code: Nasty, Text: Long, Kind: call.ErrOther}
		}
		p.LastEvent.Pod, p.LastEvent.Container = p.PodRef, Nasty
	}
	s.InFlight[0].Pod, s.InFlight[0].Container, s.InFlight[0].ID = s.Pods[0].PodRef, Nasty, Nasty
	for i := range s.Calls {
		s.Calls[i].ByCode = []answers.CodeCount{{Code: Nasty, Count: 3}}
		s.Calls[i].Errors, s.Calls[i].LastErr = 3, s.Failure.Err
	}
	return s
}
