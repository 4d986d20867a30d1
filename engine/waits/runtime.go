package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// callsToRuntime adds what a call waits for if no object is at fault for it. It waits for the runtime's process
// if that does nothing, or else for a lock in the runtime and the holder of that lock.
func callsToRuntime(b *builder) {
	for i := range b.Runtime {
		if p := &b.Runtime[i]; b.Doing(p, evidence.AsRuntime).DoesNothing() {
			b.runtime(p)
		}
	}
	anyBlamed := slices.Contains(b.blamed, true)
	for i := range b.Hangs {
		if h := &b.Hangs[i]; !b.blamed[i] && !(anyBlamed && h.Op.IsList()) {
			b.callToRuntime(b.call(i), h)
		}
	}
}

func (b *builder) callToRuntime(waiting int, h *Hang) {
	for i := range b.Runtime {
		if p := &b.Runtime[i]; b.Doing(p, evidence.AsRuntime).StandsNow() {
			b.edge(waiting, b.runtime(p), by(runtimesOwn, p.State))
			return
		}
	}
	i := slices.IndexFunc(b.Deep.Stacks.Locks, func(l evidence.Lock) bool {
		ofOther := (l.Of == evidence.OfContainer || l.Of == evidence.OfSandbox) && l.Holder.Container != h.Object.ID
		return slices.Contains(l.Calls, h.Op.String()) && !(h.Op.AboutObject() && ofOther)
	})
	if i < 0 {
		return
	}
	l := &b.Deep.Stacks.Locks[i] // with most waiters
	lock := b.lock(l)
	b.edge(waiting, lock, waitersOf(l))
	if last, works := b.holders(lock, l, true); works != nil && works.Container != "" {
		o := b.objectOf(works.Container)
		object := b.object(o)
		b.edge(last, object, by(stackNamesObject))
		b.goroutineToShim(object, o, works)
	}
}

func (b *builder) runtime(p *evidence.Process) int {
	return b.process(p, evidence.AsRuntime, evidence.Object{})
}

// storeHangs reports whether the runtime waits for its own disk. If the device of that disk is dead, a program
// that works for the runtime counts as well.
func (b *builder) storeHangs() bool {
	on := func(all []evidence.Process, as evidence.Role) bool {
		return slices.ContainsFunc(all, func(p evidence.Process) bool { return b.Doing(&p, as).DoesNothing() && b.OnStore(&p, as) })
	}
	all := &b.Report.Processes
	return on(b.Runtime, evidence.AsRuntime) || b.StoreSign() == evidence.DeviceDead && (on(all.Shims, evidence.AsMonitor) || on(all.Helpers, evidence.AsHelper))
}

// blames reports whether the object of a call is at fault for it. While the runtime waits for its own disk, the
// object is only at fault if something else shows it: its shim or its processes do nothing for another reason,
// a helper works on it, or a lock of the dump is surely its own.
func (b *builder) blames(h *Hang) bool {
	if !h.Blamed || !b.onDisk {
		return h.Blamed
	}
	shim, helper := b.shimOf(h.Object), b.helperFor(h.Object)
	worst := evidence.WorstOf(b.Report.Processes.Containers[h.Object.ID])
	l, of := b.lockOf(h)
	return shim != nil && b.Doing(shim, evidence.AsMonitor).DoesNothing() && b.isElsewhere(shim, evidence.AsMonitor) ||
		worst != nil && b.Doing(worst, evidence.AsWorkload).DoesNothing() && b.isElsewhere(worst, evidence.AsWorkload) ||
		helper != nil && b.isElsewhere(helper, evidence.AsHelper) && !b.begunSince(helper, h.Object.ID) ||
		of.Proven() && !l.Likely
}

// isElsewhere reports whether a process waits for something else than the runtime's disk. It returns false if
// it is not known what the process waits for in the kernel.
func (b *builder) isElsewhere(p *evidence.Process, as evidence.Role) bool {
	if p.State != evidence.Uninterrupted || b.Doing(p, as).What == evidence.OnServer {
		return true
	}
	return p.Mount.Type != "" && !b.OnStore(p, as)
}
