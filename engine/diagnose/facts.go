package diagnose

import (
	"cmp"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// Facts are what is known about a node at one moment. Rules use nothing else. Each question is answered in one place.
// If the answer is expensive, it is worked out when a rule first asks. On a healthy node facts allocate nothing. Facts
// belong to one goroutine, and no finding refers to them.
type Facts struct {
	*engine.Snapshot
	answers.Reading // what hangs, and the extent of the trouble

	Look     *evidence.Report // the last look at the node; never nil
	Endpoint string           // of the runtime, for commands; may be empty
	LookOld  bool             // the look is from before the runtime came back: it does not show what the runtime does now
	Unasked  bool             // lists failed, and nobody has asked for one since the runtime came back

	kept *kept   // never nil
	told *Steady // the earlier findings; nil if there are none

	holding  []Finding                  // the findings that hold; set while the headline is made
	pods     []podFacts                 // one for each of Pods
	around   *evidence.Around           // see [Facts.doing]
	waits    *waits.Graph               // see [Facts.Graph]
	graphed  bool                       // waits has been worked out
	index    *engine.Objects            // see [Facts.objects]
	shown    []evidence.Object          // what the node shows, by id; nil until a rule asks
	held     map[string]evidence.Object // see [Facts.heldObjects]
	lost     []unlisted                 // see [Facts.unlisted]
	leftOver []unlisted                 // the same
	searched bool                       // lost and leftOver have been worked out
	conmons  map[string]bool            // containers that have a conmon, by id; nil until a rule asks
}

// kept has what is too expensive to work out for each moment. It never changes the findings. The zero value is empty.
// It belongs to one goroutine.
type kept struct {
	pods  podTable         // of the last snapshot
	look  *evidence.Report // the last one
	stuck bool             // that look shows a process that does nothing

	flavours []knowledge.Flavour // see [Facts.flavours]
	by       signs               // the signs by which the flavours were found

	facts Facts // its memory is reused
	fold  fold  // the matches of the rule that runs now
}

// read makes the facts of a snapshot. They are valid until the next call of read.
func (k *kept) read(s *engine.Snapshot, endpoint string, told *Steady) *Facts {
	f := &k.facts
	*f = Facts{Snapshot: sinceBack(s), Reading: f.Reading, Look: cmp.Or(s.Evidence, &noLook), Endpoint: endpoint, kept: k, told: told}
	k.pods.update(s)
	f.pods = k.pods.Values
	if f.Look != k.look {
		k.look, k.stuck = f.Look, anyStuck(&f.Look.Processes)
	}
	f.Unasked = f.Failure == nil && s.Failure != nil
	looked, known := f.lookedAt()
	f.LookOld = known && looked.Before(f.Memory.Back.At)
	f.Reading.Read(f.moment())
	return f
}

// moment returns what is needed to judge the calls.
func (f *Facts) moment() answers.Moment {
	m := answers.Moment{
		Table: &f.Snapshot.Table, At: f.Snapshot.At, Started: f.Snapshot.Started, Policy: f.Snapshot.Policy, Back: f.Memory.Back.At,
		Away: f.outages(), Failing: f.Failing[:0], Heard: f,
		Busy: f.Look.Pressure.Missing == "" && f.Look.Pressure.CPU.Some10 >= answers.BusyShare,
	}
	for p := range f.podsWith((*podFacts).fails) {
		if p.Failure != nil {
			m.Failing = append(m.Failing, p.Failure)
		}
	}
	return m
}

// noLook is the report of a node at which nobody looked. It is read only.
var noLook = evidence.Report{
	Processes: evidence.Processes{Missing: nobodyLooked}, Pressure: evidence.Pressure{Missing: nobodyLooked},
	Socket: evidence.Socket{Missing: nobodyLooked}, Disk: evidence.Disk{Missing: nobodyLooked}, State: evidence.Disk{Missing: nobodyLooked},
}

const nobodyLooked = "nobody looked"

// fresh reports whether the data that a rule needs is fresh.
func (f *Facts) fresh(needs Need) bool {
	switch needs {
	case Nothing:
		return true
	case Unpaused:
		return !f.Paused
	}
	return !f.Paused && !f.listsStale()
}

// listsStale reports whether the pods may be different by now: lists hang or fail, or no list has succeeded since a
// pause.
func (f *Facts) listsStale() bool {
	return f.Health.ListAge(f.at()) > f.Snapshot.Policy.Bounds().FreshFor+f.Period || f.Resumed.After(f.Health.ListedAt)
}

// at returns the moment of the facts.
func (f *Facts) at() time.Time { return f.Snapshot.At }

// once reports whether this is the only look, as in check: nobody looks a second time.
func (f *Facts) once() bool { return f.Snapshot.Policy.Once }

// If the time of a look differs from the engine's time by less than sameClockWithin, both are from the same clock. The
// time of a recording from another day is far off.
const sameClockWithin = time.Minute

// sameClock reports whether the look was made by the engine's clock.
func (f *Facts) sameClock() bool { return f.at().Sub(f.Look.At).Abs() < sameClockWithin }

// lookedAt returns when the last look began. It returns false if there was no look, or if its time is from another
// clock.
func (f *Facts) lookedAt() (time.Time, bool) {
	if !f.sameClock() {
		return time.Time{}, false
	}
	return f.Look.At.Add(-f.Look.Took), true
}

// sinceLook returns the age of the last look; 0 if its time is from another clock.
func (f *Facts) sinceLook() time.Duration {
	if !f.sameClock() {
		return 0
	}
	return max(f.at().Sub(f.Look.At), 0)
}

// byNow returns a process of the last look with its ages as of now. A look is up to some seconds old, and the ages of
// one hang must agree on one screen.
func (f *Facts) byNow(p evidence.Process) evidence.Process {
	passed := f.sinceLook()
	if p.For > 0 {
		p.For += passed
	}
	if p.Age > 0 {
		p.Age += passed
	}
	return p
}

// HeardSince reports whether there was news about the object of a call after a moment: the inspection of its pod
// succeeded, or the pod is not listed any more, or the whole runtime came back.
func (f *Facts) HeardSince(c call.Flight, since time.Time) bool {
	if since.Before(f.Memory.Back.At) {
		return true
	}
	if p := f.Pod(c.Pod); p != nil {
		return p.StatusErr == nil && p.InspectedAt.After(since)
	}
	return f.Health.ListedAt.After(since)
}

// outages returns how often the runtime went away within the last minute.
func (f *Facts) outages() answers.Flakiness {
	all, since := f.Memory.Outages.Since(answers.FlakyFor, f.Snapshot.At)
	if len(all) == 0 {
		return answers.Flakiness{}
	}
	return answers.Flakiness{Failed: since.Failed, All: since.All, Outages: len(all), Since: all[0].At}
}

// awayLately reports whether the runtime is away, or was within the last minute.
func (f *Facts) awayLately() bool { return f.Memory.Outages.Away || f.outages().Outages > 0 }

// sinceBack returns a snapshot without the failures of calls from before the runtime came back. Failures that still
// continue are counted from the moment when it came back.
func sinceBack(s *engine.Snapshot) *engine.Snapshot {
	back, old := &s.Memory.Back, false
	for _, e := range s.Failures() {
		old = old || e != nil && e.First.Before(back.At)
	}
	if !old {
		return s
	}
	now := *s
	for i, e := range []**answers.Failure{&now.Failure, &now.StatusErr, &now.VersionErr} {
		switch {
		case *e == nil || !(*e).First.Before(back.At):
		case (*e).InRow <= back.InRow[i]:
			*e = nil
		default:
			later := **e
			later.First, later.InRow = back.At, later.InRow-back.InRow[i]
			*e = &later
		}
	}
	return &now
}
