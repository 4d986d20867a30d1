package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// freeingMount returns the steps that can end the wait of a process for a file system.
func (f *Facts) freeingMount(p evidence.Process, m evidence.Mount) []Step {
	v := processValues(p).with(Values{
		"container": f.containerOf(p), "target": m.Node, "at": cmp.Or(m.Node, m.Point), "pod": f.podUsing(p, m),
	})
	switch {
	case doesAlone(p) == evidence.OnFrozenFS:
		return f.advise("mount.frozen", v)
	case strings.HasPrefix(m.Type, "fuse") && m.Type != "fuseblk":
		v["abort"] = m.Abort
		return f.freeingFUSE(p.Servers, v)
	case strings.HasPrefix(m.Type, "nfs"):
		v["address"] = serverOf(m)
		return f.advise("mount.nfs", v)
	case strings.HasPrefix(m.Type, "cifs"), strings.HasPrefix(m.Type, "smb"):
		return f.advise("mount.cifs", v)
	case m.Served():
		return f.advise("mount.server", v)
	}
	v["device"], v["disk"] = m.Device, strings.TrimPrefix(m.Source, "/dev/")
	return f.orDrain(f.advise("mount.disk", v))
}

// freeingFUSE returns the steps that can end a wait for a program that serves a file system. A program that is only
// stopped has to go on.
func (f *Facts) freeingFUSE(servers []evidence.Holder, v Values) (steps []Step) {
	if len(servers) != 1 {
		v["candidates"] = holderNames(servers)
		v["served"] = v["candidates"]
		return f.advise("mount.fuse", v)
	}
	h := servers[0]
	p := evidence.Process{PID: h.PID, Command: h.Command, Start: h.Start, State: h.State}
	if h.State == evidence.Stopped {
		steps = f.letGoOn(p, h.Container)
	}
	v["served"] = f.holderName(h)
	steps = append(steps, f.advise("mount.fuse", v)...)
	for _, s := range f.advise("mount.fuse-server", processValues(p).with(Values{"at": v["at"], "pod": v["pod"], "serving": v["served"]})) {
		switch {
		case s.Looks():
			steps = slices.Insert(steps, 0, s)
		case slices.ContainsFunc(steps, Step.acts):
			steps = append(steps, s.after(notEnough))
		default:
			steps = append(steps, s)
		}
	}
	return steps
}

// holderName returns the name of a process, with its container if it is in one.
func (f *Facts) holderName(h evidence.Holder) string {
	name := fmt.Sprintf("pid %d (%s)", h.PID, h.Command)
	if o, known := f.ours(h.Container); known {
		name += " of " + called(o.ObjectRef)
	}
	return name
}

// podUsing returns the pod of a process that waits for a file system. If that is not known, it returns the pod whose
// volume the file system is, or else the process.
func (f *Facts) podUsing(p evidence.Process, m evidence.Mount) string {
	if o, known := f.ours(p.Container); known && o.Pod.Name != "" {
		return o.Pod.String()
	}
	return cmp.Or(f.podWithVolume(m).String(), fmt.Sprintf("%s (pid %d)", p.Command, p.PID))
}

// podWithVolume returns the pod that a mounted volume belongs to; zero if that is not known.
func (f *Facts) podWithVolume(m evidence.Mount) pleg.PodRef {
	for _, p := range f.Pods {
		if m.Pod != "" && p.UID == m.Pod {
			return p.PodRef
		}
	}
	return pleg.PodRef{}
}
