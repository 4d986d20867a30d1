package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/quantile"
	"github.com/plegtop/plegtop/engine/sources"
)

// A Snapshot is all that a view needs to know at one moment. It is immutable:
// views may keep it, share it and read it from any goroutine. Texts that came
// from the runtime are not cleaned. Ages are measured from At, never from the
// clock of the reader; At and the times that the engine took itself are
// monotonic.
type Snapshot struct {
	Seq     uint64         // grows by one with each snapshot published
	At      time.Time      // when it was made, by the engine's clock
	Started time.Time      // when the engine started
	Policy  answers.Policy // how its engine looks at the runtime

	answers.Table

	Release   pleg.Release
	Period    time.Duration // from the end of one relist to the start of the next
	Threshold time.Duration // age of the last good list above which PLEG is unhealthy
	Timeout   time.Duration // of each call
	Version   pleg.Version  // zero until the runtime has answered
	// Holders are the pods whose own list of containers hung, while the list of all failed and
	// those of other pods were answered.
	Holders []pleg.PodRef
	Other   string // the endpoint of another runtime, as in [Config]
	// Partial says in plain words what Pods lacks because a list failed; empty if both lists
	// succeeded. Only [Examine] inspects by half of the lists.
	Partial string

	Paused     bool
	Resumed    time.Time // when the last pause ended; zero if there was none, or while it lasts
	Health     kubelet.Health
	Phase      Phase
	Relists    Relists
	PodFailure *answers.Failure // the last failed list of one pod, for Reinspect, until any list succeeds
	Conditions []pleg.Condition // of the last answer to Status; nil before the first, and empty if it had none
	Pods       []*Pod           // by namespace, then name, then UID; nil until the first list
	Counts     Counts           // of what Pods holds
	Objects    *Objects         // the index of Pods; nil if no engine made the snapshot
	// Beside is newer than Pods. It has the pods as they were listed one by one, while the list of
	// all containers hangs, is too large or cannot be read. It is nil if Pods is up to date.
	Beside    []*Pod
	Channel   Channel          // the kubelet's event channel, as modelled
	Node      kubelet.Node     // what a kubelet that saw the same would say of its node
	Evidence  *evidence.Report // the last look at the node itself; nil until there was one
	Anomalies pleg.Anomalies   // in the last good lists, Version and Status, and each pod's last inspection
	Cost      Cost             // what plegtop itself asks of the runtime

	Mode          sources.ModeState
	Sources       []sources.SourceState  // one for each of [Config.Streams], in its order
	SourceChanges []sources.SourceChange // the last 64, oldest first
	Drift         []sources.Drift        // one for each source that was ever open, in the order of Sources
	Gone          past.Gone              // sandboxes that have left the lists lately
	// UnseenMore counts the events of sources that were not reported: events of unknown ids beyond the first
	// 1,000, and others if too many waited.
	UnseenMore uint64
	Memory     past.Memory       // what is remembered of the past
	Recording  Recording         // the state of the recording
	Workers    podworker.Workers // of the node's kubelet if it can be asked, else those that would be woken
}

// A Step is a part of a relist.
type Step uint8

const (
	Waiting    Step = iota // for the period to pass
	Listing                // a list call is out
	Inspecting             // inspections are under way
	Stopped                // paused, and nothing is out
)

var stepNames = [...]string{"WAIT", "LIST", "INSPECT", "PAUSED"}

// String returns the word that the phase meter shows.
func (s Step) String() string { return pleg.Word(s, stepNames[:]) }

// Phase says how far the present relist has come. Between two relists it says how the last one went.
type Phase struct {
	Step  Step
	Began time.Time // of this relist; of the last one while Step is Waiting or Stopped
	// EndsBy is when a relist that inspects will end, if a call that hangs takes until its deadline
	// and the others are answered; zero if no inspection is late.
	EndsBy   time.Time
	ListTook time.Duration // both lists of this relist, as far as they have come
	Done     int           // pods inspected in this relist
	Total    int           // pods that this relist has to inspect, as far as is known
	OnDemand bool          // a relist of one pod, not of all
}

// Relists says how long relists of all pods take.
type Relists struct {
	Count, Failed uint64 // finished so far, and those of them whose lists failed
	Last          time.Duration
	P50, P99, Max time.Duration
	Histogram     quantile.Histogram // of their durations, failed or not
	History       []Relist           // the last 120, oldest first
	Interval      time.Duration      // from the start of the last good one to the start of this one
}

// A Relist is one finished relist of all pods, for the sparkline.
type Relist struct {
	At        time.Time // start
	Took      time.Duration
	List      time.Duration // the part of Took for the two list calls
	Inspected int
	Failures  int  // inspections that failed
	Failed    bool // the list itself failed
}

// A Pod is one pod as the engine knows it: both ends of its record, its entry in the cache, and the
// cost of its inspections. It is immutable, like its snapshot. A pod that did not change is the
// same pointer in the next snapshot.
type Pod struct {
	pleg.PodRef
	Old, Current *pleg.Pod // the record; either may be nil, not both
	ListedAt     time.Time // start of the first list that showed what Seen returns
	// Orphaned is the time of the first list in a row that shows its containers running in a
	// sandbox that has ended or is not listed; zero if the last list shows none.
	Orphaned time.Time

	Status    *pleg.PodStatus // from the cache; nil if never inspected or if the last inspection failed
	StatusErr error           // of the last inspection; the cache holds it in place of a status
	StatusAt  time.Time       // the time that the cache gives to the entry

	Inspected    int           // how often, over this run
	InspectedAt  time.Time     // end of the last inspection
	InspectLast  time.Duration // how long it took, failed or not
	InspectWorst time.Duration
	// Failure is the call that failed the last inspection, and how many inspections in a row failed in this
	// way; nil if the last one was good.
	Failure   *answers.Failure
	Reinspect bool // will be inspected again though nothing changed

	Anomalies pleg.Anomalies // in the answers of the last inspection
	LastEvent Event          // Seq is 0 if there was none
	Deaths    []past.Death   // of its containers over this run, the newest first: up to 8 of one name
}

// Seen returns what the runtime listed last for this pod: Current, or Old once
// the pod has gone or its change has settled.
func (p *Pod) Seen() *pleg.Pod {
	if p.Current != nil {
		return p.Current
	}
	return p.Old
}

// Counts says how many pods, sandboxes and containers there are.
type Counts struct {
	Pods       int `line:"pods"`
	Sandboxes  int `line:"sandboxes"`
	Containers int `line:"containers"`
	Created    int `line:"created"` // the containers by state, from here on
	Running    int `line:"running"`
	Exited     int `line:"exited"`
	Unknown    int `line:"unknown"`
}

// Channel is the state of the kubelet's event channel as the engine models it:
// its reader, the sync loop, stands still while the node is unhealthy.
type Channel struct {
	Len, Capacity                  int
	Delivered, Filtered, Discarded uint64
}

// Cost is what plegtop asks of the runtime, averaged over the last seconds.
type Cost struct {
	CallsPerSecond float64
	BytesPerSecond float64 // both directions
}

// An Update is what a [Feed] delivers: the newest snapshot, and the events since the last update, oldest first.
// Lost counts the events that the reader was too slow to get. They lie between the last update and the first of
// Events.
type Update struct {
	Snapshot *Snapshot
	Events   []Event
	Lost     uint64
}

// Stream returns the state of an event source; nil if the engine does not have it.
func (s *Snapshot) Stream(of sources.Source) *sources.SourceState {
	for i := range s.Sources {
		if s.Sources[i].Source == of {
			return &s.Sources[i]
		}
	}
	return nil
}
