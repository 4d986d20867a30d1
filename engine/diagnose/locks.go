package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// locksTold is how many locks are told beside a list that waits for nobody known.
const locksTold = 3

// verbOf are the errands of calls of the CRI, by their verbs.
var verbOf = map[string][]string{
	"UpdateContainerResources": {"update"},
	"CreateContainer":          {"create"},
	"StartContainer":           {"create", "start"},
	"StopContainer":            {"kill", "delete", "umount"},
	"RemoveContainer":          {"delete", "umount"},
	"RunPodSandbox":            {"create", "start", "CNI ADD"},
	"StopPodSandbox":           {"kill", "delete", "umount", "CNI DEL"},
	"RemovePodSandbox":         {"delete", "umount"},
	"Status":                   {"CNI STATUS"},
}

// locks returns those that goroutines of the runtime wait for; nil if nobody looked.
func (v *view) locks() []evidence.Lock { return v.deep().Stacks.Locks }

// locksOf returns those that a method of the CRI waits for.
func (v *view) locksOf(method string) (found []*evidence.Lock) {
	for i, all := 0, v.locks(); i < len(all); i++ {
		if slices.Contains(all[i].Calls, method) {
			found = append(found, &all[i])
		}
	}
	return found
}

// lockAt returns the lock of what has an address; nil if none is known.
func (v *view) lockAt(address string) *evidence.Lock {
	locks := v.locks()
	i := slices.IndexFunc(locks, func(l evidence.Lock) bool { return l.Address == address })
	if address == "" || i < 0 {
		return nil
	}
	return &locks[i]
}

// lockOf returns the lock that an object's status waits for, nil if none is known, and
// what proves that it is that object's; empty if that is only likely. A lock has no name:
// it is the only one that such calls wait for, and the object the only one whose status
// hangs; or its holder is at work on the object.
func (v *view) lockOf(h *hang) (lock *evidence.Lock, proof string) {
	list := v.listBehind(h)
	var found []*evidence.Lock
	for i, all := 0, v.locks(); i < len(all); i++ {
		l := &all[i]
		if l.Of == evidence.OfContainer && h.Op != call.ContainerStatus || l.Of == evidence.OfSandbox && h.Op != call.PodSandboxStatus {
			continue
		}
		if l.Holder.Container != "" && l.Holder.Container == h.ID && !l.Likely {
			return l, "its holder is at work on it, by its stack"
		}
		if slices.Contains(l.Calls, h.Op.String()) || list != nil && slices.Contains(l.Calls, list.Op.String()) {
			if l.Holder.Container == "" || l.Holder.Container == h.ID {
				found = append(found, l)
			}
		}
	}
	if i := slices.IndexFunc(found, func(l *evidence.Lock) bool { return slices.Contains(l.Calls, h.Op.String()) }); i >= 0 {
		found = slices.DeleteFunc(found, func(l *evidence.Lock) bool { return !slices.Contains(l.Calls, h.Op.String()) })
	}
	if len(found) == 0 {
		return nil, ""
	}
	lock = found[0] // with most waiters
	only := len(v.hanging(func(o *hang) bool { return o.Op == h.Op })) == 1 && len(found) == 1
	errand, works := v.errandFor(h.ID, v.sandbox(h.Flight), false)
	switch {
	case !only || !v.objectsAnswered(v.began(h)):
		return lock, ""
	case works && slices.Contains(verbOf[lock.Holder.Call], errand.Verb):
		return lock, fmt.Sprintf("its status call hangs, others are answered; its holder answers %s, and %s is at work on it", lock.Holder.Call, errandName(errand))
	case slices.Contains(lock.Calls, h.Op.String()):
		return lock, "its status call hangs, others are answered"
	}
	return lock, ""
}

func waitersOf(l *evidence.Lock) string {
	said := count(l.Waiters, "goroutine") + " waiting for it in the runtime's own dump"
	if len(l.Calls) > 0 {
		said += ", " + join(l.Calls) + " among them"
	}
	return said
}

// lockName names a lock by what it guards and where that is.
func lockName(l *evidence.Lock) string { return fmt.Sprintf("lock of %s at %s", l.Of, l.Address) }

// goroutineName names one by its number and what it waits for.
func goroutineName(g evidence.Goroutine) string {
	return fmt.Sprintf("goroutine %d%s", g.Number, doing(g))
}

// doing says what a goroutine waits for, with a space before it; nothing if that is not
// known.
func doing(g evidence.Goroutine) string {
	what, waits := strings.CutPrefix(g.Doing, "wait for ")
	switch {
	case g.Doing == "":
		return ""
	case waits || g.Waits != "":
		return " waiting for " + what
	}
	return " in " + g.Doing
}

// lockLine says who waits for the lock of an object's status, and who holds it: "41
// goroutines wait for the status of container nginx (payments/api-7d); goroutine 1234 has
// held it for 5m in ttrpc Task.Update".
func (v *view) lockLine(h *hang) string {
	l, joined := v.lockOf(h)
	if l == nil {
		return ""
	}
	what := "the status of " + statusOf(h.Flight)
	if joined == "" {
		what = "the " + lockName(l) + ", likely of " + statusOf(h.Flight)
	}
	return lockSentence(l, what)
}

// statusOf names a container or a sandbox: container nginx (payments/api-7d).
func statusOf(f engine.Flight) string {
	kind, pod := "container", f.Pod.String()
	name := f.Container
	if f.Op == call.PodSandboxStatus {
		kind, name = "sandbox", ""
	}
	if name == "" {
		name = shortID(f.ID)
	}
	if pod == "" {
		return kind + " " + name
	}
	return fmt.Sprintf("%s %s (%s)", kind, name, pod)
}

// lockSentence says who waits for a lock, and what its holder does.
func lockSentence(l *evidence.Lock, what string) string {
	wait := " waits for "
	if l.Waiters != 1 {
		wait = " wait for "
	}
	said := count(l.Waiters, "goroutine") + wait + what
	g := l.Holder
	if g.Number == 0 {
		return said + "; who holds it is not seen"
	}
	holds := " has held it"
	if l.Likely {
		holds = " has likely held it"
	}
	said += fmt.Sprintf("; goroutine %d%s", g.Number, holds)
	if g.For > 0 {
		said += " for " + roughly(g.For)
	}
	return said + doing(g)
}

// lockLines tell the locks that a call waits for where no object hangs.
func (v *view) lockLines(method string) (lines []string) {
	all := v.locksOf(method)
	for _, l := range all[:min(len(all), locksTold)] {
		lines = append(lines, lockSentence(l, "the "+lockName(l)))
	}
	return lines
}

// holderOf returns the lock that a method waits for and whose holder is surely at work
// on a container that is known; nil if there is none or several.
func (v *view) holderOf(method string) *evidence.Lock {
	all := v.locksOf(method)
	if len(all) != 1 || all[0].Likely || strings.TrimSpace(all[0].Holder.Container) == "" {
		return nil
	}
	return all[0]
}
