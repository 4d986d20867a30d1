package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// flavours returns the flavours that the runtime may be. There are several if nothing tells them apart. The runtime's
// own name counts more than its socket.
func (f *Facts) flavours() []knowledge.Flavour {
	by := signs{f.Look, f.Endpoint, f.Version.RuntimeName}
	if f.kept.flavours == nil || f.kept.by != by {
		f.kept.flavours, f.kept.by = f.findFlavours(), by
	}
	return f.kept.flavours
}

// signs are the facts that show which flavour the runtime is.
type signs struct {
	look           *evidence.Report
	endpoint, name string
}

func (f *Facts) findFlavours() []knowledge.Flavour {
	if known, ok := knowledge.On(f.Look.OS); ok {
		return []knowledge.Flavour{known}
	}
	likely := knowledge.Likely(f.Endpoint)
	if strings.Contains(strings.ToLower(f.Version.RuntimeName), "cri-o") {
		likely = knowledge.At(knowledge.CRIO.Socket)
	}
	for _, p := range f.Look.Processes.Daemons {
		in, known := knowledge.InUnit(unitName(p))
		isLikely := slices.ContainsFunc(likely, func(o knowledge.Flavour) bool { return o.Name == in.Name })
		if known && in.Program == likely[0].Program && (in.Socket == "" || isLikely) {
			return []knowledge.Flavour{in}
		}
	}
	return likely
}

// flavour returns the most likely flavour of the runtime. sure is false if it may be another one, too.
func (f *Facts) flavour() (likely knowledge.Flavour, sure bool) {
	all, units := f.flavours(), f.units()
	may := slices.DeleteFunc(slices.Clone(all), func(o knowledge.Flavour) bool {
		return !slices.ContainsFunc(o.Units, func(unit string) bool { return slices.Contains(units, unit) })
	})
	if len(may) == 0 {
		may = all
	}
	return may[0], len(may) == 1
}

// program returns the name of the runtime's process.
func (f *Facts) program() string { return f.flavours()[0].Program }

func (f *Facts) isCRIO() bool { return f.program() == knowledge.CRIO.Program }

// unitName returns the service that a process runs in, without the suffix of systemd.
func unitName(p evidence.Process) string { return strings.TrimSuffix(p.Unit, ".service") }

// units returns the services that the runtime may run in. If the service is known, it returns only that one.
func (f *Facts) units() (units []string) {
	for _, o := range f.flavours() {
		units = append(units, o.Units...)
	}
	for _, p := range f.Look.Processes.Daemons { // the kubelet may run in the same service
		if unit := unitName(p); slices.Contains(units, unit) {
			return []string{unit}
		}
	}
	var found []string
	for _, p := range f.runtimes() {
		if unit := unitName(p); unit != "" && !slices.Contains(found, unit) {
			found = append(found, unit)
		}
	}
	if len(found) == 1 {
		return found
	}
	return units
}

// kubeletUnits returns the services that the kubelet may run in: the one in which it was seen, or else those of the
// flavour.
func (f *Facts) kubeletUnits() []string {
	unit := f.Memory.Kubelet.Process.Unit
	if p, runs := f.Look.Processes.Kubelet(); runs && p.Unit != "" {
		unit = p.Unit
	}
	if unit != "" {
		return []string{strings.TrimSuffix(unit, ".service")}
	}
	if o := f.flavours()[0]; len(o.KubeletUnits) > 0 {
		return o.KubeletUnits
	}
	return f.units()
}

// manager returns the init system that manages the services of this node: that of its distribution; or else the one
// that runs there; or else the one in whose control group the runtime or the kubelet was seen.
func (f *Facts) manager() knowledge.Manager {
	if name := f.flavours()[0].Manager; name != "" {
		return knowledge.ManagerNamed(name)
	}
	if strings.HasPrefix(f.units()[0], "snap.") {
		return knowledge.ManagerNamed("snap")
	}
	if f.Look.Init != "" {
		return knowledge.ManagerNamed(f.Look.Init)
	}
	for _, p := range f.Look.Processes.Daemons {
		switch {
		case strings.HasSuffix(p.Unit, ".service"):
			return knowledge.ManagerNamed("systemd")
		case p.Unit != "":
			return knowledge.ManagerNamed("openrc")
		}
	}
	return knowledge.ManagerNamed("systemd")
}

// socketPath returns the path of the unix socket of an endpoint.
func socketPath(endpoint string) string { return strings.TrimPrefix(endpoint, "unix://") }

// elsewhere reports whether the runtime's socket is not where crictl and ctr look for it.
func (f *Facts) elsewhere() bool {
	return f.Endpoint != "" && socketPath(f.Endpoint) != knowledge.Containerd.Socket
}

// starts returns the starts of the runtime in the last ten minutes, the oldest first.
func (f *Facts) starts() []past.Start {
	if !f.sameClock() {
		return nil
	}
	return f.Memory.StartsSince(f.at().Add(-past.AwayFor))
}

// If a shim is older than the runtime by more than shimsFirst, it belonged to the runtime before.
const shimsFirst = 2 * answers.Late

// timesAway returns how often the runtime was away in the last ten minutes, as far as is known. The first start counts
// only if a shim is older than it: otherwise the node booted.
func (f *Facts) timesAway() int {
	starts := f.starts()
	n := len(starts)
	older := func(p evidence.Process) bool { // the arguments of a conmon do not show which runtime it belongs to
		return (p.Own || f.isCRIO()) && p.Age > 0 && f.Look.At.Add(-p.Age).Before(starts[0].At.Add(-shimsFirst))
	}
	if n > 0 && !slices.ContainsFunc(f.Look.Processes.Shims, older) {
		n--
	}
	outages, _ := f.Memory.Outages.Since(past.AwayFor, f.at())
	return max(n, len(outages))
}

// awayWords returns in words how often the runtime was away in the last ten minutes; empty if it was not.
func (f *Facts) awayWords() string {
	n, least := f.timesAway(), ""
	if n == 0 {
		return ""
	}
	if f.at().Sub(f.Started) < past.AwayFor {
		least = "at least "
	}
	return "was away " + least + times(n) + " in the last 10 minutes"
}

// lacks reports whether a condition is not met, and returns the condition as the runtime gave it; zero if the runtime
// did not name it. Before the first answer to Status it returns false.
func (f *Facts) lacks(name string) (pleg.Condition, bool) {
	if f.Conditions == nil {
		return pleg.Condition{}, false
	}
	i := slices.IndexFunc(f.Conditions, func(c pleg.Condition) bool { return c.Type == name })
	if i < 0 {
		return pleg.Condition{}, true
	}
	return f.Conditions[i], !f.Conditions[i].Status
}
