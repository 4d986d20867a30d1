package kubelet

import "time"

// Health is the kubelet's verdict on its PLEG, with its reasons.
type Health struct {
	Healthy bool
	Verdict string // the kubelet's exact error text; empty when healthy

	// ListedAt is the start of the last relist whose lists succeeded: the verdict goes by it.
	// SettledAt is the end of the last relist without a failed inspection; this package does not
	// set it. Both are zero until there was one.
	ListedAt, SettledAt time.Time

	// UnhealthyAt is when PLEG becomes unhealthy unless a list succeeds before. It is zero while
	// paused, while unhealthy and before the first good list. It is also zero if the relist under
	// way ends in time even when its hanging calls run until their deadline.
	UnhealthyAt time.Time

	Since time.Time // when the present verdict began
	Flips int       // how often it changed since the first good relist
}

// ListAge returns the time since ListedAt; 0 before the first relist.
func (h Health) ListAge(at time.Time) time.Duration { return age(at, h.ListedAt) }

// InspectAge returns the time since SettledAt; 0 before the first one.
func (h Health) InspectAge(at time.Time) time.Duration { return age(at, h.SettledAt) }

// age returns the time since a moment; 0 if that is zero.
func age(at, then time.Time) time.Duration {
	if then.IsZero() {
		return 0
	}
	return at.Sub(then)
}

// Node is what the kubelet says of its node, and what it has posted.
type Node struct {
	// The Ready condition as it was posted last.
	Ready   bool
	Reason  string    // "KubeletReady" or "KubeletNotReady"
	Message string    // to the letter, as of the posting
	Known   bool      // a relist and Status have returned once; if nothing is wrong, both must have succeeded
	Since   time.Time // when a posting last changed Ready; the start before that

	// The kubelet's words now; empty where all is well. The next posting has them.
	RuntimeDown string // no good Status for 30 s; for a kubelet that starts, no good Status ever
	PLEG        string // "PLEG is not healthy: ..."
	RuntimeErr  string // RuntimeReady is false or missing
	NetworkErr  string // NetworkReady is false or missing: the node is not Ready, but the sync loop works

	SyncedAt time.Time // of the last Status with RuntimeReady; zero if there was none
	DownAt   time.Time // when RuntimeDown begins unless a Status succeeds before, or when it began; zero while paused

	PostingHeld time.Time // since when the posting waits for the answer to Version, 2 min at most; zero if it does not wait
	Next        Posting   // the next posting that changes Ready, as far as it can be foretold

	LoopHeld    time.Time     // since when the sync loop waits for its housekeeping list, 2 min at most: it starts and stops no pod, and notices nothing; zero if it does not wait
	LoopStopped time.Time     // since when the sync loop skips everything; zero while it works or is held
	LoopNap     time.Duration // its back-off: 100 ms, doubling to 5 s
	HealthzAt   time.Time     // when /healthz/syncloop begins to fail, 5 min after the loop stopped; zero while it works
}

// A Posting is a coming change of the Ready condition, if everything goes on as now. A kubelet
// posts at an unknown moment of its period of 10 s, so the time is a range.
type Posting struct {
	Ready    bool
	Held     bool      // it is due, but it waits for a hanging Version call
	From, To time.Time // both zero if none can be foretold
}

// withoutFigures returns the part of n whose changes people should see at once.
func (n Node) withoutFigures() Node {
	n.SyncedAt, n.DownAt, n.Since, n.Message, n.Next = time.Time{}, time.Time{}, time.Time{}, "", Posting{Ready: n.Next.Ready}
	if n.PLEG != "" {
		n.PLEG = plegNotHealthy
	}
	return n
}
