package stacks

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// classify says what is known of f beforehand.
func (f *function) classify() {
	for i := range knowledge.Locks() {
		l := &knowledge.Locks()[i]
		if slices.ContainsFunc(l.Leaves, f.named) {
			f.leaves = l
		}
		if at := slices.IndexFunc(l.Waits, f.in); at >= 0 {
			f.waits, f.works = l, max(f.works, subjectOf(l.Waits[at]))
		}
		holds := l.Holds
		if holds == nil && !l.Unheld {
			holds = l.Waits
		}
		if at := slices.IndexFunc(holds, f.in); at >= 0 {
			f.holds, f.works = append(f.holds, l), max(f.works, subjectOf(holds[at]))
		}
	}
	if f.plays("asks shim") {
		f.kinds |= asksTTRPC
	}
	if f.plays("asks client") {
		f.kinds |= asksGRPC
	}
	if f.plays("service") {
		f.kinds |= ofService
	}
	if f.plays("wrapper") {
		f.kinds |= passesOn
	} else if f.waits != nil {
		f.kinds &^= passesOn
	}
}

// subjectOf says what a lock at a place belongs to, where that is not the receiver.
func subjectOf(p knowledge.Place) subject {
	if p.Argument {
		return onArgument
	}
	return onNothing
}

// plays reports whether f has a role.
func (f *function) plays(role string) bool {
	return slices.ContainsFunc(knowledge.StackRoles(), func(r knowledge.StackRole) bool {
		return r.Role == role && slices.ContainsFunc(r.Places, f.in)
	})
}

// in reports whether f is one of a place's methods.
func (f *function) in(p knowledge.Place) bool {
	return f.of(p.Owner) && (p.Methods == nil || slices.Contains(p.Methods, f.method))
}

// of reports whether f is a method of a type, named by the last parts of its path.
func (f *function) of(owner string) bool { return endsIn(f.owner, owner) }

// named reports whether f is the function that the last parts of its path name.
func (f *function) named(name string) bool { return endsIn(f.name, name) }

// endsIn reports whether last are the last parts of a path.
func endsIn(path, last string) bool { return path == last || strings.HasSuffix(path, "/"+last) }
