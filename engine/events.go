package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An Event is a [pleg.Event] as a person reads it: numbered, with the moment at
// which the relist saw it and, where the runtime's own timestamps allow, how
// long after the fact that was. Events are plain values and never change.
type Event struct {
	pleg.Event
	Seq    uint64    // 1 for the first event of this run, without gaps
	Mode   pleg.Mode // in which it was decided
	SeenAt time.Time // when anybody saw it first; if that was the relist, when the inspection that released it had succeeded

	// Lag is the time from what the runtime says happened (startedAt,
	// finishedAt, createdAt) to SeenAt. It means something only if HasLag: a
	// removal leaves no timestamp, and a clock step makes nonsense of one.
	Lag    time.Duration
	HasLag bool

	// AtStart says that the event is no news: what it reports was there before the
	// first relist, which could not but find it.
	AtStart bool

	// Seen says who saw it, as far as they had when it was released; nil where no event
	// source was on. SeenAt is then when it was seen first.
	Seen *ledger.Sightings

	Reason string // the runtime's reason for a container's end, such as OOMKilled; not cleaned
}
