package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// How a sweep of a running engine looks at things. The kubelet has no such
// thing: these are ours.
const (
	sweepWidth   = 4               // of a sweep that was asked for
	sweepTimeout = 2 * time.Second // a healthy runtime takes milliseconds, a busy one some hundred
	sluggish     = time.Second     // Version and Status cost nothing: a runtime that takes so long for them is too slow for more
	lately       = 3 * statusPeriod
)

// Why a sweep is given up.
const (
	silentToo = "Status gives no answer, either"
	wentAway  = "nobody listens any more"
)

// A sweep is the present sweep of a running engine, or its last one.
type sweep struct {
	*sweeper
	ctx    context.Context
	cancel context.CancelFunc
	keep   func(place int, a answer[partStatus]) // for what was answered; may be nil
}

// askSweep begins the sweep that a person asked for, or says why not.
func (d *driver) askSweep(now time.Time) {
	if d.sweeping() {
		return
	}
	d.press.dirty = true
	if reason := d.tooSlow(now, lately); reason != "" {
		d.sweep = &sweep{sweeper: refused(now, sweepWidth, sweepTimeout, reason), cancel: func() {}}
		return
	}
	d.beginSweep(now, sweepWidth)
}

func (d *driver) sweeping() bool { return d.sweep != nil && !d.sweep.ended() }

func (d *driver) beginSweep(now time.Time, width int) {
	pods, _, _ := d.pods.read()
	s := &sweep{sweeper: newSweeper(now, objects(pods), width, sweepTimeout, nil)}
	s.ctx, s.cancel = context.WithCancel(d.ctx)
	d.sweep = s
	d.press.dirty = true
}

// cancelSweep ends the sweep that is under way, if there is one. What its calls
// still bring is not taken in.
func (d *driver) cancelSweep(now time.Time) {
	if !d.sweeping() {
		return
	}
	d.sweep.end(now, func(s *Sweep) { s.Canceled = true })
	d.sweep.cancel()
	d.press.dirty = true
}

// doubtSweep ends a sweep that hears nothing while Status hangs, too: what it
// asks for then is not to blame.
func (d *driver) doubtSweep(now time.Time) {
	if !d.sweeping() {
		return
	}
	s := d.sweep
	f := d.ledger.like(Flight{Op: call.Status})
	if f != nil && f.Elapsed(now) >= s.sweep.Timeout && s.heard.Before(f.Since) {
		d.giveUpSweep(now, silentToo)
	}
}

// giveUpSweep ends a sweep of a runtime that has gone silent, or away.
func (d *driver) giveUpSweep(now time.Time, why string) {
	d.sweep.giveUp(now, why)
	d.sweep.cancel()
	d.press.dirty = true
}

// advanceSweep makes as many of the sweep's calls as may be out at once.
func (d *driver) advanceSweep(now time.Time) {
	if !d.sweeping() {
		return
	}
	s := d.sweep
	for place, more := s.next(); more; place, more = s.next() {
		f, timeout := s.objects[place].Flight, s.sweep.Timeout
		d.do(func(context.Context) func() {
			a := d.askAbout(s.ctx, f, timeout)
			return func() {
				if s.keep != nil {
					s.keep(place, a)
				}
				s.took(place, a.Flight, a.took, a.err)
				d.vitals.suspect(a.err)
				d.press.dirty = true
			}
		})
	}
	if s.complete(now) {
		s.cancel()
		d.press.dirty = true
	}
}

// A partStatus is the status of one sandbox or of one container.
type partStatus struct {
	sandbox   pleg.SandboxStatus
	container pleg.ContainerStatus
}

// askAbout makes one call that is no list. What Version and Status say is not
// kept: who asks so only wants to know whether they answer.
func (d *driver) askAbout(ctx context.Context, f Flight, timeout time.Duration) answer[partStatus] {
	r := d.config.Runtime
	return ask(ctx, d, f, timeout, func(ctx context.Context) (st partStatus, found pleg.Anomalies, err error) {
		switch f.Op {
		case call.Version:
			_, _, err = r.Version(ctx)
		case call.Status:
			_, _, err = r.Status(ctx)
		case call.PodSandboxStatus:
			st.sandbox, found, err = r.PodSandboxStatus(ctx, f.ID)
		default:
			st.container, found, err = r.ContainerStatus(ctx, f.ID)
		}
		return st, found, err
	})
}

// objects returns the calls that ask for all of those pods, in their order.
func objects(pods []*Pod) []Flight {
	var all []Flight
	for _, p := range pods {
		all = append(all, partsOf(p.PodRef, p.Seen())...)
	}
	return all
}

// partsOf returns the calls that ask for all of a pod, sandboxes first.
func partsOf(pod pleg.PodRef, seen *pleg.Pod) []Flight {
	return append(sandboxCalls(pod, seen.Sandboxes), containerCalls(pod, seen.Containers)...)
}

// tooSlow says in words why the runtime cannot be asked for a sweep now; empty
// if it can. That Version is slow does not matter where Status is known to be
// quick. What either took longer ago than the given time does not count: neither
// is asked for while paused.
func (d *driver) tooSlow(now time.Time, lately time.Duration) string {
	reason := d.slowOf(call.Status, d.vitals.statusTook, now, lately)
	if reason != "" || d.statusIsQuick(now, lately) {
		return reason
	}
	return d.slowOf(call.Version, d.vitals.versionTook, now, lately)
}

// slowOf says in words that an operation is slow, given how long it took last;
// empty if it is not known to be.
func (d *driver) slowOf(op call.Operation, last promptness, now time.Time, lately time.Duration) string {
	if f := d.ledger.like(Flight{Op: op}); f != nil && f.Elapsed(now) > sluggish {
		return fmt.Sprintf("%v has been out for %v", op, f.Elapsed(now).Round(100*time.Millisecond))
	}
	if last.took > sluggish && now.Sub(last.at) < lately {
		return slowWords(op, last.took)
	}
	if p, ok := d.probes.last(op); ok && now.Sub(p.At) < lately && (p.Took > sluggish || errors.Is(p.Err, call.ErrDeadline)) {
		return slowWords(op, p.Took)
	}
	return ""
}

// statusIsQuick reports whether the last Status was answered, at once and not
// long ago.
func (d *driver) statusIsQuick(now time.Time, lately time.Duration) bool {
	v := &d.vitals
	return v.failure == nil && !v.statusTook.at.IsZero() && v.statusTook.took <= sluggish && now.Sub(v.statusTook.at) < lately
}

func slowWords(op call.Operation, took time.Duration) string {
	return fmt.Sprintf("the last %v took %v", op, took.Round(100*time.Millisecond))
}
