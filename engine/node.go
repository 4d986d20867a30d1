package engine

import "time"

// Node is what a kubelet that saw what the engine saw would say of its node.
// (kubelet 1.25 to 1.37: runtimeState, syncLoop, the Ready condition of package
// nodestatus.) The engine joins a kubelet that has long been up, so that until
// the runtime has said otherwise the node is taken for ready, and its PLEG for
// healthy up to the engine's start at least. One that looks once stands for a kubelet
// that has just started: it takes nothing for granted, and has no sync loop yet.
type Node struct {
	Ready   bool
	Reason  string    // "KubeletReady" or "KubeletNotReady"
	Message string    // to the letter
	Known   bool      // false until both the lists and Status have returned once, well or not
	Since   time.Time // when Ready last changed; the engine's start before that

	// The parts of the chain, in the kubelet's own words; empty where all is well.
	RuntimeDown string // no Status was answered well for 30 s: "container runtime is down"; or none ever, of a kubelet that starts
	PLEG        string // "PLEG is not healthy: ..."
	RuntimeErr  string // RuntimeReady is false or not there
	NetworkErr  string // NetworkReady is false or not there; keeps the node from Ready, not the sync loop from its work

	SyncedAt time.Time // of the last Status that said RuntimeReady; zero if there was none
	DownAt   time.Time // when RuntimeDown is said unless a Status succeeds before, or was first said; zero while paused

	LoopStopped time.Time     // since when the sync loop skips everything; zero while it works
	LoopNap     time.Duration // its back-off: 100 ms, doubling to 5 s
	HealthzAt   time.Time     // when /healthz/syncloop begins to fail, 5 min after the loop stopped; zero while it works
}
