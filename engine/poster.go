package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// postPeriod is from the end of one update of the node's status to the start of the
	// next: 10 s and, by chance, up to 4 % more. (kubelet JitterUntil, nodeStatusUpdateFrequency.)
	postPeriod = 10*time.Second + postJitter
	postJitter = 200 * time.Millisecond
	// muteFor is how long a call takes at most to fail on a socket that takes connections and
	// says nothing on them: what the kubelet gives a connection, after its longest wait
	// between two and a fifth of that by chance. (cri-client: minConnectionTimeout,
	// maxBackoffDelay.)
	muteFor = 5*time.Second + 3600*time.Millisecond
	// postAnytime is how far off a posting may be of which nothing is known.
	postAnytime = postPeriod / 2
)

// A poster is a model of the kubelet's updates of its node's status. Each asks the
// runtime for its Version first, waits for the answer up to the timeout of a call, and
// then computes the Ready condition as of that moment: a runtime that hangs holds the
// posting up, and what is posted at its return may speak of the past. (kubelet
// syncNodeStatus, defaultNodeStatusFuncs: VersionInfo comes before ReadyCondition.)
//
// When the kubelet's updates come nobody tells us. Until that is known they are taken to
// come half a period after whatever matters, which is never wrong by more.
type poster struct {
	ready   bool // as posted
	message string
	since   time.Time // when that changed Ready

	nextAt time.Time     // when Version is asked for next; zero if it is not asked for by itself any more
	fixed  bool          // that is so; else it waits for an answer to another call, for a fault must find no call of ours on its way
	spread time.Duration // how far the kubelet's own next update may be off, either way
	asked  time.Time     // since when Version is out; zero if it is not
	back   time.Time     // when one that was late came back last; zero if none was

	late  time.Time // start of the call whose lateness has set nextAt
	now   string    // what is wrong now
	errAt time.Time // when something began to be wrong, or nothing was wrong any more
	errs  string    // what was wrong before that
}

// due returns when Version is asked for by itself; zero if it is not.
func (p *poster) due(m *machine) time.Time {
	if m.pause.on || !p.asked.IsZero() || !p.fixed {
		return time.Time{}
	}
	return p.nextAt
}

// begins reports whether an update is due, and takes it for begun.
func (p *poster) begins(m *machine) bool {
	if due := p.due(m); due.IsZero() || m.now.Before(due) {
		return false
	}
	p.asked = m.now
	return true
}

// answered lets a due update begin: the runtime has just answered another call.
func (p *poster) answered(m *machine) { p.fixed = p.fixed || !m.now.Before(p.nextAt) }

// returned takes in that Version has returned: the condition is posted.
func (p *poster) returned(m *machine, a *answer) {
	held := m.now.Sub(p.asked)
	p.asked = time.Time{}
	if m.policy.Once {
		p.nextAt = time.Time{}
		return
	}
	answered, ended := !a.hung(m.config.Timeout), m.now
	if m.pause.on && answered {
		ended = m.pause.began // its time does not count; a deadline comes as much later
	}
	p.spread = min(p.spread+postJitter, postAnytime)
	if held >= postPeriod && answered {
		p.spread = postJitter // whenever the kubelet's was due, it was held up as well, and came back with this one
	}
	p.nextAt = ended.Add(postPeriod)
	p.fixed = p.spread < postAnytime || p.now != "" || !p.late.IsZero()
	errs := p.now
	if held > answers.Late {
		p.back = ended
		if m.now.Sub(p.errAt) < answers.Together {
			errs = p.errs // Version is the quickest call, and computing the condition takes no time
			p.races(p.now)
		}
	}
	if !m.pause.on && (errs == "" || !p.ready || !m.now.Before(p.heldUntil(m))) {
		p.post(m, errs)
	}
}

// heldUntil returns until when the kubelet's posting may be held up though ours is not; zero
// if it is not. Where a socket has been mute for us from the start the kubelet may still have
// a connection, on which its Version waits for its whole timeout.
func (p *poster) heldUntil(m *machine) time.Time {
	if !m.mute() || !m.kubelet.loop.syncedAt.IsZero() || !m.core.ListedAt().IsZero() {
		return time.Time{}
	}
	return m.started.Add(postPeriod + m.config.Timeout)
}

// mute reports whether a call about the whole runtime has failed last for a socket that takes
// connections and says nothing on them.
func (m *machine) mute() bool {
	for _, f := range m.known.Failures() {
		if f != nil && call.KindOf(f.Err) == call.ErrSilent {
			return true
		}
	}
	return false
}

// races takes in that Version has come back together with what ended the trouble: which of
// them the kubelet saw first decides whether it has posted Ready then or does so a period
// later. Nobody can tell, so it is taken to do so between.
func (p *poster) races(errs string) {
	if errs == "" {
		p.nextAt, p.spread, p.fixed = p.back.Add(postAnytime), postAnytime, true
	}
}

func (p *poster) post(m *machine, errs string) {
	if ready := errs == ""; ready != p.ready {
		p.ready, p.since = ready, m.now
		m.changed = true
	}
	p.message = errs
}

// follow takes in what the kubelet would say now, and since when a call has been late
// that the kubelet makes as well; zero if none is.
func (p *poster) follow(m *machine, errs string, late time.Time) {
	if m.policy.Once {
		p.now = errs
		p.post(m, errs)
		return
	}
	if (errs == "") != (p.now == "") {
		p.comesAfter(m, m.now)
		p.errs, p.errAt = p.now, m.now
		if m.now.Sub(p.back) < answers.Together {
			p.races(errs)
		}
	}
	p.now = errs
	if !late.IsZero() && p.late.IsZero() {
		p.comesAfter(m, late)
	}
	p.late = late
}

// comesAfter lets the next update come after a moment that matters, if there is no
// better reason for another time.
func (p *poster) comesAfter(m *machine, at time.Time) {
	if p.spread < postAnytime || !p.asked.IsZero() || m.pause.on {
		return
	}
	p.nextAt, p.fixed = at.Add(postAnytime), true
}

// resume shifts the next update by a pause that is over.
func (p *poster) resume(length time.Duration) {
	if !p.nextAt.IsZero() {
		p.nextAt = p.nextAt.Add(length)
	}
	if !p.asked.IsZero() {
		p.asked = p.asked.Add(length)
	}
}

// next foretells the posting that changes Ready. changes is when what the kubelet would
// say differs from what was posted, now or later; zero if that is not to come. silent
// says that the runtime answers nothing, so that Version may hang, too.
func (p *poster) next(m *machine, now, changes time.Time, silent bool) (n Posting) {
	if changes.IsZero() || m.policy.Once || m.pause.on {
		return n
	}
	at, period, held := p.nextAt, postPeriod, false
	switch {
	case p.ready && m.mute(): // each update waits for that, and nobody tells when it began
		return Posting{From: changes, To: latest(changes.Add(postPeriod+muteFor), p.heldUntil(m))}
	case !p.asked.IsZero() && now.Sub(p.asked) >= muteFor:
		at, period, held = p.asked.Add(m.config.Timeout), postPeriod+m.config.Timeout, true
	case !p.asked.IsZero() || silent:
		return n // whether Version is answered is seen in a moment
	case p.spread >= postAnytime && changes.After(now):
		at = changes.Add(postAnytime)
	}
	for at.Add(p.spread).Before(changes) {
		at = at.Add(period)
	}
	return Posting{Ready: !p.ready, Held: held, From: latest(at.Add(-p.spread), changes), To: at.Add(p.spread)}
}
