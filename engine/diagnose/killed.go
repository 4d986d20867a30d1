package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// killedBefore is how long after a process was killed what comes of it begins.
const killedBefore = time.Minute

// killed says that the kernel has killed the runtime, which was neither begun again nor
// has answered since; empty if it has not. Who came after that has not seen the process, and
// by a control group that is no service's and no container's it is only likely that one.
func (v *view) killed() string {
	for _, l := range v.kernel() {
		at := v.evidence.At.Add(-l.Age)
		answered := func(c answers.Calls) bool { return c.LastOK.After(at.Add(killedTold)) }
		begun := func(p evidence.Process) bool { return p.Age > 0 && p.Age < l.Age }
		if l.About != knowledge.AboutKill || l.Command != v.program() || slices.ContainsFunc(v.Calls, answered) || slices.ContainsFunc(v.daemons(), begun) {
			continue
		}
		switch {
		case l.Own, inUnit(l.Group, v.units()):
			return fmt.Sprintf("the kernel killed %s (pid %d) for want of memory at %s", l.Command, l.PID, v.clock(at))
		case at.Before(v.Started) && l.Group != "" && !othersGroup.MatchString(l.Group):
			return fmt.Sprintf("the kernel killed %s (pid %d), likely it, for want of memory at %s", l.Command, l.PID, v.clock(at))
		}
	}
	return ""
}

// othersGroup finds the control groups of containers, machines and services, by which a
// process is not the runtime's unless its own unit is that service.
var othersGroup = regexp.MustCompile(`kubepods|[0-9a-f]{64}|machine\.slice|/lxc|\.service`)

// killedTold is how long after the kernel has said that it kills a process an answer of that
// may come, and how exact the kernel's clock is.
const killedTold = 2 * time.Second

func runtimeKilled(v *view, f *Finding, l evidence.KernelLine) bool {
	return v.ofRuntime(l) && f.Subject.none()
}

func kubeletKilled(v *view, _ *Finding, l evidence.KernelLine) bool {
	var units []string
	for _, f := range v.flavours() {
		units = append(append(units, f.KubeletUnits...), f.Units...) // without the first it runs in the second
	}
	return slices.Contains(knowledge.Kubelets, l.Command) && (l.Own || inUnit(l.Group, units))
}

// explains reports whether a process was killed at a moment at which that may have brought
// a finding about: not long before it began, or before one look that does not know when.
func (v *view) explains(f *Finding, l evidence.KernelLine) bool {
	before := killedBefore
	if v.Policy.Bounds().OneMoment {
		before = unitFresh
	}
	return !v.evidence.At.Add(-l.Age).Before(cmp.Or(f.Since, v.At).Add(-before))
}

// ofRuntime reports whether a line names one of the runtime's programs, by the number of a
// daemon that was seen or by its control group: that of the runtime's unit, or of a pod.
func (v *view) ofRuntime(l evidence.KernelLine) bool {
	return beginsAs(l.Command, runtimePrograms) && (l.Own || inUnit(l.Group, v.units()) || v.inPod(l.Group))
}

// inUnit reports whether a control group is that of one of some services of the node
// itself, or within it: a container may have services of the same names.
func inUnit(group string, units []string) bool {
	for part := range strings.SplitSeq(strings.TrimPrefix(group, "/"), "/") {
		if !strings.HasSuffix(part, ".slice") {
			return slices.Contains(units, strings.TrimSuffix(part, ".service"))
		}
	}
	return false
}

// inPod reports whether a control group is that of a pod that is listed, or within it:
// kubelets name it by the pod's UID, with systemd in other letters.
func (v *view) inPod(group string) bool {
	return group != "" && slices.ContainsFunc(v.Pods, func(p *engine.Pod) bool {
		uid := string(p.UID)
		return uid != "" && (strings.Contains(group, "/pod"+uid) || strings.Contains(group, "-pod"+strings.ReplaceAll(uid, "-", "_")+".slice"))
	})
}

// runtimePrograms begin the names of a runtime's programs.
var runtimePrograms = slices.Concat(knowledge.Programs, []string{"conmon", "runc", "crun"})
