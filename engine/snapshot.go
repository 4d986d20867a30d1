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
	Policy  answers.Policy // how its machine looks at the runtime

	answers.Table

	Release   pleg.Release
	Period    time.Duration // from the end of one relist to the start of the next
	Threshold time.Duration // of Healthy()
	Timeout   time.Duration // of each call
	Version   pleg.Version  // zero until the runtime has answered
	Holders   []pleg.PodRef // whose containers alone gave no list, where the list of all gives none and those of other pods were listed
	Other     string        // as in [Config]
	Partial   string        // what Pods lacks because a list failed, in plain words; empty if both lists succeeded. Only [Examine] goes by half of what was listed

	Paused     bool
	Resumed    time.Time // when the last pause ended; zero if there was none, or while it lasts
	Health     kubelet.Health
	Phase      Phase
	Relists    Relists
	PodFailure *answers.Failure // the last failed list of one pod, asked for by Reinspect, until any list succeeds
	Conditions []pleg.Condition // of the last answer to Status; nil before the first, and empty if it had none
	Pods       []*Pod           // by namespace, then name, then UID; nil until the first list
	Counts     Counts           // of what Pods holds
	Objects    *Objects         // the index of Pods; nil in a snapshot that no engine has made
	Beside     []*Pod           // what was listed pod by pod because the list of all containers is too large or cannot be read, where Pods is of an older list; else nil
	Channel    Channel          // the kubelet's event channel, as modelled
	Node       kubelet.Node     // what a kubelet that saw the same would say of its node
	Evidence   *evidence.Report // the last look at the node itself; nil until there was one
	Anomalies  pleg.Anomalies   // in the last good lists, Version and Status, and each pod's last inspection
	Cost       Cost             // what plegtop itself asks of the runtime

	Mode          sources.ModeState
	Sources       []sources.SourceState  // one for each of [Config.Streams], in its order
	SourceChanges []sources.SourceChange // the last 64, oldest first
	Drift         []sources.Drift        // one for each source that was ever open, in the order of Sources
	DriftLately   []sources.Window       // the same over the last 5 min
	Gone          past.Gone              // sandboxes that have left the lists lately
	UnseenMore    uint64                 // events of sources that were not told: of ids that nobody knows, beyond the first 1,000, and of others where too many waited
	Memory        past.Memory            // of the time before
	Recording     Recording              // how it stands
	Workers       podworker.Workers      // of the node's kubelet where it tells, else those that would be woken
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

// Phase says how far the present relist has come, or, between two of them, how
// the last one went.
type Phase struct {
	Step     Step
	Began    time.Time     // of this relist; of the last one while Step is Waiting or Stopped
	EndsBy   time.Time     // when a relist that inspects ends, if what hangs does so until its deadline and the rest is answered; else zero
	ListTook time.Duration // both lists of this relist, as far as they have come
	Done     int           // pods inspected in this relist
	Total    int           // pods that this relist has to inspect, as far as is known
	OnDemand bool          // a relist of one pod, not of all
}

// Relists says how long relists of all pods take.
type Relists struct {
	Count, Failed uint64 // finished so far; those whose list failed
	Last          time.Duration
	P50, P99, Max time.Duration
	Histogram     quantile.Histogram // of what they took, failed or not
	History       []Relist           // the last 120, oldest first
	Interval      time.Duration      // from the start of the last good one to the start of this one
}

// A Relist is one finished relist of all pods, for the sparkline.
type Relist struct {
	At        time.Time // start
	Took      time.Duration
	List      time.Duration // of which the two list calls
	Inspected int
	Failures  int  // inspections that failed
	Failed    bool // the list itself failed
}

// A Pod is one pod as the engine knows it: both ends of its record, what the
// cache holds, and what its inspections cost. Immutable, like the snapshot that
// holds it; a pod that did not change is the same pointer in the next snapshot.
type Pod struct {
	pleg.PodRef
	Old, Current *pleg.Pod // the record; either may be nil, not both
	ListedAt     time.Time // start of the first list that showed what Seen returns
	Orphaned     time.Time // the first list in a row that had containers of it run in a sandbox that has ended or is not listed; zero if the last one has none

	Status    *pleg.PodStatus // from the cache; nil if never inspected or if the last inspection failed
	StatusErr error           // of the last inspection; the cache holds it in place of a status
	StatusAt  time.Time       // the time that the cache gives to the entry

	Inspected    int           // how often, over this run
	InspectedAt  time.Time     // end of the last inspection
	InspectLast  time.Duration // how long it took, failed or not
	InspectWorst time.Duration
	Failure      *answers.Failure // the call that ended the last inspection, and how many inspections in a row ended so; nil if that was good
	Reinspect    bool             // will be inspected again though nothing changed

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

// Counts says how many there are of each.
type Counts struct {
	Pods       int `line:"pods"`
	Sandboxes  int `line:"sandboxes"`
	Containers int `line:"containers"`
	Created    int `line:"created"` // of the containers, as are the next
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

// An Update is what a [Feed] delivers: the newest snapshot, and the events
// since the last update, oldest first. Lost counts events that the reader was
// too slow for: they lie between the last update and the first of Events.
type Update struct {
	Snapshot *Snapshot
	Events   []Event
	Lost     uint64
}

// Stream returns how an event source stands; nil if there is none of it.
func (s *Snapshot) Stream(of sources.Source) *sources.SourceState {
	for i := range s.Sources {
		if s.Sources[i].Source == of {
			return &s.Sources[i]
		}
	}
	return nil
}
