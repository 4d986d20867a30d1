package diagnose

import (
	"cmp"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// A view is what is known at one moment, read once for all rules. On a node where
// nothing hangs it allocates nothing. No finding refers to it.
type view struct {
	*engine.Snapshot
	answers.Reading                  // of its calls
	cache           *cache           // never nil
	evidence        *evidence.Report // of the node; never nil
	endpoint        string
	told            *tracker   // what was told before; nil if nothing can have been
	lookOld         bool       // the look at the node is older than that the runtime came back: what its process did then it does no more
	pods            []podFacts // of Pods

	unasked      bool                       // lists failed, and were not asked for since the runtime came back
	conmons      map[string]bool            // containers that have one, by id; nil until somebody asks
	objectsShown []evidence.Object          // what the node shows, by id; nil until somebody asks
	holding      []Finding                  // what holds, while the headline is made; nil before
	waits        *waits.Graph               // see [view.graph]
	graphed      bool                       // it was built
	index        *engine.Objects            // of what is listed; nil until it is asked
	unlisted     map[string]evidence.Object // see [view.held]; nil until somebody asks
	runtime      *evidence.Process          // see [view.youngRuntime]; nil until somebody asks
	dropped      *[]unlisted                // see [view.unlistedPods]; nil until somebody asks
}

var views = sync.Pool{New: func() any { return new(view) }}

// newView reads an input. Who calls it may put the view back into the pool.
func newView(in Input) *view {
	v := views.Get().(*view)
	*v = view{Reading: v.Reading, Snapshot: in.Snapshot, cache: cmp.Or(in.cache, &noCache), evidence: cmp.Or(in.Evidence, &noReport), endpoint: in.Endpoint}
	v.Snapshot = sinceBack(v.Snapshot)
	v.unasked = v.Failure == nil && in.Snapshot.Failure != nil
	looked, known := v.looked()
	v.lookOld = known && looked.Before(v.Memory.Back.At)
	if v.pods = v.cache.pods.Values; !same(v.cache.pods.Pods, v.Pods) {
		var table podTable
		table.update(v.Snapshot)
		v.pods = table.Values
	}
	v.Reading.Read(v.moment())
	return v
}

// moment returns what the calls are read by.
func (v *view) moment() answers.Moment {
	m := answers.Moment{
		Table: &v.Table, At: v.At, Started: v.Started, Policy: v.Policy, Back: v.Memory.Back.At,
		Away: v.outages(), Failing: v.Failing[:0], Heard: v,
		Busy: v.evidence.Pressure.Missing == "" && v.evidence.Pressure.CPU.Some10 >= answers.BusyShare,
	}
	for p := range v.podsWith((*podFacts).fails) {
		if p.Failure != nil {
			m.Failing = append(m.Failing, p.Failure)
		}
	}
	return m
}

var noCache cache // read only

// noReport is of a node at which nobody looked. It is read only.
var noReport = evidence.Report{
	Processes: evidence.Processes{Missing: nobodyLooked}, Pressure: evidence.Pressure{Missing: nobodyLooked},
	Socket: evidence.Socket{Missing: nobodyLooked}, Disk: evidence.Disk{Missing: nobodyLooked}, State: evidence.Disk{Missing: nobodyLooked},
}

const nobodyLooked = "nobody looked"

// sameClock reports whether the look was made by the engine's clock.
func (v *view) sameClock() bool { return v.At.Sub(v.evidence.At).Abs() < ghostSameClock }

// seen returns what is listed of a pod; nothing, and never nil, if nothing is.
func seen(p *engine.Pod) *pleg.Pod { return cmp.Or(p.Seen(), &noPod) }

var noPod pleg.Pod // read only

// HeardSince reports whether anything was heard of the object of a call after a
// moment: its pod was inspected well, or is listed no more, or the whole runtime came
// back. What is older accuses it no longer.
func (v *view) HeardSince(f call.Flight, since time.Time) bool {
	if since.Before(v.Memory.Back.At) {
		return true
	}
	if p := v.Pod(f.Pod); p != nil {
		return p.StatusErr == nil && p.InspectedAt.After(since)
	}
	return v.Health.ListedAt.After(since)
}
