package say

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Worker returns the look of what a pod worker does, which is held up or not.
func Worker(t *theme.Theme, w *podworker.Worker, held bool) (symbol string, st theme.Style) {
	switch {
	case held && w.State == podworker.WaitsForStatus:
		return t.Symbols.Warn, t.Warn
	case w.State == podworker.Syncing:
		return t.Symbols.Running, t.Good
	case w.State == podworker.Idle:
		return t.Symbols.Exited, t.Dim
	}
	return t.Symbols.Created, t.Info
}

// Expected names an event that a pod worker expects.
func Expected(e *podworker.Expectation) string {
	if e.Container == "" {
		return EventWord(e.Kind) + " sandbox"
	}
	return EventWord(e.Kind) + " " + e.Container
}

// WorkerTells says in a sentence what a pod worker does and for what, and what it has done.
func WorkerTells(all *podworker.Workers, w *podworker.Worker, at time.Time) string {
	says := w.State.String() + " for " + text.Age(at.Sub(w.Since))
	if w.State == podworker.WaitsForStatus && !w.After.IsZero() {
		says = "waits for a status newer than " + w.After.Local().Format(time.TimeOnly) + " for " + text.Age(at.Sub(w.Since))
	}
	for i := range w.Expected {
		says += theme.When(i == 0, ", expects ", ", ") + Expected(&w.Expected[i]) + " within " + text.Age(w.Expected[i].Until.Sub(at))
	}
	woken, synced := "woken", "synced"
	if !all.Acting {
		woken, synced = "would have been woken", "would have synced"
	}
	says += fmt.Sprintf("; %s %s, %s %d", woken, Plural(int(w.WakeUps), "time"), synced, w.Syncs)
	if w.Saved > 0 {
		says += ", " + Plural(int(w.Saved), "sync") + " skipped (expected)"
	}
	if w.Expired > 0 {
		says += ", " + Plural(int(w.Expired), "expected event") + " never came"
	}
	if w.Queued > 0 {
		says += "; " + Plural(w.Queued, "event") + theme.When(w.Queued == 1, " waits", " wait")
	}
	return says
}

// WorkerEvent returns the last event of a pod worker and when it came: in brackets if it was
// expected, and woke nobody.
func WorkerEvent(b widget.Pen, of *podworker.Worker) widget.Cell {
	switch {
	case of.LastAt.IsZero():
		return widget.Say(b.Dim, "-")
	case of.Spared:
		return widget.Lately(b.Dim, of.LastAt).After("(" + EventWord(of.Last.Kind) + ")")
	}
	return LastEvent(b, &engine.Event{Event: of.Last, SeenAt: of.LastAt})
}

// WorkersTell says what the pod workers are, in a few words: of a demo's kubelet that acts, or
// of one that would.
func WorkersTell(all *podworker.Workers) string {
	switch {
	case !all.Acting:
		return "(they would be; plegtop acts on nothing)"
	case all.Expecting:
		return "(expected events on)"
	}
	return "(expected events off)"
}

// WorkersSum says how often they were woken, and how often not.
func WorkersSum(all *podworker.Workers) string {
	says := text.Count(all.WakeUps) + " woken"
	if all.Expecting {
		says += ", " + text.Count(all.Saved) + " skipped"
	}
	if all.Expired > 0 {
		says += ", " + text.Count(all.Expired) + " expired"
	}
	return says
}
