package waits

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A Refusal is a call that found nobody at the runtime's socket.
type Refusal struct {
	Op    call.Operation
	Since time.Time // the time of the first one in a row
	Line  string    // says how it failed, and since when
}

// refusalsToRuntime adds that a call which is refused waits until the runtime listens. If the runtime's process
// does nothing, for example because its disk is frozen, it never begins to listen.
func refusalsToRuntime(b *builder) {
	i := slices.IndexFunc(b.Runtime, func(p evidence.Process) bool { return b.Doing(&p, evidence.AsRuntime).DoesNothing() })
	if i < 0 {
		return
	}
	p := &b.Runtime[i]
	for _, r := range b.Refused {
		waiting := b.node(Call, r.Op.String(), Node{Name: r.Op.String(), Since: r.Since, sure: true})
		if r.Op.IsList() {
			b.edge(b.node(Relist, "", Node{Name: "relist", Since: r.Since}), waiting, by(reported, r.Line))
		}
		b.edge(waiting, b.runtime(p), by(runtimesOwn, p.State))
	}
}
