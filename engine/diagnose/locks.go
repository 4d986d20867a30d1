package diagnose

import (
	"fmt"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// locksTold is how many locks are told beside a list that waits for nobody known.
const locksTold = 3

// lockLines say of each lock on the way down from a node who waits for it, and who holds
// it: "41 goroutines wait for the status of container nginx (payments/api-7d); goroutine
// 1234 has held it for 5m in ttrpc Task.Update".
func (v *view) lockLines(node string) (lines []string) {
	g := v.graph()
	for _, l := range g.Through(g.Find(node)) {
		n := &g.Nodes[l.Place]
		lock := n.Lock()
		switch {
		case lock == nil || l.Again || len(lines) == locksTold:
		case n.Kind != waits.Lock: // likely its holder
			lines = append(lines, lockSentence(lock, "the "+waits.LockName(lock)+", likely of "+statusOf(n.Object.ObjectRef)))
		case n.Object.ID != "":
			lines = append(lines, lockSentence(lock, "the status of "+statusOf(n.Object.ObjectRef)))
		default:
			lines = append(lines, lockSentence(lock, "the "+waits.LockName(lock)))
		}
	}
	return lines
}

// statusOf names a container or a sandbox: container nginx (payments/api-7d).
func statusOf(o pleg.ObjectRef) string {
	kind, name := "container", o.Container
	if o.Sandbox {
		kind, name = "sandbox", ""
	}
	if name == "" {
		name = pleg.ShortID(o.ID)
	}
	if pod := o.Pod.String(); pod != "" {
		return fmt.Sprintf("%s %s (%s)", kind, name, pod)
	}
	return kind + " " + name
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
		said += " for " + waits.Roughly(g.For)
	}
	return said + waits.Doing(&g)
}
