package ui

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/calls"
	"github.com/plegtop/plegtop/ui/director"
	"github.com/plegtop/plegtop/ui/events"
	"github.com/plegtop/plegtop/ui/findings"
	"github.com/plegtop/plegtop/ui/help"
	"github.com/plegtop/plegtop/ui/howpleg"
	"github.com/plegtop/plegtop/ui/node"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/pods"
	"github.com/plegtop/plegtop/ui/timeline"
	"github.com/plegtop/plegtop/ui/workers"
)

// panes is the one list of them. The first is always on the screen where there is room
// for two; the number keys follow the order.
var panes = []func(pane.Settings) pane.Pane{pods.New, events.New, calls.New, findings.New, timeline.New, workers.New}

// sheets open what a cursor is on: the first that knows the subject does. Each returns
// nil for a subject that it is not about.
var sheets = []func(*pane.View, pane.Subject) pane.Pane{findings.Sheet, events.Sheet, pods.Sheet, calls.Sheet}

// openers make the layers that have a key of their own. The same key closes them.
var openers = map[keymap.Action]func(*Model) pane.Pane{
	keymap.Help:       (*Model).help,
	keymap.HowPLEG:    func(*Model) pane.Pane { return howpleg.New() },
	keymap.Node:       func(*Model) pane.Pane { return node.New() },
	keymap.Director:   func(m *Model) pane.Pane { return director.New(m.cfg.Director, m.cfg.Keys) },
	keymap.Filter:     (*Model).filterPrompt,
	keymap.Namespaces: (*Model).namespacePicker,
}

// help explains keys, symbols, the filter, the words of the headline and columns; what the active
// pane shows comes first.
func (m *Model) help() pane.Pane {
	headline := help.Section{Name: "Headline"}
	for _, w := range diagnose.HeadWords() {
		headline.Rows = append(headline.Rows, [2]string{w.Word, w.Meaning})
	}
	sections := []help.Section{headline}
	for _, p := range m.panes {
		if e, ok := p.(pane.Explainer); ok {
			sections = append(sections, help.Section{Name: p.Info().Name, Rows: e.Legend()})
		}
	}
	return help.New(m.cfg.Keys, sections, m.active().Info().Name)
}
