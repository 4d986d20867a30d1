package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Standing is how a machine that is replayed stands after a step, as far as releases of the
// kubelet are compared by it.
type Standing struct {
	Release   pleg.Release // whose relist is made
	Unhealthy bool         // the kubelet says so of its PLEG
	Ready     bool         // the node, as posted last
	Relists   uint64       // of all pods, that have ended
	Last      Relist       // of these
	Began     time.Time    // of the relist of all pods that is under way; zero if none is
	Inspected int          // pods in that one so far
}

// Work is [Replay.Step], and returns all that the machine asks for, as the calls that it would
// make. It fails as Step does.
func (r *Replay) Work(at time.Time, in Input) (w Work, err error) {
	defer caught(func(p *PanicError) { err = unknown(p) })
	return r.machine.step(at, in), nil
}

// Due returns when the machine is to be stepped though nothing happens; zero for never.
func (r *Replay) Due() time.Time { return r.machine.due() }

// Out returns the calls that are out, the oldest first.
func (r *Replay) Out() []Call { return r.machine.out() }

// Emulate makes the relist of a release from the next relist on, whatever the node's kubelet is.
func (r *Replay) Emulate(release pleg.Release) { r.machine.emulate(release) }

// Standing returns how the machine stands as of a moment that is not before its last step.
func (r *Replay) Standing(at time.Time) Standing { return r.machine.standing(at) }

func (m *machine) out() (all []Call) {
	for _, p := range m.calls.out {
		all = append(all, Call{ID: p.id, Flight: p.Flight, Timeout: p.timeout, Raw: p.raw})
	}
	return all
}

func (m *machine) emulate(release pleg.Release) { m.config.Follow, m.followed = false, release }

func (m *machine) standing(at time.Time) Standing {
	s := Standing{
		Release: m.config.Release, Unhealthy: m.kubelet.plegErrs(m, at) != "", Ready: m.kubelet.poster.ready, Relists: m.relists.count,
	}
	if n := len(m.relists.history); n > 0 {
		s.Last = m.relists.history[n-1]
	}
	if l := m.relists.now; l != nil && !l.onDemand() {
		s.Began, s.Inspected = l.began, l.done
	}
	return s
}
