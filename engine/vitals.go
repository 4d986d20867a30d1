package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// statusPeriod is the kubelet's: from the end of one Status to the next.
const statusPeriod = 5 * time.Second

// A vitals is what the runtime says of itself, apart from all relists.
type vitals struct {
	nextAt        time.Time // when Status is due
	statusOut     bool
	versionOut    bool
	versionWanted bool // unknown, or the runtime may be another one by now

	version      pleg.Version
	versionFound pleg.Anomalies // in the last answer to Version
	conditions   []pleg.Condition
	statusFound  pleg.Anomalies // in the last answer to Status
	failure      *Failure       // of Status
	versionErr   *Failure       // of Version

	versionTook, statusTook promptness // of the last answers, good or not
}

// A promptness is how long a call took that returned at a certain time.
type promptness struct {
	at   time.Time
	took time.Duration
}

// suspect notes that a call failed: a runtime that was away may come back as
// another version.
func (v *vitals) suspect(err error) {
	v.versionWanted = v.versionWanted || errors.Is(err, call.ErrUnavailable)
}

func (d *driver) vitalsDue() time.Time {
	if d.paused || d.vitals.statusOut {
		return time.Time{}
	}
	return d.vitals.nextAt
}

// askVitals makes the calls that are due. Version goes along with Status, but
// neither waits for the other.
func (d *driver) askVitals(now time.Time) {
	due := d.vitalsDue()
	if due.IsZero() || now.Before(due) {
		return
	}
	if d.vitals.versionWanted && !d.vitals.versionOut {
		d.askVersion()
	}
	d.askStatus()
}

func (d *driver) askVersion() {
	d.vitals.versionOut = true
	d.do(func(ctx context.Context) func() {
		var version pleg.Version
		var found pleg.Anomalies
		f, err := d.call(ctx, Flight{By: ByVitals, Op: call.Version}, func(ctx context.Context) (err error) {
			version, found, err = d.config.Runtime.Version(ctx)
			return err
		})
		return func() { d.tookVersion(f, version, found, err) }
	})
}

func (d *driver) tookVersion(f Flight, version pleg.Version, found pleg.Anomalies, err error) {
	now := d.clock.now()
	v := &d.vitals
	v.versionOut = false
	v.versionWanted = err != nil
	v.versionTook = promptness{at: now, took: f.Elapsed(now)}
	d.press.dirty = d.press.dirty || err != nil || v.versionErr != nil || v.version != version
	if err != nil {
		v.versionErr = v.versionErr.again(f, err, now)
		return
	}
	v.versionErr, v.version, v.versionFound = nil, version, found
}

func (d *driver) askStatus() {
	d.vitals.statusOut = true
	d.do(func(ctx context.Context) func() {
		var conditions []pleg.Condition
		var found pleg.Anomalies
		f, err := d.call(ctx, Flight{By: ByVitals, Op: call.Status}, func(ctx context.Context) (err error) {
			conditions, found, err = d.config.Runtime.Status(ctx)
			return err
		})
		return func() { d.tookStatus(f, conditions, found, err) }
	})
}

func (d *driver) tookStatus(f Flight, conditions []pleg.Condition, found pleg.Anomalies, err error) {
	now := d.clock.now()
	v := &d.vitals
	v.statusOut = false
	v.statusTook = promptness{at: now, took: f.Elapsed(now)}
	v.nextAt = now.Add(statusPeriod)
	d.press.dirty = d.press.dirty || err != nil || v.failure != nil || !slices.Equal(v.conditions, conditions)
	if err != nil {
		v.failure = v.failure.again(f, err, now)
		v.suspect(err)
		return
	}
	v.failure, v.conditions, v.statusFound = nil, conditions, found
	d.reader.status(now, conditions)
}

// again returns the failure that follows f, which may be nil, in a row.
func (f *Failure) again(last Flight, err error, at time.Time) *Failure {
	next := &Failure{Flight: last, Err: err, At: at, First: at, InRow: 1}
	if f != nil {
		next.First = f.First
		next.InRow = f.InRow + 1
	}
	return next
}
