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
	"github.com/plegtop/plegtop/engine/waits"
)

const (
	// toldWords is how many lines of a kind a finding gets.
	toldWords = 3
	// unitFresh is how long ago a service began to be told of: what began before is no
	// reason for what hangs now, however often it was restarted since the last boot.
	unitFresh = 10 * time.Minute
)

// A nodeWord is what the node itself has to say of a finding: lines of evidence, never a
// finding of their own.
type nodeWord func(*view, *Finding) []string

// kernelWords are lines of the kernel's that may be about a kind of finding.
type kernelWords uint8

const (
	ofDisk   kernelWords = 1 << iota // errors of the disk that the runtime is on
	ofDevice                         // a network device that does not go
)

// addNodeWords adds what the node itself says to the findings that it explains. What another
// finding is the cause of has that one's, and a lost socket explains itself.
func (v *view) addNodeWords(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Cause != "" || f.Group == ofSocket {
			continue
		}
		for _, word := range kindOf(f.ID).words {
			f.sayBeforeMembers(word(v, f)...)
		}
	}
}

// deep returns what a deep look found; nothing if none was made, or before the runtime came
// back, and no dump of goroutines from before all that hangs: that is of another hang.
func (v *view) deep() *evidence.Deep {
	d := v.evidence.Deep
	if d == nil || v.lookOld {
		return &noDeep
	}
	if v.allBegan(d.Stacks.At) {
		later := *d
		later.Stacks = evidence.Stacks{Source: d.Stacks.Source}
		return &later
	}
	return d
}

// kernel returns what the kernel has said of late; nothing by a look from before the runtime
// came back.
func (v *view) kernel() []evidence.KernelLine {
	if v.lookOld {
		return nil
	}
	return v.evidence.Kernel.Lines
}

// allBegan reports whether something hangs, and all that does began after a moment. All
// calls of one bounded look are taken as made at the same time.
func (v *view) allBegan(at time.Time) bool {
	hangs := false
	for h := range v.EachHang {
		if hangs = h.Since.After(at); !hangs {
			return false
		}
	}
	return hangs && !v.Policy.Bounds().OneMoment && !at.IsZero()
}

var noDeep evidence.Deep // read only

// callsInFlight says what the runtime has been asked for and has not ended, by its own
// metrics. A stream of events ends never.
func (v *view) callsInFlight(*Finding) []string {
	all := slices.DeleteFunc(slices.Clone(v.deep().Calls.InFlight), func(c evidence.InFlight) bool {
		return c.Count <= 0 || c.Method == "GetContainerEvents" || c.For > 0 && c.For < answers.Hung
	})
	slices.SortStableFunc(all, func(a, b evidence.InFlight) int { return cmp.Compare(b.For, a.For) })
	var said []string
	for _, c := range all[:min(len(all), 2*toldWords)] {
		one := fmt.Sprintf("%s %d in flight", c.Method, c.Count)
		if c.For > 0 {
			one += " for at least " + going(c.For)
		}
		said = append(said, one)
	}
	if said == nil {
		return nil
	}
	return []string{"in flight in the runtime (all clients): " + join(said)}
}

// kernelSaid returns what the kernel has said of what a finding is about.
func (v *view) kernelSaid(f *Finding) (lines []string) {
	var behind []evidence.Process
	for i, l := range v.kernel() {
		if i == 0 {
			behind = v.behindFinding(f)
		}
		if len(lines) == toldWords || !v.kernelMeans(f, l, behind) {
			continue
		}
		line := fmt.Sprintf("the kernel, %s ago: %s", going(l.Age), l.Text)
		if l.Count > 1 {
			line += fmt.Sprintf(" (%d times)", l.Count)
		}
		lines = append(lines, line)
	}
	return lines
}

// kernelMeans reports whether a line of the kernel's is about what a finding is about,
// given the processes behind that.
func (v *view) kernelMeans(f *Finding, l evidence.KernelLine, behind []evidence.Process) bool {
	k := kindOf(f.ID)
	some := func(is func(evidence.Process) bool) bool { return slices.ContainsFunc(behind, is) }
	switch l.About {
	case knowledge.AboutTask: // which has the number of the thread
		return some(func(p evidence.Process) bool {
			return slices.ContainsFunc([]int{l.PID, l.Owner}, func(pid int) bool { return pid != 0 && (pid == p.PID || pid == p.Thread) })
		}) || aboutAll(f) && slices.ContainsFunc(v.evidence.Processes.Daemons, func(d evidence.Process) bool { return d.Command == l.Command })
	case knowledge.AboutServer:
		return some(func(p evidence.Process) bool {
			return p.State == evidence.Uninterrupted && (serverOf(p.Mount) == l.Device || p.Mount.Type == "" && waits.ForServer(&p))
		})
	case knowledge.AboutDisk:
		ofStore := slices.ContainsFunc(v.stores(), func(s store) bool { return s.isOn(l.Device) })
		return ofStore && f.Subject.none() && k.kernel&ofDisk != 0 || f.Group == onIO ||
			some(func(p evidence.Process) bool { return v.mayWaitFor(&p, l.Device) })
	case knowledge.AboutSession:
		return some(func(p evidence.Process) bool { return v.mayWaitFor(&p, "") })
	case knowledge.AboutNetwork:
		return k.kernel&ofDevice != 0
	case knowledge.AboutNode:
		return k.hangs && aboutAll(f)
	case knowledge.AboutGroup:
		return some(func(p evidence.Process) bool { return inGroup(p, l) })
	case knowledge.AboutKill:
		return k.killed != nil && v.explains(f, l) && k.killed(v, f, l)
	}
	return false
}

// inGroup reports whether a line of the kernel's is about the control group of a process.
func inGroup(p evidence.Process, l evidence.KernelLine) bool {
	return p.Unit != "" && strings.HasSuffix(l.Group, "/"+p.Unit)
}

// mayWaitFor reports whether a process waits for a disk, an array or a pool of that name, or in the kernel
// for nobody knows which. An empty name is a disk over the network, of which only the session is known.
func (v *view) mayWaitFor(p *evidence.Process, device string) bool {
	m := waits.FileSystem(v.evidence, p)
	switch {
	case p.State != evidence.Uninterrupted || waits.ForServer(p) || m.Served():
		return false
	case m.Type == "" || device == "":
		return true
	case m.Type == "zfs":
		pool, _, _ := strings.Cut(m.Source, "/")
		return pool == device
	}
	return isPartOf(m.Source, device) || m.Device == device
}

// aboutAll reports whether a finding is about the runtime or the node, and not about some
// containers.
func aboutAll(f *Finding) bool {
	return f.Subject.none() && f.Subject.ID == "" && len(f.Members) == 0
}

// behindFinding returns the processes of what a finding is about: of its containers and
// what looks after them, those in its chain or that wait for what it is about; and of what
// is about all of the runtime's own, and of containers those in the kernel.
func (v *view) behindFinding(f *Finding) (all []evidence.Process) {
	ids, pids, whole := map[string]bool{}, map[int]bool{}, aboutAll(f)
	for _, s := range append([]Subject{f.Subject}, f.Members...) {
		ids[s.ID] = s.ID != ""
	}
	if g := v.graph(); g != nil && f.Nodes != nil {
		for _, l := range g.Through(g.Find(f.Nodes[0])) {
			if p := g.Nodes[l.Place].Process(); p != nil {
				pids[p.PID] = true
			}
		}
		for place := range g.Waiting(f.Nodes...) {
			if p := g.Nodes[place].Process(); p != nil {
				pids[p.PID] = true
			}
		}
	}
	means := func(p evidence.Process) bool {
		ofPod := p.Pod.Name != "" && p.Pod.Name == f.Subject.Pod.Name && p.Pod.Namespace == f.Subject.Pod.Namespace // as a network plugin has it
		return ofPod || ids[p.Container] || ids[p.Sandbox] || pids[p.PID]
	}
	found := v.evidence.Processes
	for _, p := range slices.Concat(found.Shims, found.Helpers, found.Daemons) {
		if whole || means(p) {
			all = append(all, p)
		}
	}
	for _, processes := range found.Containers {
		for _, p := range processes {
			if means(p) || whole && p.State == evidence.Uninterrupted {
				all = append(all, p)
			}
		}
	}
	return all
}

func (v *view) runtimeUnits(*Finding) []string {
	return v.unitsSaid(func(kubelet, both bool) bool { return !kubelet || both })
}

func (v *view) kubeletUnits(*Finding) []string {
	return v.unitsSaid(func(kubelet, both bool) bool { return kubelet || both })
}

func (v *view) allUnits(*Finding) []string {
	return v.unitsSaid(func(bool, bool) bool { return true })
}

// unitsSaid tells of services of the runtime's, the kubelet's or both that do not run, or
// have not for long.
func (v *view) unitsSaid(about func(kubelet, both bool) bool) (lines []string) {
	for _, u := range v.deep().Units.All {
		kubelet := strings.Contains(u.Name, "kubel") // kubelet.service, and microk8s' kubelite
		both := beginsAs(u.Name, knowledge.SharedUnits)
		if about(kubelet, both) && (u.Up != 0 && u.Up <= unitFresh || u.State != "" && u.State != "active") {
			lines = append(lines, unitLine(u))
		}
	}
	return lines
}

// unitLine says how a service is, and how often it was restarted.
func unitLine(u evidence.Unit) string {
	said, by := u.Name+" is "+u.State, "by systemd"
	if u.State == "" || u.State == "active" {
		said = u.Name + " was started " + going(u.Up) + " ago"
	}
	if u.State == "" { // nobody but the looks told
		by = "since plegtop began"
	}
	if u.Restarts > 0 {
		said += ", restarted " + times(u.Restarts) + " " + by
	}
	return said
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

// hasNoWarnings is containerd's own condition, false where its configuration or its node has
// what a later one does without. Its message is a JSON object of texts. (containerd 2.0 to
// 2.4.)
const hasNoWarnings = "ContainerdHasNoDeprecationWarnings"

// deprecated returns what the runtime itself warns of.
func (v *view) deprecated(*Finding) (lines []string) {
	c, warns := v.lacks(hasNoWarnings)
	if !warns || c.Type == "" {
		return nil
	}
	const warned = "the runtime warns: "
	var texts map[string]string
	if err := json.Unmarshal([]byte(c.Message), &texts); err != nil || len(texts) == 0 {
		return []string{warned + cmp.Or(c.Message, c.Reason, hasNoWarnings+" is false")}
	}
	for _, key := range slices.Sorted(maps.Keys(texts))[:min(len(texts), toldWords)] {
		lines = append(lines, warned+texts[key])
	}
	return lines
}
