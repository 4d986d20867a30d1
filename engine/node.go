package engine

import "time"

// Node is what a kubelet that saw what the engine saw would say of its node.
// (kubelet 1.25 to 1.37: runtimeState, syncLoop, syncNodeStatus and the Ready condition
// of package nodestatus.) The engine joins a kubelet that has long been up, so that until
// the runtime has said otherwise the node is taken for ready, and its PLEG for
// healthy up to the engine's start at least. One that looks once stands for a kubelet
// that has just started: it takes nothing for granted, has no sync loop yet, and posts at
// once what it finds.
//
// Three clocks are told apart: the sync loop, which starts and stops pods; PLEG; and the
// posting of the Ready condition, which is all that the cluster gets to see. They may
// contradict each other for minutes.
type Node struct {
	// The Ready condition as it was posted last.
	Ready   bool
	Reason  string    // "KubeletReady" or "KubeletNotReady"
	Message string    // to the letter, as of the posting
	Known   bool      // false until both the lists and Status have returned once, and, where nothing is wrong, well
	Since   time.Time // when a posting changed Ready last; the engine's start before that

	// What the kubelet says now, in its own words; empty where all is well. It reaches
	// the API server with the next posting.
	RuntimeDown string // no Status was answered well for 30 s: "container runtime is down"; or none ever, of a kubelet that starts
	PLEG        string // "PLEG is not healthy: ..."
	RuntimeErr  string // RuntimeReady is false or not there
	NetworkErr  string // NetworkReady is false or not there; keeps the node from Ready, not the sync loop from its work

	SyncedAt time.Time // of the last Status that said RuntimeReady; zero if there was none
	DownAt   time.Time // when RuntimeDown is said unless a Status succeeds before, or was first said; zero while paused

	PostingHeld time.Time // since when the posting waits for the runtime's answer to Version, 2 min at most; zero while it does not
	Next        Posting   // what is posted next, as far as that can be foretold

	LoopHeld    time.Time     // since when the sync loop waits for a list in its housekeeping, 2 min at most: it starts and stops no pod, and notices nothing; zero while it does not
	LoopStopped time.Time     // since when the sync loop skips everything; zero while it works or is held
	LoopNap     time.Duration // its back-off: 100 ms, doubling to 5 s
	HealthzAt   time.Time     // when /healthz/syncloop begins to fail, 5 min after the loop stopped; zero while it works
}

// A Posting is the next one that changes the Ready condition, if everything goes on as
// it does. When in its period of 10 s a kubelet posts is not known, so that it is a range.
type Posting struct {
	Ready    bool
	From, To time.Time // between the two; both zero if none can be foretold
}
