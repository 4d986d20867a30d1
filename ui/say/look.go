// Package say puts what the engine knows into words and looks, the same ones in every pane, in
// the header and in lines: calls, failures, sweeps, event sources, findings and the headline;
// the symbol, style and word of a state or an event; the cells that several tables have. Its
// texts are not cleaned: that is done where they are drawn or written. All of it is pure and
// safe for concurrent use; a [text.Line] belongs to the goroutine that draws.
package say

import (
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

// State returns the look of the state of a sandbox or container. Its word is the
// state's own, for sandboxes too: that is what PLEG goes by.
func State(t *theme.Theme, s pleg.State) (symbol string, st theme.Style) {
	switch s {
	case pleg.Running:
		return t.Symbols.Running, t.Good
	case pleg.Exited:
		return t.Symbols.Exited, t.Dim
	case pleg.Created:
		return t.Symbols.Created, t.Info
	case pleg.Absent:
		return t.Symbols.Gone, t.Dim
	}
	return t.Symbols.Unknown, t.Warn
}

// Event returns the look of an event.
func Event(t *theme.Theme, e *engine.Event) (symbol string, st theme.Style) {
	if e.Delivery == pleg.Unseen {
		died := e.Kind == pleg.Died && !(e.Exited && e.ExitCode == 0) // of which control groups tell no exit code
		return t.Symbols.Unseen, theme.When(died, t.Bad, t.Warn)
	}
	switch e.Kind {
	case pleg.Started:
		return t.Symbols.Running, t.Good
	case pleg.Died:
		if e.Exited && e.ExitCode != 0 {
			return t.Symbols.Bad, t.Bad
		}
		return t.Symbols.Exited, t.Text
	case pleg.Removed:
		return t.Symbols.Gone, t.Dim
	case pleg.Changed:
		return t.Symbols.Created, t.Dim
	}
	if e.Delivery == pleg.Derived {
		return t.Symbols.Bullet, theme.When(e.Kind == pleg.NetworkFailed, t.Warn, t.Dim)
	}
	return t.Symbols.Bullet, t.Info
}

// Code returns the look of an exit code.
func Code(t *theme.Theme, code int32) theme.Style {
	return theme.When(code != 0, t.Bad, t.Dim)
}

// EventWord is the kubelet's name of an event without what all have in common, and short
// where the kubelet has none.
func EventWord(k pleg.Kind) string {
	switch k {
	case pleg.NetworkSetUp:
		return "NetUp"
	case pleg.NetworkFailed:
		return "NetFail"
	}
	return strings.TrimPrefix(k.String(), "Container")
}

// Sent says in a word whether the kubelet's PLEG sends an event to the sync loop.
func Sent(d pleg.Delivery) string {
	switch d {
	case pleg.Delivered:
		return "yes"
	case pleg.Derived:
		return "n/a"
	}
	return d.String()
}
