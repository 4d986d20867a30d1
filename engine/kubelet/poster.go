package kubelet

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

const (
	// postPeriod is the time from the end of one update of the node's status to the start of the
	// next: 10 s and a random part of up to 4 %. It is the middle, and postJitter is the most it
	// may be off. (kubelet nodeStatusUpdateFrequency, JitterUntil.)
	postPeriod = 10*time.Second + postJitter
	postJitter = 200 * time.Millisecond
	// postAnytime is how far off our posting may be while nothing is known of the kubelet's.
	postAnytime = postPeriod / 2
	// muteFor is the longest time until a call fails on a socket that takes connections and sends
	// nothing. It is the kubelet's timeout for a connection, its longest wait between two
	// connections, and a random part of up to a fifth of that wait. (cri-client:
	// minConnectionTimeout, maxBackoffDelay.)
	muteFor = 5*time.Second + 3600*time.Millisecond
)

// A poster models the kubelet's updates of its node's status. Each update asks the runtime for its
// Version first, waits for the answer up to the timeout of a call, and then computes the Ready
// condition as of that moment. So a runtime that hangs holds the posting up, and the posting after
// its return may speak of the past. (kubelet syncNodeStatus, defaultNodeStatusFuncs: VersionInfo
// comes before ReadyCondition; measured: a runtime stopped for 75 s is NotReady after it is back.)
//
// We cannot know when the kubelet's updates come. Until something has aligned them with ours, our
// update comes half a period after we see an event that matters. It is wrong by that at most, and by
// the 5 s that the kubelet may see the event before us or after us.
type poster struct {
	NextAt time.Time     // when Version is due; zero if never
	Fixed  bool          // Version is due then. Otherwise it waits for a good answer to Status, so that our call is not the one that hangs
	Spread time.Duration // how much earlier or later the kubelet's own update may be
	Asked  time.Time     // since when Version is out; zero if it is not
	Back   time.Time     // when a late Version last returned; zero if none has

	LateCall  time.Time // start of the late call that has set NextAt; zero if no call is late
	Errs      string    // what is wrong now
	ErrsWere  string    // what was wrong when the node last turned ill or well
	ErrsSince time.Time // when it did
}

// VersionDue returns when the status lane must ask for Version and then post. It is zero in a
// pause, while a Version call is out, and while Version must wait for the next good answer to
// Status. It may change with each Advance.
func (k *Kubelet) VersionDue() time.Time {
	if k.Paused() || !k.Poster.Asked.IsZero() || !k.Poster.Fixed {
		return time.Time{}
	}
	return k.Poster.NextAt
}

// VersionBegan says that the status lane has asked for Version.
func (k *Kubelet) VersionBegan(at time.Time) {
	k.passTo(at)
	k.Poster.Asked = at
}

// VersionReturned says that this Version call has returned, with or without an error. The
// condition is posted then. ranOut is set if the deadline ended the call.
func (k *Kubelet) VersionReturned(at time.Time, ranOut bool) {
	k.passTo(at)
	p := &k.Poster
	took, ended := at.Sub(p.Asked), at
	p.Asked = time.Time{}
	if k.Config.Starting {
		p.NextAt = time.Time{}
		return
	}
	if k.Paused() && !ranOut {
		ended = k.PausedAt // the end of the pause moves NextAt. A deadline is later by the pause itself
	}
	p.Spread = min(p.Spread+postJitter, postAnytime)
	if took >= postPeriod && !ranOut {
		p.Spread = postJitter // whenever the kubelet's update was due, it waited as well, and came back with ours
	}
	p.NextAt = ended.Add(postPeriod)
	p.Fixed = p.Spread < postAnytime || p.Errs != "" || !p.LateCall.IsZero()
	errs := p.Errs
	if took > call.LateAfter {
		p.Back = ended
		if at.Sub(p.ErrsSince) < call.Together {
			errs = p.ErrsWere // Version is the quickest call, and computing the condition takes no time
			k.race(p.Errs)
		}
	}
	if !k.Paused() && (errs == "" || !k.Says.Ready || !at.Before(k.heldUntil())) {
		k.post(at, errs)
	}
}

// race handles a Version that came back together with the answer that ended the trouble. A kubelet
// that sees Version first posts what was wrong before, and Ready a period later: so it was each time
// that we measured. A kubelet that sees the other answer first has posted Ready at once. Either way
// its next update comes a period later.
func (k *Kubelet) race(errs string) {
	if p := &k.Poster; errs == "" {
		p.NextAt, p.Spread, p.Fixed = p.Back.Add(postPeriod), postJitter, true
	}
}

// raced reports whether the trouble ended together with the return of a late Version; see race.
func (p *poster) raced() bool { return p.Errs == "" && p.ErrsSince.Sub(p.Back).Abs() < call.Together }

func (k *Kubelet) post(at time.Time, errs string) {
	if ready := errs == ""; ready != k.Says.Ready {
		k.Says.Ready, k.Says.Since = ready, at
	}
	k.Says.Message = errs
}

// heldUntil returns until when the kubelet's posting may be held up although ours is not; zero if
// it is not. If a socket has been mute since we came, the kubelet may still have an older
// connection. Its Version waits there for its whole timeout.
func (k *Kubelet) heldUntil() time.Time {
	if !k.Seen.Mute || !k.Says.SyncedAt.IsZero() || !k.PLEG.ListedAt.IsZero() {
		return time.Time{}
	}
	return k.Started.Add(postPeriod + k.Config.Timeout)
}

// follow notes what is wrong now, and whether a call that the kubelet also makes is late.
func (k *Kubelet) follow() {
	p, errs := &k.Poster, k.errs()
	if k.Config.Starting {
		p.Errs = errs
		k.post(k.At, errs)
		return
	}
	if (errs == "") != (p.Errs == "") {
		k.comesAfter(k.At)
		p.ErrsWere, p.ErrsSince = p.Errs, k.At
		if k.At.Sub(p.Back) < call.Together {
			k.race(errs)
		}
	}
	late := sooner(k.ifLate(k.Seen.ListOut), k.ifLate(k.Seen.StatusOut))
	if !late.IsZero() && p.LateCall.IsZero() {
		k.comesAfter(late)
	}
	p.Errs, p.LateCall = errs, late
}

// comesAfter lets the next update come after a moment that matters, unless its time is known
// better.
func (k *Kubelet) comesAfter(at time.Time) {
	if p := &k.Poster; p.Spread >= postAnytime && !k.Paused() {
		p.NextAt, p.Fixed = at.Add(postAnytime), true
	}
}

// A span is the time within which an event comes.
type span struct{ from, to time.Time }

// at is the span of a moment that is known.
func at(moment time.Time) span { return span{moment, moment} }

// changes returns when the kubelet's words begin to differ from its last posting, if all goes on as
// now. That may be past or to come. It is zero if no difference is in sight.
func (k *Kubelet) changes() span {
	if ready := k.Poster.Errs == ""; ready != k.Says.Ready {
		if !ready && k.plegErr() == "" {
			return byStatus(k.Poster.ErrsSince)
		}
		return at(k.Poster.ErrsSince)
	} else if !ready {
		return span{}
	}
	status := k.Seen.StatusFailed || age(k.At, k.Seen.StatusOut) >= call.ForetoldAfter
	var down span
	if status {
		down = byStatus(k.Says.DownAt)
	}
	trouble := k.Seen.RelistFailing
	if trouble.IsZero() && age(k.At, k.Seen.RelistOut) >= call.ForetoldAfter {
		trouble = k.Seen.RelistOut
	}
	switch unhealthy := k.PLEG.UnhealthyAt; {
	case trouble.IsZero():
		return down
	case !status && k.Seen.StatusAt.Before(trouble):
		return span{} // Status may be in the same trouble: the next one shows
	case down.from.IsZero() || !unhealthy.IsZero() && unhealthy.Before(down.from):
		return at(unhealthy)
	}
	return down
}

// byStatus returns when the kubelet sees what our Status shows, or no Status, at a moment. Its own
// Status comes every 5 s, too, at moments that have nothing to do with ours. (Measured: NotReady
// 36.8 s and 38.0 s after the runtime was stopped, and 1.2 s after its network was gone.)
func byStatus(at time.Time) span {
	if at.IsZero() {
		return span{}
	}
	return span{at.Add(-call.StatusPeriod), at.Add(call.StatusPeriod)}
}

// next foretells the posting that changes Ready. changes is when there is something to change.
func (k *Kubelet) next(changes span) (n Posting) {
	p, ready := &k.Poster, k.Says.Ready
	if changes.from.IsZero() || k.Config.Starting || k.Paused() {
		return n
	}
	at, period, held := p.NextAt, postPeriod, false
	switch {
	case ready && k.Seen.Mute: // each update takes up to muteFor, and we cannot know when it began
		return Posting{From: changes.from, To: later(changes.to.Add(postPeriod+muteFor), k.heldUntil())}
	case age(k.At, p.Asked) >= muteFor:
		at, period, held = p.Asked.Add(k.Config.Timeout), postPeriod+k.Config.Timeout, true
	case !p.Asked.IsZero() || k.silent():
		return n // in a moment we see whether Version is answered
	case p.Spread >= postAnytime && changes.to.After(k.At):
		return Posting{Ready: !ready, From: changes.from, To: changes.to.Add(postPeriod)}
	}
	for at.Add(p.Spread).Before(changes.from) {
		at = at.Add(period)
	}
	n = Posting{Ready: !ready, Held: held, From: later(at.Add(-p.Spread), changes.from)}
	for at.Add(p.Spread).Before(changes.to) {
		at = at.Add(period)
	}
	n.To = at.Add(p.Spread)
	if !ready && p.raced() {
		n.From = changes.from // the kubelet may have posted Ready already
	}
	return n
}

// silent reports whether a list and Status are late, and Version was not answered since then.
func (k *Kubelet) silent() bool {
	list, status := k.ifLate(k.Seen.ListOut), k.ifLate(k.Seen.StatusOut)
	return !list.IsZero() && !status.IsZero() && !k.Seen.VersionOK.After(later(list, status).Add(call.LateAfter))
}
