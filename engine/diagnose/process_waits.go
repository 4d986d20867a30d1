package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/waits"
)

// serverOf returns the name of the server behind a mount: nas of nas:/export and of
// //nas/share; empty if it has none.
func serverOf(m evidence.Mount) string {
	if share, isCIFS := strings.CutPrefix(m.Source, "//"); isCIFS {
		name, _, _ := strings.Cut(share, "/")
		return name
	}
	name, _, isNFS := strings.Cut(m.Source, ":/")
	if !isNFS {
		return ""
	}
	return strings.Trim(name, "[]")
}

// isPartOf reports whether a file system on source, such as /dev/sdb1 or /dev/nvme0n1p1, is on
// a device, such as sdb1, sdb, nvme0n1 or the controller nvme0.
func isPartOf(source, device string) bool {
	name, isDevice := strings.CutPrefix(source, "/dev/")
	part, begins := strings.CutPrefix(name, device)
	if !isDevice || !begins || device == "" {
		return false
	}
	_, err := strconv.ParseUint(part, 10, 32)
	numbered := device[len(device)-1] >= '0' && device[len(device)-1] <= '9' // then its parts are p1, p2
	return part == "" || err == nil && !numbered || numbered && devicePart.MatchString(part)
}

var devicePart = regexp.MustCompile(`^(n\d+)?(p\d+)?$`)

// byFileSystem puts together those that wait for one file system, if they are several or
// the runtime is among them.
func (v *view) byFileSystem(stuck []stuckProcess) (groups [][]stuckProcess, single []stuckProcess) {
	by := make(map[string][]stuckProcess)
	var devices []string
	for _, p := range stuck {
		m, _ := v.waits.FileSystem(v.waits.Find(p.node))
		if m.Device != "" && by[m.Device] == nil {
			devices = append(devices, m.Device)
		}
		by[m.Device] = append(by[m.Device], p)
	}
	single = by[""]
	for _, d := range devices {
		if g := by[d]; len(g) > 1 || g[0].what == "runtime" {
			groups = append(groups, g)
		} else {
			single = append(single, g...)
		}
	}
	slices.SortStableFunc(single, worstFirst)
	return groups, single
}

// onFileSystem begins the group of those that wait for one file system.
const onFileSystem = "file system "

// waitingFinding is about all that waits for one file system. What one of them that is
// known to waits for is told: of others that is only likely.
func (v *view) waitingFinding(g []stuckProcess) Finding {
	first := g[max(0, slices.IndexFunc(g, func(p stuckProcess) bool { return p.Mount.Type != "" }))].Process
	m, _ := v.waits.FileSystem(v.waits.Find(g[0].node))
	f := Finding{ID: ProcessStuck, Group: onFileSystem + m.Device, Summary: fmt.Sprintf("%s for %s", whoWait(g), fileSystem(m))}
	longest := &first
	for i := range g {
		f.Severity = max(f.Severity, g[i].severity)
		if g[i].For > longest.For {
			longest = &g[i].Process
		}
	}
	switch frozen := waits.OnFrozen(&first); {
	case frozen && first.Mount.Type == "": // it named a path, which cannot be seen
		f.Summary = fmt.Sprintf("%s to write to a file system that is frozen, likely %s,", whoWait(g), fileSystem(m))
	case frozen:
		f.Summary += ", which is frozen,"
	}
	if i := slices.IndexFunc(g, func(p stuckProcess) bool { return p.what == "runtime" }); i >= 0 {
		pod := v.podOfShare(&g[i].Process)
		f.Summary += v.ofPod(m)
		others := func(p stuckProcess) bool { return p.what != "runtime" && p.owner.Pod != pod }
		if f.Severity == Warning && !slices.ContainsFunc(g, others) {
			f.Subject.Pod = pod
		}
	}
	f.Summary += lasting(longest)
	f.Since = v.At.Add(-longest.For)
	f.say(v.disk(m)...)
	f.Next = append(v.advise("process.all", nil), v.freeing(first, m)...)
	f = about(f, g, stuckProcess.line).waitedFor(v, g)
	f.Nodes = append(f.Nodes, waits.Key(waits.Mount, m.Device)) // who else waits for it is another effect
	return f
}

// whoWait names those that wait: containerd, 2 shims and 1 process.
func whoWait(g []stuckProcess) string {
	var who []string
	for _, what := range []string{"shim", "conmon", "conmonrs", "helper", "process"} {
		n := 0
		for _, p := range g {
			if p.what == what {
				n++
			}
		}
		if n > 0 {
			who = append(who, count(n, what))
		}
	}
	if i := slices.IndexFunc(g, func(p stuckProcess) bool { return p.what == "runtime" }); i >= 0 {
		runtime := fmt.Sprintf("%s (pid %d)", g[i].Command, g[i].PID)
		if g[i].severity == Warning {
			runtime = "a thread of " + runtime
		}
		who = append([]string{runtime}, who...)
	}
	verb := " wait"
	if len(g) == 1 {
		verb = " waits"
	}
	return join(who) + verb
}

// fileSystem names a mounted file system: /data (ext4 on /dev/sdb1).
func fileSystem(m evidence.Mount) string {
	return fmt.Sprintf("%s (%s on %s)", m.Point, m.Type, m.Source)
}

// amongTold is how many file systems are named of which a process waits for one.
const amongTold = 3

// among says for which file systems of servers a process may wait, with a comma before it;
// nothing if there are none. Of says whose one is.
func among(mounts []evidence.Mount, of func(evidence.Mount) string) string {
	if len(mounts) == 0 {
		return ""
	}
	kind, _, _ := strings.Cut(mounts[0].Type, ".")
	kind = strings.ToUpper(strings.TrimRight(kind, "34"))
	if len(mounts) == 1 {
		return ", for a " + kind + " mount, likely " + fileSystem(mounts[0]) + of(mounts[0])
	}
	var names []string
	for _, m := range mounts[:min(len(mounts), amongTold)] {
		names = append(names, fileSystem(m)+of(m))
	}
	said := ", for a " + kind + " mount, one of: " + join(names)
	if left := len(mounts) - len(names); left > 0 {
		said += fmt.Sprintf(" and %d more", left)
	}
	return said
}

// tracedBy says who traces a process, with a blank before it; nothing if that is not known.
func tracedBy(t evidence.Tracer) string {
	switch {
	case t.PID == 0:
		return ""
	case t.Command == "":
		return fmt.Sprintf(" by pid %d", t.PID)
	}
	return fmt.Sprintf(" by pid %d (%s)", t.PID, t.Command)
}

// disk says what is known of the disk behind a file system.
func (v *view) disk(m evidence.Mount) (lines []string) {
	for _, d := range v.evidence.Devices {
		if d.Number == m.Device {
			line := fmt.Sprintf("%s has been given %s and has not answered", d.Name, count(d.InFlight, "request"))
			if d.Still > 0 {
				line += ", nor any other for at least " + going(d.Still)
			}
			lines = append(lines, line)
		}
	}
	for _, d := range []evidence.Disk{v.evidence.Disk, v.evidence.State} {
		if d.Mount.Device == m.Device && m.Device != "" {
			lines = append(lines, d.Path+" is on it")
			if d.ReadOnly != "" {
				lines = append(lines, d.ReadOnly)
			}
			if d.Errors > 0 {
				lines = append(lines, fmt.Sprintf("%s in it since it was checked, the last %s ago", count(d.Errors, "error"), going(d.ErrorAge)))
			}
		}
	}
	return lines
}

// freeing returns what can end the wait of a process for a file system, which is that
// below its own where that is an overlay.
func (v *view) freeing(p evidence.Process, m evidence.Mount) []Step {
	values := v.processValues(p)
	values["container"] = one(v.containerOf(p))
	values["target"], values["at"], values["pod"] = one(m.Node), one(cmp.Or(m.Node, m.Point)), one(v.podOf(p, m))
	switch {
	case waits.OnFrozen(&p):
		return v.advise("mount.frozen", values)
	case strings.HasPrefix(m.Type, "fuse") && m.Type != "fuseblk":
		values["abort"] = one(m.Abort)
		return v.freeingFUSE(p.Servers, values)
	case strings.HasPrefix(m.Type, "nfs"):
		values["address"] = one(serverOf(m))
		return v.advise("mount.nfs", values)
	case strings.HasPrefix(m.Type, "cifs"), strings.HasPrefix(m.Type, "smb"):
		return v.advise("mount.cifs", values)
	case m.Served():
		return v.advise("mount.server", values)
	}
	values["device"], values["disk"] = one(m.Device), one(strings.TrimPrefix(m.Source, "/dev/"))
	return v.orDrain(v.advise("mount.disk", values))
}

// containerOf returns the container that a process is of, and not one that the runtime has for it, such
// as a shim; empty if it is none.
func (v *view) containerOf(p evidence.Process) string {
	its := func(o evidence.Process) bool { return o.PID == p.PID }
	if p.Container != "" && slices.ContainsFunc(v.evidence.Processes.Containers[p.Container], its) {
		return p.Container
	}
	return ""
}

// orDrain adds to some steps what is left where no command ends the trouble.
func (v *view) orDrain(steps []Step) []Step {
	drain := v.advise("node.drain", nil)
	if slices.ContainsFunc(steps, Step.acts) {
		drain[0] = drain[0].after(notEnough)
	}
	return append(steps, drain...)
}

// freeingFUSE returns what can end a wait for a program that serves a file system. Where it is known,
// and only stopped, it has to go on.
func (v *view) freeingFUSE(servers []evidence.Holder, values Values) (steps []Step) {
	if len(servers) != 1 {
		values["candidates"] = namesOf(servers)
		values["served"] = values["candidates"]
		return v.advise("mount.fuse", values)
	}
	h := servers[0]
	p := evidence.Process{PID: h.PID, Command: h.Command, Start: h.Start, State: h.State}
	if h.State == evidence.Stopped {
		steps = v.letGoOn(p, h.Container)
	}
	values["served"] = one(v.nameOf(h))
	steps = append(steps, v.advise("mount.fuse", values)...)
	of := v.processValues(p)
	of["at"], of["pod"], of["serving"] = values["at"], values["pod"], values["served"]
	for _, s := range v.advise("mount.fuse-server", of) {
		switch {
		case s.Looks():
			steps = slices.Insert(steps, 0, s)
		case slices.ContainsFunc(steps, Step.acts):
			s = s.after(notEnough)
			fallthrough
		default:
			steps = append(steps, s)
		}
	}
	return steps
}

// nameOf names a process, with its container if it runs in one.
func (v *view) nameOf(h evidence.Holder) string {
	name := fmt.Sprintf("pid %d (%s)", h.PID, h.Command)
	if o, known := v.ours(h.Container); known {
		name += " of " + called(o.ObjectRef)
	}
	return name
}

// podOf names the pod of a process that waits for a file system, or whose volume that is, or the process.
func (v *view) podOf(p evidence.Process, m evidence.Mount) string {
	if o, known := v.ours(p.Container); known && o.Pod.Name != "" {
		return o.Pod.String()
	}
	return cmp.Or(v.podWithVolume(m).String(), theProcess(p))
}
