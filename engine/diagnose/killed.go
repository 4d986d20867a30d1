package diagnose

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// If a process was killed at most killedBefore earlier than a trouble began, the kill may have caused the trouble.
	killedBefore = time.Minute
	// killedAnswers is how long an answer of a process may still come after the time at which, by the kernel's log, it
	// was killed. The clock of that log is not more exact than that.
	killedAnswers = 2 * time.Second
)

// othersGroup matches the control groups of containers, machines and services. A process in one of them is the runtime
// only if that is the runtime's own unit.
var othersGroup = regexp.MustCompile(`kubepods|[0-9a-f]{64}|machine\.slice|/lxc|\.service`)

// killed returns the values of the sentence that says that the kernel has killed the runtime. It returns nil if the
// kernel has not, or if the runtime has started again or answered since. If nobody has seen the process, and its
// control group belongs to no service and no container, the values say that it was only likely the runtime.
func (f *Facts) killed() Values {
	for _, l := range f.kernelLog() {
		at := f.Look.At.Add(-l.Age)
		answered := func(c answers.Calls) bool { return c.LastOK.After(at.Add(killedAnswers)) }
		begun := func(p evidence.Process) bool { return p.Age > 0 && p.Age < l.Age }
		if l.About != knowledge.AboutKill || l.Command != f.program() || slices.ContainsFunc(f.Calls, answered) || slices.ContainsFunc(f.runtimes(), begun) {
			continue
		}
		v := Values{"killed": evidence.Process{Command: l.Command, PID: l.PID}, "killedAt": at}
		switch {
		case l.Own, inUnit(l.Group, f.units()):
			return v
		case at.Before(f.Started) && l.Group != "" && !othersGroup.MatchString(l.Group):
			v["likelyKilled"] = ", likely it,"
			return v
		}
	}
	return nil
}

// killExplains reports whether a process was killed at a time at which that may have caused a finding: not long before
// the finding began, or after. check does not know when the finding began.
func (f *Facts) killExplains(found *draft, l evidence.KernelLine) bool {
	before := killedBefore
	if f.once() {
		before = unitFresh
	}
	return !f.Look.At.Add(-l.Age).Before(cmp.Or(found.Since, f.at()).Add(-before))
}

func (f *Facts) killedKubelet(l evidence.KernelLine) bool {
	var units []string
	for _, o := range f.flavours() {
		units = append(append(units, o.KubeletUnits...), o.Units...) // without a unit of its own the kubelet runs in the runtime's unit
	}
	return slices.Contains(knowledge.Kubelets, l.Command) && (l.Own || inUnit(l.Group, units))
}

// runtimePrograms has the beginnings of the names of a runtime's programs.
var runtimePrograms = slices.Concat(knowledge.Programs, []string{"conmon", "runc", "crun"})

// ofRuntime reports whether a line is about one of the runtime's programs. That needs a process that was seen, or a
// control group of the runtime's unit or of a pod.
func (f *Facts) ofRuntime(l evidence.KernelLine) bool {
	is := slices.ContainsFunc(runtimePrograms, func(name string) bool { return strings.HasPrefix(l.Command, name) })
	return is && (l.Own || inUnit(l.Group, f.units()) || f.inPod(l.Group))
}

// inUnit reports whether a control group is within that of one of these services of the node itself. A container may
// have services with the same names.
func inUnit(group string, units []string) bool {
	for part := range strings.SplitSeq(strings.TrimPrefix(group, "/"), "/") {
		if !strings.HasSuffix(part, ".slice") {
			return slices.Contains(units, strings.TrimSuffix(part, ".service"))
		}
	}
	return false
}

// inPod reports whether a control group is within that of a listed pod. Kubelets name the group by the UID of the pod;
// with systemd they write the UID with underscores.
func (f *Facts) inPod(group string) bool {
	return group != "" && slices.ContainsFunc(f.Pods, func(p *engine.Pod) bool {
		uid := string(p.UID)
		return uid != "" && (strings.Contains(group, "/pod"+uid) || strings.Contains(group, "-pod"+strings.ReplaceAll(uid, "-", "_")+".slice"))
	})
}
