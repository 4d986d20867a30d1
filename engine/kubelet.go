package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What the kubelet says, to the letter. (kubelet 1.25 to 1.37: runtime.go,
// updateRuntimeUp, and the Ready condition of package nodestatus.)
const (
	statusNotChecked = "container runtime status check may not have completed yet"
	runtimeDown      = "container runtime is down"
	runtimeNotReady  = "container runtime not ready"
	networkNotReady  = "container runtime network not ready"
	networkUnknown   = "network state unknown" // of a kubelet that had no Status yet
	plegNotHealthy   = "PLEG is not healthy"

	readyReason    = "KubeletReady"
	notReadyReason = "KubeletNotReady"
	readyMessage   = "kubelet is posting ready status"
)

// A kubelet is what one that saw what the machine sees would say of its PLEG and of
// its node. It stands for one that has long been up: until the runtime has said
// otherwise it takes the node for ready, and had its last good list when the machine
// started at the latest. Only the one of a look that is made once has just started
// and takes nothing for granted.
//
// A pause is not an illness: while it lasts nothing is judged, and the clocks go
// on afterwards from where they stood.
type kubelet struct {
	passive
	starting bool
	loop     syncLoop
	poster   poster

	healthy    bool
	everJudged bool
	since      time.Time // when the verdict on PLEG last changed
	flips      int

	lastNode Node // but for what moves by itself
}

func newKubelet(now time.Time, starting bool) kubelet {
	k := kubelet{starting: starting, since: now, poster: poster{ready: true, since: now, nextAt: now, fixed: true, spread: postAnytime}}
	if starting {
		k.loop = syncLoop{networkErr: networkUnknown}
	} else {
		k.loop = syncLoop{synced: now}
	}
	return k
}

// advance takes the verdict on PLEG as of now, and with it whether the sync loop
// reads the events: those in the channel, and those that come before the next step.
// Before the first good list there is nothing to read.
func (k *kubelet) advance(m *machine) {
	now := m.pause.judged(m.now)
	if healthy := m.core.Healthy(now) == nil; healthy != k.healthy {
		if k.everJudged {
			k.flips++
		}
		k.healthy, k.everJudged, k.since = healthy, true, m.now
		m.changed = true
	}
	k.loop.returns(m)
	m.core.Attend(k.starting || k.loop.reads(m.now, k.plegErr(m, m.now) == "") && k.everJudged)
	k.loop.keepsHouse(m)
	k.follow(m)
}

// follow lets the poster see what there would be to post, and notes whether people
// should be told: whether more has changed than figures.
func (k *kubelet) follow(m *machine) {
	late, _ := k.late(m)
	k.poster.follow(m, k.errs(m, m.now), late)
	n := k.node(m, m.now)
	n.SyncedAt, n.DownAt, n.Since, n.Message, n.Next = time.Time{}, time.Time{}, time.Time{}, "", Posting{Ready: n.Next.Ready}
	if n.PLEG != "" {
		n.PLEG = plegNotHealthy // without the age of the list
	}
	m.changed = m.changed || n != k.lastNode
	k.lastNode = n
}

// late returns since when a call has been late that the kubelet makes as we do, and that
// it waits for; zero if none is. silent says that a list and Status are, and that Version
// was not answered since they were late, either.
func (k *kubelet) late(m *machine) (first time.Time, silent bool) {
	var list, status time.Time
	for _, p := range m.calls.out {
		switch {
		case m.now.Sub(p.Since) < answers.Late || p.abandoned:
		case p.By == call.ByRelist && p.Op.IsList() && p.Pod.UID == "":
			list = p.Since
		case p.By == call.ByStatusLoop && p.Op == call.Status:
			status = p.Since
		}
	}
	if list.IsZero() || status.IsZero() {
		return sooner(list, status), false
	}
	both := latest(list, status)
	return sooner(list, status), !m.calls.sums.Of(call.Version).LastOK.After(both.Add(answers.Late))
}

// unhealthyAt returns when PLEG becomes unhealthy if no list succeeds until then:
// just after the list's age has reached the threshold. Zero while paused or
// unhealthy, and before the first good list.
func (k *kubelet) unhealthyAt(m *machine) time.Time {
	if m.pause.on || !k.healthy {
		return time.Time{}
	}
	return m.overdueAt(m.core.ListedAt())
}

// overdueAt returns when a list that began then is just older than the threshold.
func (m *machine) overdueAt(began time.Time) time.Time {
	return began.Add(m.core.Threshold() + 1 + m.pause.total - m.pause.listed)
}

// foretold is unhealthyAt as far as it can come, and is known: not where the relist under
// way inspects, and ends before.
func (k *kubelet) foretold(m *machine) time.Time {
	at := k.unhealthyAt(m)
	if ends := m.relists.endsBy(m); !ends.IsZero() && ends.Add(m.period+answers.Late).Before(at) {
		return time.Time{}
	}
	return at
}

// due returns when something changes though nothing happens; zero if nothing does.
func (k *kubelet) due(m *machine) time.Time {
	due := sooner(sooner(k.loop.due(m), k.poster.due(m)), k.unhealthyAt(m))
	if at := k.loop.downAt(); m.now.Before(at) {
		due = sooner(due, at)
	}
	if at := m.overdueAt(m.started); m.core.ListedAt().IsZero() && !m.pause.on && m.now.Before(at) {
		due = sooner(due, at)
	}
	for _, p := range m.calls.out {
		if at := p.Since.Add(answers.Late); m.now.Before(at) && (p.By == call.ByRelist && p.Op.IsList() || p.By == call.ByStatusLoop) {
			due = sooner(due, at) // it is late then
		}
	}
	return due
}

func (k *kubelet) fill(m *machine, s *Snapshot) {
	s.Health, s.Node = k.health(m, s.At), k.node(m, s.At)
}

// health returns the verdict on PLEG and what it is made of.
func (k *kubelet) health(m *machine, now time.Time) Health {
	h := Health{
		Healthy: k.healthy, ListedAt: m.core.ListedAt(), SettledAt: m.relists.settledAt,
		UnhealthyAt: k.foretold(m), Since: k.since, Flips: k.flips,
	}
	if err := m.core.Healthy(m.pause.judged(now)); err != nil {
		h.Verdict = err.Error()
	}
	return h
}

// plegErr returns what the kubelet says of its PLEG; empty if that is healthy.
// That PLEG "has yet to be successful" only a kubelet that starts would say.
func (k *kubelet) plegErr(m *machine, now time.Time) string {
	now = m.pause.judged(now)
	err := m.core.Healthy(now)
	if m.core.ListedAt().IsZero() && !k.starting {
		err = m.core.Overdue(now.Sub(m.started))
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v", plegNotHealthy, err)
}

// errs returns what the Ready condition would say if it were computed now; empty if the
// node is ready. That it has other reasons as well, such as its disks, is nothing
// that can be seen over CRI.
func (k *kubelet) errs(m *machine, now time.Time) string {
	return aggregate(k.loop.down(now), k.plegErr(m, now), k.loop.runtimeErr, k.loop.networkErr)
}

// node returns what the kubelet says of its node, and what it has posted.
func (k *kubelet) node(m *machine, now time.Time) Node {
	s, p := &k.loop, &k.poster
	n := Node{
		Ready: p.ready, Reason: readyReason, Message: readyMessage,
		Known:       k.knows(m),
		Since:       p.since,
		RuntimeDown: s.down(now),
		PLEG:        k.plegErr(m, now),
		RuntimeErr:  s.runtimeErr,
		NetworkErr:  s.networkErr,
		SyncedAt:    s.syncedAt,
		DownAt:      s.downAt(),
		LoopHeld:    s.held,
		LoopStopped: s.stopped,
		LoopNap:     s.nap,
		HealthzAt:   s.healthzAt(),
	}
	if !p.ready {
		n.Reason, n.Message = notReadyReason, p.message
	}
	if now.Sub(p.asked) >= answers.Late && !p.asked.IsZero() {
		n.PostingHeld = p.asked
	}
	_, silent := k.late(m)
	n.Next = p.next(m, now, k.changes(m, now), silent)
	return n
}

// knows reports whether what it says comes of what was seen.
func (k *kubelet) knows(m *machine) bool {
	asked := m.relists.count > 0 && !m.status.statusAt.IsZero()
	granted := !k.starting && k.poster.ready && k.poster.now == "" && (k.loop.syncedAt.IsZero() || m.core.ListedAt().IsZero())
	return asked && !granted
}

// changes returns when what the kubelet would say differs from what it has posted, if
// all goes on as it does: now, or at a time to come. Zero if that is not in sight.
func (k *kubelet) changes(m *machine, now time.Time) time.Time {
	p := &k.poster
	switch {
	case p.ready != (p.now == ""):
		return p.errAt
	case !p.ready:
		return time.Time{}
	}
	var at time.Time
	status := m.known.StatusErr != nil || m.status.isLate(m, now)
	if status {
		at = k.loop.downAt()
	}
	if since := m.relists.troubled(m, now); !since.IsZero() {
		if !status && m.status.statusAt.Before(since) {
			return time.Time{} // Status may be in the same trouble: the next one tells
		}
		at = sooner(at, k.foretold(m))
	}
	return at
}

// aggregate joins error texts as Kubernetes does: the empty ones left out,
// equal ones once, and brackets only around several.
func aggregate(texts ...string) string {
	var said []string
	for _, text := range texts {
		if text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if len(said) < 2 {
		return strings.Join(said, "")
	}
	return "[" + strings.Join(said, ", ") + "]"
}

// unmet returns what the kubelet says of a condition that is not met, or that
// the runtime did not name at all; empty if it is met. Of two with one name the
// first counts.
func unmet(what string, conditions []pleg.Condition, name string) string {
	for _, c := range conditions {
		if c.Type != name {
			continue
		}
		if c.Status {
			return ""
		}
		return fmt.Sprintf("%s: %s=%t reason:%s message:%s", what, c.Type, c.Status, c.Reason, c.Message)
	}
	return what + ": <nil>"
}
