package lines

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/say"
)

// A hostObject is what the node itself says. A part that could not be had is
// absent, and Missing says why.
type hostObject struct {
	Took       time.Duration       `line:"tookSeconds"`
	Missing    []string            `line:"missing"`
	Usage      []evidence.Usage    `line:"usage"`
	Pressure   evidence.Pressure   `line:"pressure,omitzero"`
	Disk       evidence.Disk       `line:"disk,omitzero"`
	State      evidence.Disk       `line:"state,omitzero"` // of the shims' folder
	Limits     []evidence.Limit    `line:"limits,omitempty"`
	Devices    []evidence.Device   `line:"devices,omitempty"` // with requests under way
	Stuck      []evidence.Process  `line:"stuck,omitempty"`   // of the runtime, the kubelet, and the shims
	ClockSteps int                 `line:"clockSteps"`
	Kubelet    kubeletObject       `line:"kubelet"`
	Helpers    []evidence.Process  `line:"errands,omitempty"`       // of the runtime and its shims
	Sources    []say.Source        `line:"sources,omitempty"`       // that are read only where something hangs
	InFlight   []evidence.InFlight `line:"callsInFlight,omitempty"` // of all clients, by the runtime's own metrics
}

// A kubeletObject is what the kubelet says, and whether that makes its PLEG healthy.
type kubeletObject struct {
	evidence.Kubelet
	Relist   *evidence.Timing `line:"relist,omitzero"` // absent, as the next, if its metrics are
	Interval *evidence.Timing `line:"interval,omitzero"`
	Healthy  *bool            `line:"plegHealthy,omitzero"` // by LastSeen; absent if that is
}

// helpersMost is how many of them the JSON has: a runtime that starts a node's pods
// has one for each.
const helpersMost = 100

func newHostObject(r *evidence.Report) *hostObject {
	if r == nil {
		return nil
	}
	helpers := r.Processes.Helpers
	h := &hostObject{
		Took: r.Took, Missing: missing(r), Usage: r.Usage, Pressure: r.Pressure, Disk: r.Disk, State: r.State,
		Limits: r.Limits, Devices: r.Devices, ClockSteps: r.Clock.Steps, Kubelet: kubeletObject{Kubelet: r.Kubelet},
		Stuck:   slices.DeleteFunc(slices.Concat(r.Processes.Daemons, r.Processes.Shims), func(p evidence.Process) bool { return !p.State.Stuck() }),
		Helpers: helpers[:min(len(helpers), helpersMost)],
	}
	if r.Deep != nil {
		h.Sources, h.InFlight = say.Sources(r), r.Deep.Calls.InFlight
	}
	if k := &h.Kubelet; k.Metrics.OK {
		k.Relist, k.Interval = &k.Kubelet.Relist, &k.Kubelet.Interval
	}
	if healthy, known := diagnose.KubeletPLEG(r.Kubelet); known {
		h.Kubelet.Healthy = &healthy
	}
	return h
}

// missing returns which parts of r are not there, or not whole, and why.
func missing(r *evidence.Report) []string {
	all := []string{}
	for _, m := range []struct{ part, why string }{
		{"processes", r.Processes.Missing}, {"processes", r.Processes.Partial},
		{"pressure", r.Pressure.Missing}, {"disk", r.Disk.Missing}, {"socket", r.Socket.Missing},
		{"kubelet ping", r.Kubelet.Ping.Err}, {"kubelet metrics", r.Kubelet.Metrics.Err},
	} {
		if m.why != "" {
			all = append(all, m.part+": "+m.why)
		}
	}
	return all
}
