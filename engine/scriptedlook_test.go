package engine_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A scriptedLook is what looks at the node find from now on.
type scriptedLook struct {
	report evidence.Report
	folder []evidence.Object // what the runtime's folders name; only a deep look reads them
	takes  time.Duration
}

// A madeLook is a look that somebody has asked for.
type madeLook struct {
	at time.Time
	engine.Looking
}

// look sets what a look at the node finds.
func (x *transcript) look(c command) {
	l := &scriptedLook{takes: span(c.with["takes"])}
	r := &l.report
	r.Kubelet = evidence.Kubelet{Version: c.with["kubelet"]}
	r.Processes.Containers = map[string][]evidence.Process{}
	for _, id := range names(c.with["sees"]) {
		r.Processes.Objects = append(r.Processes.Objects, evidence.Object{ObjectRef: pleg.ObjectRef{ID: id}, From: "its control group"})
	}
	for _, id := range names(c.with["lives"]) {
		r.Processes.Containers[id] = []evidence.Process{{PID: 7, State: evidence.Sleeping}}
	}
	for _, id := range names(c.with["stuck"]) {
		r.Processes.Containers[id] = []evidence.Process{{PID: 7, State: evidence.Uninterrupted}}
	}
	if verb := c.with["helper"]; verb != "" {
		r.Processes.Helpers = []evidence.Process{{PID: 8, State: evidence.Sleeping, Verb: verb, Age: span(c.with["age"]), Own: true}}
	}
	if c.has("busy") {
		r.Pressure.CPU.Some10 = 80
	}
	if c.has("dead-disk") {
		r.Disk = evidence.Disk{Path: "/var/lib/containerd", Mount: evidence.Mount{Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}}
		r.Devices = []evidence.Device{{Number: "8:17", Name: "sdb1", InFlight: 3, Still: 5 * time.Second}}
	}
	for _, id := range names(c.with["folder"]) {
		pod, container, isContainer := strings.Cut(id, "/")
		o := evidence.Object{ObjectRef: pleg.ObjectRef{ID: id, Pod: podRef(pod), Sandbox: !isContainer, Container: container}}
		if isContainer {
			o.SandboxID = pod
		}
		l.folder = append(l.folder, o)
	}
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	x.r.looking = l
}

// Look shows what the script says of the node.
func (r *scripted) Look(ctx context.Context, ask engine.Looking) (*evidence.Report, error) {
	r.mu.Lock()
	l := r.looking
	r.looks = append(r.looks, madeLook{time.Now(), ask})
	r.mu.Unlock()
	if l.takes > 0 {
		select {
		case <-time.After(l.takes):
		case <-ctx.Done():
		}
	}
	report := l.report
	if ask.Deep {
		report.Deep = &evidence.Deep{Objects: evidence.Objects{All: l.folder}}
	}
	report.At = time.Now()
	return &report, ctx.Err()
}

// showLooks prints the looks since the last time, or whether any was deep.
func showLooks(x *transcript, _ *engine.Snapshot, of []string) {
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	if len(of) > 0 {
		deep := slices.ContainsFunc(x.r.looks, func(l madeLook) bool { return l.Deep })
		x.printf("%s\n", map[bool]string{true: "a look was deep", false: "no look was deep"}[deep])
		x.r.looks = nil
	}
	for _, l := range x.r.looks {
		x.printf("%s", x.at(l.at))
		if l.Deep {
			x.printf(" deep")
		}
		if l.Missed != nil {
			x.printf(", also at who holds the files of %s", strings.Join(l.Missed, ", "))
		}
		x.printf("\n")
	}
	x.r.looks = nil
}

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
