package ledger

import "time"

// What the ledger waits for.
const (
	// Patience is how long the relist and a source wait for each other, before one is
	// taken to have missed what the other saw.
	Patience = 3 * time.Second
	// settling is how much later than the kernel a runtime that is well lists what has started.
	settling = time.Second
	// mostLists is how long the lists of a node that is well take, at most.
	mostLists = 250 * time.Millisecond
)

// What the ledger keeps at most, and for how long.
const (
	// Lasts is how long it is remembered who saw what: longer than lists hang before
	// somebody does something about it.
	Lasts = 10 * time.Minute
	// MostKnown is how many ids are remembered that somebody knows, MostStrangers how many
	// others: a source may tell of more containers than any node has.
	MostKnown     = 8192
	MostStrangers = 2048
	// MostUntold is how many transitions wait to be reported: two of each id.
	MostUntold = 2 * MostKnown
	// mostUnjudged is how many transitions wait for a relist that may never end.
	mostUnjudged = 2 * MostKnown
	// MostUnseen is how many events of ids that nobody knows are reported, over the whole
	// run: a source that makes ids up would fill the list of events.
	MostUnseen = 1000
	// LongestID is in bytes: what is longer is no id, and would fill the memory.
	LongestID = 1024

	// deathsKept is how many deaths are remembered of the containers of one name: enough
	// to tell intervals and exit codes. deathsOfPod is how many of one pod, whose names
	// the runtime may make up.
	deathsKept  = 8
	deathsOfPod = 64
	// goneKept is how long sandboxes that are listed no more are remembered: a look at the
	// processes may be 5 s old, and some demos run fifteen times as fast. MostGone is how
	// many are: where more go at once, nobody can say what belongs to whom.
	goneKept = 2 * time.Minute
	MostGone = 10_000
	// mostCome is of how many sandboxes at least it is remembered that they have come: one
	// that a list has left out once is no new one.
	mostCome = 1000

	// driftWindow is how far back it is looked whether stream and relist agree. Samples
	// are driftStep apart, so that the window is exact to a thirtieth.
	driftWindow = 5 * time.Minute
	driftStep   = driftWindow / 30
)
