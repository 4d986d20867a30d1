package pane

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A View is all that panes show. Only the screen changes it: a pane reads, and asks its [Host].
type View struct {
	*engine.Snapshot                    // never nil
	Latest           *engine.Snapshot   // the newest; the same unless Frozen
	Headline         diagnose.Headline  // of the namespaces that are shown
	Findings         []diagnose.Finding // likewise: causes before effects, the worst cause first
	Ended            []diagnose.Ended   // likewise, the newest first
	Answer           diagnose.Answer    // to the worst of Findings
	Led              bool               // something is critical, and no person has chosen a pane: the answer comes first, then the pods that are affected
	Pods             *model.Pods        // all pods, and those shown in their order
	Journal          *model.Journal     // what has happened since the start
	Axis             *widget.Axis       // of time, for all strips
	Filter           Filter
	Source           Source
	Theme            *theme.Theme
	Keys             keymap.Map // for texts that name a key
	Frozen           bool       // the screen stands still, the engine goes on
	Past             string     // that something recorded is shown, and from when; empty while it is live
}

// Pen returns what the view is drawn with.
func (v *View) Pen() widget.Pen { return widget.Pen{Theme: v.Theme, At: v.At} }

// A Filter is what a person asked to see, of pods and events alike.
type Filter struct {
	Text       string // as it was typed; empty for everything
	By         model.Filter
	Namespaces []string // empty for all
}

// filteredMost is how many cells of a title a filter may take: the other tabs stand
// behind it.
const filteredMost = 40

// Filtered names the filter in force, for the title of what it holds for; nothing if all
// is shown.
func (v *View) Filtered() []text.Span {
	var all []text.Span
	say := func(s string) {
		all = append(all, text.Say(v.Theme.Info, text.Few(s, filteredMost, 1, v.Theme.Symbols.Ellipsis)[0]))
	}
	if f := v.Filter.Text; f != "" {
		say("/" + f)
	}
	if ns := v.Filter.Namespaces; len(ns) > 0 {
		say("ns:" + strings.Join(ns, ","))
	}
	return all
}

// Namespace reports whether a namespace is shown.
func (f *Filter) Namespace(ns string) bool {
	return len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, ns)
}

// A Source says where the snapshots come from.
type Source struct {
	Kind     string // "cri", or "demo" for the embedded runtime
	Node     string // the node's name
	Endpoint string // of the runtime, as it was found
	Scenario string // of a demo; empty else
	Still    bool   // of a demo: its script stands still
}

// Demo reports whether there is no real node behind the screen.
func (s Source) Demo() bool { return s.Kind == "demo" }

// Settings say how panes are shown at the start. The zero value is a good choice.
type Settings struct {
	Problems   bool   // pods with a problem only
	Sort       string // a column's head in lower case, such as "age"; empty for the worst first
	Descending bool   // the other way round
	Time       string // format of event times: "clock" (if empty), "age" or "full"
}

// An Orderer is a pane that says in which order all panes have the pods: the screen asks for it
// whenever the pane may have changed it.
type Orderer interface {
	Pane
	// Order returns the order that a person has chosen, for what is drawn as v says.
	Order(v *View) model.Order
}
