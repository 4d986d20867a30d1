package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
)

// A Scope says what can be done in a place where keys are pressed, or, in an [Entry], where
// its keys mean something: a set of them. Whoever shows something says what can be done there,
// with one of them beside Over; the zero Scope is a place with the keys of everywhere alone.
type Scope uint32

const (
	Global    Scope = 1 << iota // everywhere, unless the place itself uses the key
	Over                        // it lies over something else, and is closed: what a plain key that quits does then
	Folding                     // rows fold and unfold
	Following                   // events come, and are followed
	Matching                    // a text, or a stretch of time: one goes from match to match
	Wrapping                    // a text whose lines may be longer than the screen is wide
	Picking                     // rows are switched on and off
	Directing                   // a demo is directed
	Replaying                   // a recording is played
)

// A Group is a heading of the help screen.
type Group uint8

const (
	General Group = iota
	Relist
	View
	Events
	Moving
	Past
	Demo
	groups
)

var groupNames = [groups]string{"General", "Relist", "View", "Events and texts", "Moving", "Rewind and replay", "Demo"}

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

// scopes names the places that the help tells apart by what can be done there.
var scopes = []struct {
	in   Scope
	name string
}{
	{Folding, "rows that fold"}, {Following, "events"}, {Matching, "texts, time"}, {Wrapping, "raw answers"},
	{Picking, "lists to pick from"}, {Directing, "director"}, {Replaying, "replay"},
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
	if a == Quit && in&Over != 0 && !strings.HasPrefix(k.String(), "ctrl+") {
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

// Here returns the entries of which a key means something in one place, in the order of the
// help screen; those that move a cursor are left out.
func (m Map) Here(in Scope) []Entry {
	return slices.DeleteFunc(slices.Clone(m.entries), func(e Entry) bool {
		return !e.Binding.Enabled() || e.Group == Moving || e.Scope&(in|Global) == 0
	})
}

// Groups returns all entries that have a key, by group, in the order of the
// help screen. Groups without an entry are left out.
func (m Map) Groups() [][]Entry {
	var all [][]Entry
	for g := range groups {
		of := slices.DeleteFunc(slices.Clone(m.entries), func(e Entry) bool { return e.Group != g || !e.Binding.Enabled() })
		if len(of) > 0 {
			all = append(all, of)
		}
	}
	return all
}

// Entries returns the entries of some actions, in their order. Actions without a key are left
// out.
func (m Map) Entries(all []Action) []Entry {
	bound := make([]Entry, 0, len(all))
	for _, a := range all {
		if e, ok := m.Entry(a); ok {
			bound = append(bound, e)
		}
	}
	return bound
}

// Elsewhere returns the entry of a key that means nothing in one place, and something in
// another; false if it does in no other, or means something here.
func (m Map) Elsewhere(k fmt.Stringer, in Scope) (Entry, bool) {
	i := slices.IndexFunc(m.entries, func(e Entry) bool { return key.Matches(k, e.Binding) })
	if i < 0 || m.bound(k, in) != None {
		return Entry{}, false
	}
	return m.entries[i], true
}

// Of returns the entry of a key in one group; false if it has none there.
func (m Map) Of(k fmt.Stringer, g Group) (Entry, bool) {
	i := slices.IndexFunc(m.entries, func(e Entry) bool { return e.Group == g && key.Matches(k, e.Binding) })
	if i < 0 {
		return Entry{}, false
	}
	return m.entries[i], true
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

// labels gives the keys that are not shown as they are spelled.
var labels = map[string]string{
	"up": "↑", "down": "↓", "left": "←", "right": "→", "pgup": "PgUp", "pgdown": "PgDn",
	"home": "Home", "end": "End", "insert": "Ins", "delete": "Del",
}

// Label returns a key as a person reads it: "^r" for "ctrl+r".
func Label(k string) string {
	if s, ok := labels[k]; ok {
		return s
	}
	if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return "^" + Label(rest)
	}
	return k
}

// labelAll returns all of keys as a person reads them, with a space between them.
func labelAll(keys []string) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = Label(k)
	}
	return strings.Join(all, " ")
}

// named holds the keys that have a name in place of a character.
var named = map[string]bool{
	"enter": true, "tab": true, "backspace": true, "esc": true, "space": true,
	"up": true, "down": true, "left": true, "right": true, "home": true, "end": true,
	"pgup": true, "pgdown": true, "insert": true, "delete": true,
	"f1": true, "f2": true, "f3": true, "f4": true, "f5": true, "f6": true,
	"f7": true, "f8": true, "f9": true, "f10": true, "f11": true, "f12": true,
}

// checkKey returns an error that says how to write a key, if a terminal could
// never send k.
func checkKey(k string) error {
	base, modified := k, false
	for _, mod := range []string{"ctrl+", "alt+", "shift+"} { // the only order that terminals report
		if rest, ok := strings.CutPrefix(base, mod); ok && rest != "" {
			base, modified = rest, true
		}
	}
	r, size := utf8.DecodeRuneInString(base)
	single := size == len(base) && r != utf8.RuneError && unicode.IsGraphic(r) && r != ' '
	switch {
	case named[base]:
		return nil
	case single && !modified:
		return nil
	case single && !strings.Contains(k, "shift+") && !unicode.IsUpper(r):
		return nil
	}
	return fmt.Errorf("key %q: want one character (x, X, ?), a name (enter, space, pgdown, f5) or ctrl+x, alt+x, shift+tab", k)
}
