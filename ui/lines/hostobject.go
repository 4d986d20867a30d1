package lines

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
)

// A hostObject is what the node itself says. A part that could not be had is
// absent, and Missing says why.
type hostObject struct {
	TookSeconds float64         `json:"tookSeconds"`
	Missing     []string        `json:"missing"`
	Usage       []usageObject   `json:"usage"`
	Pressure    *pressureObject `json:"pressure,omitempty"`
	Disk        *diskObject     `json:"disk,omitempty"`
	State       *diskObject     `json:"state,omitempty"` // of the shims' folder
	Limits      []limitObject   `json:"limits,omitempty"`
	Devices     []deviceObject  `json:"devices,omitempty"` // with requests under way
	Stuck       []processObject `json:"stuck,omitempty"`   // of the runtime, the kubelet, and the shims
	ClockSteps  int             `json:"clockSteps"`
	Kubelet     kubeletObject   `json:"kubelet"`
	Helpers     []helperObject  `json:"errands,omitempty"`       // of the runtime and its shims
	Sources     []sourceObject  `json:"sources,omitempty"`       // that are read only where something hangs
	InFlight    []flightObject  `json:"callsInFlight,omitempty"` // of all clients, by the runtime's own metrics
}

type usageObject struct {
	Name    string   `json:"name"`
	PID     int      `json:"pid,omitempty"`
	Cores   *float64 `json:"cores,omitempty"` // absent at the first look
	Memory  uint64   `json:"memoryBytes"`
	Threads int      `json:"threads"`
}

type pressureObject struct {
	CPU    stallObject `json:"cpu"`
	IO     stallObject `json:"io"`
	Memory stallObject `json:"memory"`
}

// A stallObject holds shares of time in percent.
type stallObject struct {
	Some10 float64 `json:"some10"`
	Some60 float64 `json:"some60"`
	Full10 float64 `json:"full10"`
	Full60 float64 `json:"full60"`
}

type diskObject struct {
	Path         string `json:"path"`
	Total        uint64 `json:"totalBytes"`
	Free         uint64 `json:"freeBytes"`
	Inodes       uint64 `json:"inodes"`
	InodesUnused uint64 `json:"inodesUnused"`
	ReadOnly     string `json:"readOnly,omitempty"`
}

func newDiskObject(d evidence.Disk) *diskObject {
	if d.Missing != "" || d.Total == 0 { // a picture has no figures
		return nil
	}
	return &diskObject{text.Clean(d.Path), d.Total, d.Free, d.Inodes, d.InodesUnused, text.Clean(d.ReadOnly)}
}

type limitObject struct {
	Of   string `json:"of,omitempty"` // absent for the node's
	PID  int    `json:"pid,omitempty"`
	What string `json:"what"`
	Used uint64 `json:"used"`
	Most uint64 `json:"most"`
	Path string `json:"path"`
}

type deviceObject struct {
	Name     string  `json:"name"`
	InFlight int     `json:"inFlight"`
	Still    float64 `json:"stillSeconds"`
}

type processObject struct {
	PID     int     `json:"pid"`
	Command string  `json:"command"`
	State   string  `json:"state"`
	Thread  int     `json:"thread,omitempty"` // absent for the first
	For     float64 `json:"forSeconds"`
	Mount   string  `json:"mount,omitempty"`
	Freezer string  `json:"freezer,omitempty"`
}

type kubeletObject struct {
	Version   string        `json:"version"`
	Healthz   *answerObject `json:"healthz,omitempty"`  // of the port that only pings; absent if nobody asked
	Health    *answerObject `json:"health,omitempty"`   // of /healthz beside the metrics
	SyncLoop  *answerObject `json:"syncLoop,omitempty"` // of /healthz/syncloop there
	Metrics   *answerObject `json:"metrics,omitempty"`
	Relist    *timingObject `json:"relist,omitempty"`   // its own; absent if its metrics are
	Interval  *timingObject `json:"interval,omitempty"` // from one of its relists to the next
	LastSeen  *time.Time    `json:"lastSeen,omitempty"`
	Healthy   *bool         `json:"plegHealthy,omitempty"` // by LastSeen; absent if that is
	Discarded uint64        `json:"discarded"`
}

type answerObject struct {
	OK          bool    `json:"ok"`
	TookSeconds float64 `json:"tookSeconds"`
	TimedOut    bool    `json:"timedOut"`
	Text        string  `json:"text,omitempty"`
	Error       string  `json:"error,omitempty"`
}

type timingObject struct {
	Count       uint64  `json:"count"`
	MeanSeconds float64 `json:"meanSeconds"`
	P50Seconds  float64 `json:"p50Seconds"`
	P99Seconds  float64 `json:"p99Seconds"`
	P99Beyond   bool    `json:"p99Beyond,omitempty"` // it is more than that: beyond the last bucket that has a bound
}

func newTimingObject(t evidence.Timing) *timingObject {
	return &timingObject{t.Count, t.Mean.Seconds(), t.P50.Seconds(), t.P99.Seconds(), t.Beyond}
}

func newHostObject(r *evidence.Report) *hostObject {
	if r == nil {
		return nil
	}
	h := &hostObject{
		TookSeconds: r.Took.Seconds(), Missing: missing(r), Usage: make([]usageObject, len(r.Usage)),
		ClockSteps: r.Clock.Steps, Kubelet: newKubeletObject(r.Kubelet),
		Helpers: newHelpers(r.Processes.Helpers), Sources: newSources(r), InFlight: newFlights(r.Deep),
	}
	for i, u := range r.Usage {
		h.Usage[i] = newUsageObject(u)
	}
	if r.Pressure.Missing == "" {
		p := r.Pressure
		h.Pressure = &pressureObject{stallObject(p.CPU), stallObject(p.IO), stallObject(p.Memory)}
	}
	if h.Disk = newDiskObject(r.Disk); r.State.Path != "" {
		h.State = newDiskObject(r.State)
	}
	for _, l := range r.Limits {
		h.Limits = append(h.Limits, limitObject{text.Clean(l.Of), l.PID, l.What, l.Used, l.Most, text.Clean(l.Path)})
	}
	for _, d := range r.Devices {
		h.Devices = append(h.Devices, deviceObject{text.Clean(d.Name), d.InFlight, d.Still.Seconds()})
	}
	for _, p := range slices.Concat(r.Processes.Daemons, r.Processes.Shims) {
		if p.State.Stuck() {
			h.Stuck = append(h.Stuck, processObject{p.PID, text.Clean(p.Command), p.State.String(), p.Thread, p.For.Seconds(), text.Clean(p.Mount.Point), text.Clean(p.Freezer)})
		}
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
			all = append(all, m.part+": "+text.Clean(m.why))
		}
	}
	return all
}

func newUsageObject(u evidence.Usage) usageObject {
	o := usageObject{Name: text.Clean(u.Name), PID: u.PID, Memory: u.Memory, Threads: u.Threads}
	if u.CPU >= 0 {
		o.Cores = &u.CPU
	}
	return o
}

func newKubeletObject(k evidence.Kubelet) kubeletObject {
	o := kubeletObject{
		Version: text.Clean(k.Version), Healthz: newAnswerObject(k.Ping), Metrics: newAnswerObject(k.Metrics),
		Health: newAnswerObject(k.Health), SyncLoop: newAnswerObject(k.SyncLoop),
		LastSeen: instant(k.LastSeen), Discarded: k.Discarded,
	}
	if k.Metrics.OK {
		o.Relist, o.Interval = newTimingObject(k.Relist), newTimingObject(k.Interval)
	}
	if healthy, known := diagnose.KubeletPLEG(k); known {
		o.Healthy = &healthy
	}
	return o
}

func newAnswerObject(a evidence.Answer) *answerObject {
	if !a.Asked {
		return nil
	}
	return &answerObject{a.OK, a.Took.Seconds(), a.TimedOut, text.Clean(a.Text), text.Clean(a.Err)}
}
