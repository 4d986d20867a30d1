// Package sim is a container runtime that exists only in memory: a real gRPC
// server for CRI v1 on a private unix socket, with a small kubelet behind it
// that starts, restarts, replaces and deletes pods. It is what a demonstration
// shows, and what tests are held against. Nothing runs on the node, and no call
// changes anything: those that would are answered with Unimplemented.
//
// # Determinism
//
// Equal seeds give equal ids, names and transitions at equal moments of the
// server's clock, which begins at Config.Start and goes on at the pace of the scenario.
// Answers depend on when they are asked for and on nothing else, but for the
// calls that a fault hits by chance or delays by a random time.
//
// # The kubelet
//
// The small kubelet relists as any kubelet does ([pleg.Core]), but only when there is something
// to see. It acts through pod workers ([Server.Workers]): events of its relists
// wake them, each sync needs a status that is newer than the last, and they expect the
// events of what they do. While a fault has the lists hang, it sees nothing either.
//
// # Directing it
//
// What happens follows a script, which goes with the server's clock until somebody
// freezes it, steps through it, hurries it or begins it anew, while clients stay
// connected. The clock goes on all the same, and whatever happens bears the time at
// which it does. Of a scenario that is begun on a running server, the pods stay that run
// already, with their ids and ages; the others go and come within a moment, of which the
// stream of events does not tell.
//
// # The node
//
// In most scenarios the server also keeps a folder that looks like the node's
// own /proc, with the runtime's configuration and the folders of its containers, see
// [Server.HostRoot]. The debug socket and the metrics that the configuration names tell
// what the runtime's goroutines and calls do in the scenario. It follows the world by way of the file
// system and so a few milliseconds late; a single look at it is no proof.
//
// # Ordering, blocking, loss
//
// Lists keep the order of creation. An answer is a consistent picture of one
// moment. A held call waits without a thread and ends with its client's
// context, with the release of the hold or with the server, whichever is first.
// A reader of GetContainerEvents who falls 1,000 events behind is cut off; it
// never delays anybody else. Of the events that were made while nobody was
// reading, the last 256 are delivered first to the next reader, unless they are
// older than five minutes. What is wrong with the stream of its own accord is among the
// faults.
package sim
