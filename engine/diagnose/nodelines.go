package diagnose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// nodeLinesMost is how many lines of one kind a finding gets.
	nodeLinesMost = 3
	// unitFresh is how recently a service must have started to be mentioned. A service that started earlier is not the
	// reason for a hang now.
	unitFresh = 10 * time.Minute
)

// nodeLines are what the node itself shows about a finding that is a root, by their names in findings.yaml. They are
// evidence and never findings.
var nodeLines = map[string]func(*Facts, *draft) []line{
	"calls":         (*Facts).callsInFlight,
	"kernel":        (*Facts).kernelLines,
	"runtime-units": func(f *Facts, _ *draft) []line { return f.unitLines(true, false) },
	"kubelet-units": func(f *Facts, _ *draft) []line { return f.unitLines(false, true) },
	"units":         func(f *Facts, _ *draft) []line { return f.unitLines(true, true) },
	"deprecated":    (*Facts).deprecated,
}

// pressureLine returns a line about how long the node's tasks wait; nil if that was not seen.
func (f *Facts) pressureLine() []line {
	p := f.Look.Pressure
	if p.Missing != "" {
		return nil
	}
	share := func(s evidence.Stall) string { return fmt.Sprintf("%.0f", s.Some60) }
	return []line{lineOf("pressure", Values{"cpu": share(p.CPU), "io": share(p.IO), "memory": share(p.Memory)})}
}

// callsInFlight returns a line about the calls that the runtime works on, according to its own metrics. It leaves out
// streams of events, because they never end.
func (f *Facts) callsInFlight(*draft) []line {
	all := slices.DeleteFunc(slices.Clone(f.deep().Calls.InFlight), func(c evidence.InFlight) bool {
		return c.Count <= 0 || c.Method == "GetContainerEvents" || c.For > 0 && c.For < answers.Hung
	})
	slices.SortStableFunc(all, func(a, b evidence.InFlight) int { return cmp.Compare(b.For, a.For) })
	var calls []string
	for _, c := range all[:min(len(all), 2*nodeLinesMost)] {
		text := fmt.Sprintf("%s %d in flight", c.Method, c.Count)
		if c.For > 0 {
			text += " for at least " + going(c.For)
		}
		calls = append(calls, text)
	}
	return []line{lineOf("calls-in-flight", Values{"calls": calls})}
}

// kernelLog returns the kernel's latest lines; nil if the look is from before the runtime came back.
func (f *Facts) kernelLog() []evidence.KernelLine {
	if f.LookOld {
		return nil
	}
	return f.Look.Kernel.Lines
}

// kernelLines returns the kernel's lines about a finding.
func (f *Facts) kernelLines(found *draft) (lines []line) {
	var behind []evidence.Process
	for i, l := range f.kernelLog() {
		if i == 0 {
			behind = f.processesBehind(found)
		}
		if len(lines) == nodeLinesMost || !f.kernelMeans(found, l, behind) {
			continue
		}
		v := Values{"age": age(l.Age), "text": l.Text}
		if l.Count > 1 {
			v["times"] = frequency(l.Count)
		}
		lines = append(lines, lineOf("kernel", v))
	}
	return lines
}

// kernelMeans reports whether a line of the kernel is about a finding. behind are the processes behind the finding.
func (f *Facts) kernelMeans(found *draft, l evidence.KernelLine, behind []evidence.Process) bool {
	r := ruleOf(found.ID)
	counts := func(kind string) bool { return slices.Contains(r.row().Kernel, kind) }
	some := func(is func(evidence.Process) bool) bool { return slices.ContainsFunc(behind, is) }
	switch l.About {
	case knowledge.AboutTask: // the line has the number of the thread
		return some(func(p evidence.Process) bool {
			return slices.ContainsFunc([]int{l.PID, l.Owner}, func(pid int) bool { return pid != 0 && (pid == p.PID || pid == p.Thread) })
		}) || aboutAll(found) && slices.ContainsFunc(f.Look.Processes.Daemons, func(d evidence.Process) bool { return d.Command == l.Command })
	case knowledge.AboutServer:
		return some(func(p evidence.Process) bool {
			return p.State == evidence.Uninterrupted && (serverOf(p.Mount) == l.Device || p.Mount.Type == "" && doesAlone(p) == evidence.OnServer)
		})
	case knowledge.AboutDisk:
		ofStore := slices.ContainsFunc(f.stores(), func(s store) bool { return s.isOn(l.Device) })
		return ofStore && found.Subject.ofNoPod() && counts("disk") || found.Group == groupIO ||
			some(func(p evidence.Process) bool { return f.mayWaitFor(&p, l.Device) })
	case knowledge.AboutSession:
		return some(func(p evidence.Process) bool { return f.mayWaitFor(&p, "") })
	case knowledge.AboutNetwork:
		return counts("device")
	case knowledge.AboutNode:
		return r.Hangs && aboutAll(found)
	case knowledge.AboutGroup:
		return some(func(p evidence.Process) bool { return inGroup(p, l) })
	case knowledge.AboutKill:
		return f.killExplains(found, l) && (counts("runtime-killed") && f.ofRuntime(l) && found.Subject.ofNoPod() ||
			counts("any-runtime-killed") && f.ofRuntime(l) || counts("kubelet-killed") && f.killedKubelet(l) ||
			counts("memory-killed") && f.ofRuntime(l) && found.match.Values["ofMemory"] == true)
	}
	return false
}

// inGroup reports whether a line of the kernel is about the control group of a process.
func inGroup(p evidence.Process, l evidence.KernelLine) bool {
	return p.Unit != "" && strings.HasSuffix(l.Group, "/"+p.Unit)
}

// mayWaitFor reports whether a process waits for the disk, array or pool with this name, or waits in the kernel for
// something that nobody knows. An empty name means a disk over the network, if only its session is known.
func (f *Facts) mayWaitFor(p *evidence.Process, device string) bool {
	m := f.Look.FileSystem(p)
	switch {
	case p.State != evidence.Uninterrupted || doesAlone(*p) == evidence.OnServer || m.Served():
		return false
	case m.Type == "" || device == "":
		return true
	case m.Type == "zfs":
		pool, _, _ := strings.Cut(m.Source, "/")
		return pool == device
	}
	return isPartOf(m.Source, device) || m.Device == device
}

// aboutAll reports whether a finding is about the runtime or the node, and not about some containers.
func aboutAll(found *draft) bool {
	return found.Subject.ofNoPod() && found.Subject.ID == "" && found.match.Members == nil
}

// processesBehind returns the processes behind a finding: those of its containers and their shims and helpers, those in
// its chain, and those that wait for what the finding is about. If the finding is about the runtime, it returns all of
// the runtime's processes, and the processes of containers that wait in the kernel.
func (f *Facts) processesBehind(found *draft) (all []evidence.Process) {
	ids, pids, whole := map[string]bool{found.Subject.ID: found.Subject.ID != ""}, map[int]bool{}, aboutAll(found)
	for _, m := range found.match.Members {
		ids[m.Subject.ID] = m.Subject.ID != ""
	}
	if g := f.Graph(); g != nil && found.Nodes != nil {
		note := func(place int) {
			if p := g.Nodes[place].Process(); p != nil {
				pids[p.PID] = true
			}
		}
		for _, l := range g.Through(g.Find(found.Nodes[0])) {
			note(l.Place)
		}
		for place := range g.Waiting(found.Nodes...) {
			note(place)
		}
	}
	means := func(p evidence.Process) bool {
		ofPod := p.Pod.Name != "" && p.Pod.Name == found.Subject.Pod.Name && p.Pod.Namespace == found.Subject.Pod.Namespace // a process of a network plugin
		return ofPod || ids[p.Container] || ids[p.Sandbox] || pids[p.PID]
	}
	look := f.Look.Processes
	for _, p := range slices.Concat(look.Shims, look.Helpers, look.Daemons) {
		if whole || means(p) {
			all = append(all, p)
		}
	}
	for _, processes := range look.Containers {
		for _, p := range processes {
			if means(p) || whole && p.State == evidence.Uninterrupted {
				all = append(all, p)
			}
		}
	}
	return all
}

// unitLines returns lines about the services of the runtime, the kubelet or both, if they do not run, or have started
// lately.
func (f *Facts) unitLines(runtime, kubelet bool) (lines []line) {
	for _, u := range f.deep().Units.All {
		ofKubelet := strings.Contains(u.Name, "kubel") // kubelet.service, and kubelite of MicroK8s
		ofBoth := slices.ContainsFunc(knowledge.SharedUnits, func(name string) bool { return strings.HasPrefix(u.Name, name) })
		fresh := u.Up != 0 && u.Up <= unitFresh || u.State != "" && u.State != "active"
		if fresh && (ofBoth || ofKubelet && kubelet || !ofKubelet && runtime) {
			lines = append(lines, unitLine(u))
		}
	}
	return lines
}

// unitLine returns a line about the state of a service, and how often it was restarted.
func unitLine(u evidence.Unit) line {
	v := Values{"unit": u.Name, "state": u.State}
	if u.State == "" || u.State == "active" {
		v["state"], v["up"] = "", age(u.Up)
	}
	if u.Restarts > 0 {
		v["times"], v["by"] = frequency(u.Restarts), "by systemd"
		if u.State == "" { // only our own looks have seen the restarts
			v["by"] = "since plegtop began"
		}
	}
	return lineOf("unit", v)
}

// noWarnings is a condition that only containerd has. It is false if the configuration or the node uses something that
// a later containerd will not support. Its message is a JSON object of texts. (containerd 2.0 to 2.4)
const noWarnings = "ContainerdHasNoDeprecationWarnings"

// deprecated returns lines with the runtime's own warnings.
func (f *Facts) deprecated(*draft) (lines []line) {
	c, lacks := f.lacks(noWarnings)
	if !lacks || c.Type == "" {
		return nil
	}
	var texts map[string]string
	if err := json.Unmarshal([]byte(c.Message), &texts); err != nil || len(texts) == 0 {
		texts = map[string]string{"": cmp.Or(c.Message, c.Reason, noWarnings+" is false")}
	}
	for _, key := range slices.Sorted(maps.Keys(texts))[:min(len(texts), nodeLinesMost)] {
		lines = append(lines, lineOf("runtime-warns", Values{"text": texts[key]}))
	}
	return lines
}
