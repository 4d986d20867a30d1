package evidence

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Kubelet is what the node's kubelet says about itself.
type Kubelet struct {
	Version string `line:"version"` // such as "v1.33.4"; empty if it did not say

	// Ping is the answer of port 10248. It says only that the process is at work, and is ok whatever is wrong
	// with the node. Health and SyncLoop are the answers of /healthz and /healthz/syncloop, at the port of the
	// metrics. Both fail when the sync loop has stood still for 5 min. (kubelet 1.25 to 1.37: packages healthz
	// and server.)
	Ping     Answer `line:"healthz,omitzero"`
	Health   Answer `line:"health,omitzero"`
	SyncLoop Answer `line:"syncLoop,omitzero"`

	Metrics Answer    `line:"metrics,omitzero"` // of /metrics
	ReadAt  time.Time `line:"-"`                // when Metrics was asked; zero unless it is fine

	// The content of /metrics; all zero unless Metrics is fine. Zero too if the kubelet has not measured
	// anything yet.
	Relist    Timing    `line:"relist"`            // kubelet_pleg_relist_duration_seconds
	Interval  Timing    `line:"interval"`          // kubelet_pleg_relist_interval_seconds
	LastSeen  time.Time `line:"lastSeen,omitzero"` // kubelet_pleg_last_seen_seconds, whole seconds; zero if it was never set
	Discarded uint64    `line:"discarded"`         // kubelet_pleg_discard_events, with or without _total

	// Streams counts how often the kubelet has got the runtime's stream of events, StreamErrors how often the
	// stream broke or was refused: kubelet_evented_pleg_connection_success_count and _error_count. Both are 0
	// if its gate EventedPLEG is off.
	Streams      uint64 `line:"-"`
	StreamErrors uint64 `line:"-"`

	// StillFor is for how long all looks have seen the same count of relists; 0 in the first look, and while
	// the count grows.
	StillFor time.Duration `line:"-"`
}

// AlphaPeriod is the time from the end of one relist to the start of the next, for a kubelet that is
// [Kubelet.Alpha].
const AlphaPeriod = 300 * time.Second

// Alpha reports whether the kubelet is one of 1.26 to 1.36 whose gate EventedPLEG is on, so that events of the
// runtime write its cache. Then its LastSeen says nothing about its relists, even after it has fallen back: the
// health check of the events sets it to now. (kubelet 1.26 to 1.36, EventedPLEG.Healthy)
func (k *Kubelet) Alpha() bool {
	r, err := pleg.ParseRelease(k.Version)
	return err == nil && 26 <= r && r <= 36 && k.Streams+k.StreamErrors > 0
}

// FellBack reports whether a kubelet that is [Kubelet.Alpha] has given up the stream. Then it relists as any
// other kubelet does, until it is restarted.
func (k *Kubelet) FellBack() bool { return k.StreamErrors >= pleg.StreamAttempts }

// Listens reports whether anybody took a question to the kubelet, whatever the answer was.
func (k *Kubelet) Listens() bool {
	return slices.ContainsFunc([]*Answer{&k.Ping, &k.Health, &k.SyncLoop, &k.Metrics}, func(a *Answer) bool {
		return a.Asked && (a.OK || a.TimedOut || a.Text != "" || a.Denied)
	})
}

// An Answer says how one question to the kubelet went.
type Answer struct {
	Asked    bool          `line:"-"`  // false: nobody asked, since no way to ask was given
	URL      string        `line:"-"`  // the URL that was asked
	OK       bool          `line:"ok"` // it gave a good answer
	Took     time.Duration `line:"tookSeconds"`
	TimedOut bool          `line:"timedOut"`        // it took the connection and gave no answer in time: that alone is evidence
	Refused  bool          `line:"-"`               // nobody listens there
	Denied   bool          `line:"-"`               // it answered that we may not ask that
	Text     string        `line:"text,omitempty"`  // the answer of the ping or of healthz, also an answer that says what fails; empty for metrics
	Err      string        `line:"error,omitempty"` // why it is not available; empty if OK
}

// IsZero reports whether there is no answer because nobody asked.
func (a Answer) IsZero() bool { return !a.Asked }

// Timing sums up one of the kubelet's histograms.
type Timing struct {
	Count uint64        `line:"count"`
	Sum   time.Duration `line:"-"`
	Mean  time.Duration `line:"meanSeconds"` // the mean of the values since the look before; in the first look of all values
}
