package keymap

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// A Scope is a place where keys are pressed, or, in an [Entry], a set of them.
type Scope uint32

const (
	Global     Scope = 1 << iota // everywhere, unless the place itself uses the key
	InPods                       // the pods pane
	InEvents                     // the events pane
	InCalls                      // the calls pane
	InDetail                     // the detail of one pod
	InViewer                     // a long text, such as raw JSON
	InHelp                       // the help
	InFindings                   // the findings pane
	InFinding                    // one finding
	InNode                       // what the node says
	InEvent                      // one event
	InTimeline                   // the timeline
	InPicker                     // a list to pick from
	InDirector                   // the line that directs the demo
	InWorkers                    // the workers pane
	InHowPLEG                    // the picture of how PLEG works
)

// sheets are the places that are all about one thing.
const sheets = InDetail | InFinding | InNode | InEvent

// layers are the places that lie over the panes and can be closed.
const layers = InHowPLEG | sheets | InViewer | InHelp | InPicker | InDirector

// A Group is a heading of the help screen.
type Group uint8

const (
	General Group = iota
	Relist
	View
	Events
	Moving
	Demo
	groups
)

var groupNames = [groups]string{"General", "Relist", "View", "Events and texts", "Moving", "Demo"}

// String returns the heading.
func (g Group) String() string {
	if g < groups {
		return groupNames[g]
	}
	return "unknown"
}

// An Entry binds keys to one action.
type Entry struct {
	Action  Action
	Scope   Scope // where the keys mean this action
	Group   Group
	Binding key.Binding // its help names the keys and says in full what they do
	Short   string      // the same in a word or two, for the footer
}

// scopes names the places that the help tells apart.
var scopes = []struct {
	in   Scope
	name string
}{
	{InPods, "pods"}, {InEvents, "events"}, {InCalls, "calls"}, {InFindings, "findings"}, {InTimeline, "timeline"}, {InWorkers, "workers"},
	{sheets, "sheets"}, {InViewer, "texts"}, {InPicker, "lists to pick from"}, {InDirector, "director"}, {InHowPLEG, "how PLEG works"},
}

// Where names the places of a key that does not work everywhere, such as " (pods)";
// nothing for one that does.
func (e Entry) Where() string {
	var places []string
	for _, s := range scopes {
		if e.Scope&s.in != 0 {
			places = append(places, s.name)
		}
	}
	if e.Scope&Global != 0 {
		return ""
	}
	return " (" + strings.Join(places, ", ") + ")"
}

// A Map binds keys to actions. The zero Map binds nothing.
type Map struct {
	entries []Entry // in the order of the help screen
}

// Action returns what k asks for in one place, or [None]. What the place itself
// binds goes before what is bound everywhere, and a plain key that quits, such as q,
// closes what is open: only one with ctrl quits from there.
func (m Map) Action(k fmt.Stringer, in Scope) Action {
	a := m.bound(k, in)
	if a == Quit && in&layers != 0 && !strings.HasPrefix(k.String(), "ctrl+") {
		return Back
	}
	return a
}

func (m Map) bound(k fmt.Stringer, in Scope) Action {
	anywhere := None
	for _, e := range m.entries {
		switch {
		case !key.Matches(k, e.Binding):
		case e.Scope&in&^Global != 0:
			return e.Action
		case e.Scope&Global != 0 && anywhere == None:
			anywhere = e.Action
		}
	}
	return anywhere
}

// Entry returns the entry of a, and false if no key is bound to a.
func (m Map) Entry(a Action) (Entry, bool) {
	i := slices.IndexFunc(m.entries, func(e Entry) bool { return e.Action == a && e.Binding.Enabled() })
	if i < 0 {
		return Entry{}, false
	}
	return m.entries[i], true
}

// Keys returns the keys of a as a person reads them, such as "^r", and "" if
// none is bound.
func (m Map) Keys(a Action) string {
	e, _ := m.Entry(a)
	return e.Binding.Help().Key
}

// Groups returns all entries that have a key, by group, in the order of the
// help screen. Groups without an entry are left out.
func (m Map) Groups() [][]Entry {
	var all [][]Entry
	for g := range groups {
		var of []Entry
		for _, e := range m.entries {
			if e.Group == g && e.Binding.Enabled() {
				of = append(of, e)
			}
		}
		if len(of) > 0 {
			all = append(all, of)
		}
	}
	return all
}

// footers lists the actions that the footer names in each place, the most
// useful first: a narrow footer drops from the end.
var footers = map[Scope][]Action{
	InPods:     {Help, Filter, Detail, NextProblem, ProblemsOnly, PauseRelist, RelistNow, Namespaces, SortNext, NextPane, Fold, Columns, Freeze, Quit},
	InEvents:   {Help, Filter, Detail, Follow, Mark, MatchNext, TimeFormat, Relists, EventSources, Save, PauseRelist, NextPane, Freeze, Quit},
	InCalls:    {Help, Sweep, PauseRelist, RelistNow, SortNext, EventSources, NextPane, FullScreen, Freeze, Quit},
	InDetail:   {Help, Back, Raw, ReinspectPod, Copy, Filter, PauseRelist, Freeze},
	InFindings: {Help, Detail, Copy, Fold, Sweep, Node, PauseRelist, RelistNow, NextPane, FullScreen, Freeze, Quit},
	InFinding:  {Help, Back, Copy, Detail, Filter, Sweep, Node, PauseRelist, Freeze},
	InNode:     {Help, Back, Filter, PeriodUp, PeriodDown, Raw, PauseRelist, RelistNow, Freeze},
	InEvent:    {Help, Back, Detail, Copy, Filter, PauseRelist, Freeze},
	InTimeline: {Help, Detail, ZoomIn, ZoomOut, Left, Right, Filter, PauseRelist, NextPane, FullScreen, Freeze, Quit},
	InWorkers:  {Help, Filter, Detail, SortNext, Columns, Namespaces, PauseRelist, NextPane, FullScreen, Freeze, Quit},
	InHowPLEG:  {NextStep, PrevStep, Up, Down, Detail, Back, Director, PauseRelist, Freeze, Help},
	InViewer:   {Help, Back, Filter, MatchNext, Wrap, Copy},
	InHelp:     {Back, Filter, MatchNext},
	InPicker:   {Toggle, Accept, Filter, Back},
	InDirector: {World, Step, Slower, Faster, Restart, NextScenario, PrevScenario, Faults, Captions, Back},
}

// Footer returns the entries that the footer names in one place, the most
// useful first. Actions without a key are left out.
func (m Map) Footer(in Scope) []Entry {
	var short []Entry
	for _, a := range footers[in] {
		if e, ok := m.Entry(a); ok {
			short = append(short, e)
		}
	}
	return short
}

// Without returns m without the keys of a group: those that make no sense where the map
// is used.
func (m Map) Without(g Group) Map {
	return Map{slices.DeleteFunc(slices.Clone(m.entries), func(e Entry) bool { return e.Group == g })}
}

// WithPanes returns m with the keys of as many panes as there are names, which say in
// the help where each goes.
func (m Map) WithPanes(names []string) Map {
	var kept []Entry
	for _, e := range m.entries {
		if n := e.Action.Pane(); n > len(names) {
			continue
		} else if n > 0 {
			name := strings.ToLower(names[n-1])
			e.Short = name
			e.Binding.SetHelp(e.Binding.Help().Key, "go to the "+name)
		}
		kept = append(kept, e)
	}
	return Map{kept}
}
