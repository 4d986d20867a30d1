package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A RebindError says which action of a config file could not be bound.
type RebindError struct {
	Name string // as it was given
	Err  error
}

// Error names the action and what is wrong with it.
func (e *RebindError) Error() string { return fmt.Sprintf("action %q: %v", e.Name, e.Err) }

// Unwrap returns what is wrong.
func (e *RebindError) Unwrap() error { return e.Err }

// Rebind returns m with exactly these keys bound to the actions of these names; two of
// them may change places. An action may be left without a key. It fails, with a
// [*RebindError] about the first by name, for a name that no action has, for a key
// that no terminal sends, and for a key that another action has in the same place.
func (m Map) Rebind(keys map[string][]string) (Map, error) {
	bound := Map{slices.Clone(m.entries)}
	names := slices.Sorted(maps.Keys(keys))
	for _, name := range names {
		if err := bound.set(name, keys[name]); err != nil {
			return m, &RebindError{name, err}
		}
	}
	bound.yield(names)
	for _, name := range names {
		if err := bound.conflict(name); err != nil {
			return m, &RebindError{name, err}
		}
	}
	return bound, nil
}

// set changes m itself: Rebind hands it a copy.
func (m Map) set(name string, keys []string) error {
	i := slices.IndexFunc(m.entries, func(e Entry) bool { return e.Action == Action(name) })
	if i < 0 {
		return fmt.Errorf("no such action%s", m.nearest(name))
	}
	for _, k := range keys {
		if err := checkKey(k); err != nil {
			return err
		}
	}
	e := m.entries[i]
	if e.Action == Quit && len(keys) == 0 {
		return fmt.Errorf("needs a key: there would be no way out")
	}
	m.entries[i] = bind(e.Action, e.Scope, e.Group, e.Short, e.Binding.Help().Desc, keys...)
	return nil
}

// yield takes from the keys of panes what the actions named were given: there may be
// fewer panes than digits.
func (m Map) yield(names []string) {
	for i, e := range m.entries {
		if e.Action.Pane() == 0 || slices.Contains(names, string(e.Action)) {
			continue
		}
		taken := func(k string) bool {
			return slices.ContainsFunc(m.entries, func(o Entry) bool {
				return slices.Contains(names, string(o.Action)) && slices.Contains(o.Binding.Keys(), k)
			})
		}
		left := slices.DeleteFunc(slices.Clone(e.Binding.Keys()), taken)
		m.entries[i] = bind(e.Action, e.Scope, e.Group, e.Short, e.Binding.Help().Desc, left...)
	}
}

// conflict returns an error if the action called name shares a key with
// another one that is bound in the same place.
func (m Map) conflict(name string) error {
	i := slices.IndexFunc(m.entries, func(e Entry) bool { return e.Action == Action(name) })
	e := m.entries[i]
	for _, other := range m.entries {
		if other.Action == e.Action || other.Scope&e.Scope == 0 {
			continue
		}
		for _, k := range e.Binding.Keys() {
			if slices.Contains(other.Binding.Keys(), k) {
				return fmt.Errorf("key %q is taken by %q; give that another one as well", k, other.Action)
			}
		}
	}
	return nil
}

// nearest returns "; did you mean ...?" with the names most like name.
func (m Map) nearest(name string) string {
	var known []string
	for _, e := range m.entries {
		known = append(known, string(e.Action))
	}
	return cmp.Or(Meant(Nearest(name, known)), "; docs/keys.md lists them all")
}

// Meant asks whether one of these was meant, such as "; did you mean quit?"; it says
// nothing if there are none.
func Meant(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// Nearest returns up to three of known that somebody who mistyped name may have meant,
// the likeliest first; none if none is like it.
func Nearest(name string, known []string) []string {
	name = strings.ToLower(name)
	far := func(k string) int {
		k = strings.ToLower(k)
		if name != "" && strings.Contains(k, name) {
			return 0
		}
		return distance(name, k)
	}
	limit := min(max(2, len(name)/3), len(name)/2) // of three letters one may be wrong
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return far(k) > limit })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	return near[:min(3, len(near))]
}

// distance returns how many letters must be changed, added or removed to make
// b from a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
