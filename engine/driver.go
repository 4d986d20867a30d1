package engine

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// glance is how often, in real time, the driver looks at the calls that are
// out. A call that is out longer than two glances is worth a snapshot.
const glance = 100 * time.Millisecond

// A driver is the part of an engine that belongs to Run's goroutine alone. It
// never waits for a call: calls are made by tasks, which send back what is to
// be done with the outcome, and the driver does that.
type driver struct {
	*Engine
	ctx     context.Context
	tasks   waitGroup
	results chan func()
	crashed chan *PanicError
	busy    int // tasks under way

	started  time.Time
	starting bool      // the kubelet that is modelled starts with the engine; else it has long been up
	first    time.Time // start of the first relist whose lists succeeded
	period   time.Duration
	paused   bool

	relist     *relist // under way; nil between two
	asked      asked
	deferred   asked // asked for before the pause
	log        relistLog
	failure    *Failure // of the lists of all pods
	podFailure *Failure // of the lists of one pod
	resumed    time.Time
	evidence   *evidence.Report
	looking    bool
	partial    string         // what the pods lack; of an examination only
	found      pleg.Anomalies // in the last good pair of lists of all pods

	sweep  *sweep // the last one, or the one under way; nil if there was none
	probes probes

	vitals   vitals
	reader   syncLoop
	verdict  verdict
	standing standing
	pods     podTable
	channel  Channel
	press    press
	show     func(*Snapshot) // takes the snapshots; nil if nobody does
}

func newDriver(e *Engine) *driver {
	now := e.clock.now()
	return &driver{
		Engine:   e,
		results:  make(chan func()),
		crashed:  make(chan *PanicError, 1),
		started:  now,
		period:   e.config.Period,
		log:      relistLog{nextAt: now},
		vitals:   vitals{nextAt: now, versionWanted: true},
		reader:   newSyncLoop(now),
		verdict:  verdict{since: now},
		standing: standing{since: now},
		pods:     podTable{byUID: make(map[pleg.UID]*Pod)},
		show:     e.board.publish,
		press:    press{dirty: true, at: time.Now()},
	}
}

func (d *driver) run(ctx context.Context) (err error) {
	defer caught(func(p *PanicError) { err = p })
	d.ctx = ctx
	d.look(true)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			d.publishLast()
			return nil
		case p := <-d.crashed:
			return p
		case settle := <-d.results:
			d.busy--
			settle()
		case <-d.requests.wake:
		case <-timer.C:
		}
		timer.Reset(d.turn())
	}
}

// turn does all that is to be done now and returns the real time until
// something else will be.
func (d *driver) turn() time.Duration {
	now := d.clock.now()
	d.heed(now)
	d.judge(now)
	d.advance(now)
	d.askVitals(now)
	d.probe(now)
	d.doubtSweep(now)
	d.advanceSweep(now)
	d.publish(now)
	return d.idle(now)
}

// idle returns the real time until something is due.
func (d *driver) idle(now time.Time) time.Duration {
	wait := d.press.wait(time.Now())
	if _, out := d.ledger.oldest(); out || d.busy > 0 {
		wait = min(wait, glance)
	}
	for _, due := range []time.Time{d.relistDue(), d.vitalsDue(), d.reader.due(), d.verdictDue(), d.nodeDue(now)} {
		if !due.IsZero() {
			wait = min(wait, d.clock.wait(due.Sub(now)))
		}
	}
	return max(wait, 0)
}

// do starts a task: work runs beside the driver, and what it returns is then
// done by the driver, unless the engine has ended.
func (d *driver) do(work func(context.Context) func()) {
	d.busy++
	d.spawn(func() {
		settle := work(d.ctx)
		select {
		case d.results <- settle:
		case <-d.ctx.Done():
		}
	})
}

// look looks at the node, again and again if asked to.
func (d *driver) look(again bool) {
	if d.config.Look == nil {
		return
	}
	d.looking = true
	d.do(func(ctx context.Context) func() {
		r, err := d.config.Look(ctx)
		return func() {
			d.looking = false
			if err != nil {
				return
			}
			d.evidence = r
			d.press.dirty = true
			if again {
				d.look(true)
			}
		}
	})
}

// spawn runs work beside the driver; a panic in it ends the engine.
func (d *driver) spawn(work func()) {
	d.tasks.Go(func() {
		defer caught(func(p *PanicError) {
			select {
			case d.crashed <- p:
			default: // one is enough to end it all
			}
		})
		work()
	})
}

// wait waits for the tasks after their context was cancelled.
func (d *driver) wait() { d.tasks.waitFor(patienceAtEnd) }

// crash returns the panic of a task, if there was one.
func (d *driver) crash() error {
	select {
	case p := <-d.crashed:
		return p
	default:
		return nil
	}
}
