package howpleg

import (
	"fmt"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A board is what the figures of all boxes are made of.
type board struct {
	*pane.View
	stuck    story.Place   // where a call of the relist is late; 0 if none is
	waits    string        // for how long
	pod      pleg.PodRef   // that the call is about
	failures int           // of lists, in a row
	last     engine.Relist // the newest that has finished; zero before the first
	blocked  int           // workers
	health   diagnose.HealthLink
	telling  []string // the event sources that are connected

	held, failed, entries int // pods: whose records do not move on, as inspections fail; with an error in the cache; with anything there
}

func newBoard(v *pane.View) *board {
	b := &board{View: v, blocked: diagnose.WorkersHeld(v.Snapshot), health: diagnose.HealthOf(v.Snapshot, diagnose.HealthPLEG)}
	if f := diagnose.RelistCall(v.Snapshot); f != nil && diagnose.Late(v.Snapshot, *f) {
		b.waits, b.pod = text.Age(f.Elapsed(v.At)), f.Pod
		b.stuck = theme.When(f.ID != "", story.Inspect, story.Lists)
	}
	if v.Failure != nil {
		b.failures = v.Failure.InRow
	}
	if n := len(v.Relists.History); n > 0 {
		b.last = v.Relists.History[n-1]
	}
	for _, p := range v.Snapshot.Pods {
		b.held += theme.When(p.Failure != nil, 1, 0)
		b.failed += theme.When(p.StatusErr != nil, 1, 0)
		b.entries += theme.When(p.StatusErr != nil || p.Status != nil, 1, 0)
	}
	for i := range v.Sources {
		if k := &v.Sources[i]; k.State == engine.StreamConnected {
			b.telling = append(b.telling, k.Source.String())
		}
	}
	return b
}

// These say what is blocked. A call without an answer stops the relist at its box, and all ways up
// to that one are blocked.
func (b *board) inspectWaits() bool { return b.stuck == story.Inspect }
func (b *board) listsWait() bool    { return b.stuck != 0 || b.failures > 0 }
func (b *board) loopHeld() bool     { return !b.Node.LoopHeld.IsZero() }
func (b *board) loopStopped() bool  { return !b.Node.LoopStopped.IsZero() && !b.loopHeld() }
func (b *board) loopStands() bool   { return b.loopHeld() || b.loopStopped() }
func (b *board) unhealthy() bool    { return b.health.Level == diagnose.HealthIll }
func (b *board) never() bool        { return false }

// These hold or not, for figures.
func (b *board) relisted() bool { return !b.last.At.IsZero() }
func (b *board) compared() bool { return b.Phase.Step != engine.Listing } // else it is not known yet what has changed
func (b *board) fills() bool    { return diagnose.ChannelFills(&b.Channel) }
func (b *board) full() bool     { return b.Channel.Capacity > 0 && b.Channel.Len >= b.Channel.Capacity }
func (b *board) settled() bool  { return !b.Snapshot.Health.SettledAt.IsZero() }

func when(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
