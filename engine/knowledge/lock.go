package knowledge

import (
	"slices"
	"strings"
)

// A Lock is a kind of lock within containerd or CRI-O that calls of the kubelet wait for.
type Lock struct {
	Of     string // what it guards, for people, such as "container"
	Source string
	Waits  []Place  // where it is waited for
	Holds  []Place  // what has it while it runs; empty: who is in one of Waits, and waits for no lock of this kind, has it
	Leaves []string // functions that have let go of it, though what called them is among Holds
	Unheld bool     // no function tells who has it
	Own    bool     // an object has several such locks: only the address tells them apart
}

// A Place is methods of a type, all of them if none is named. Types are written with the last parts
// of their package's path, as releases move packages.
type Place struct {
	Owner    string
	Methods  []string
	Argument bool // what the lock belongs to is the first argument, and not the receiver
}

// WaitPlace returns the place in which a method waits for such a lock; nil if it does not.
func (l *Lock) WaitPlace(owner, method string) *Place { return placeOf(l.Waits, owner, method) }

// HoldPlace returns the place in which a method may have such a lock while it runs; nil if it may not.
func (l *Lock) HoldPlace(owner, method string) *Place {
	if l.Holds == nil && !l.Unheld {
		return l.WaitPlace(owner, method)
	}
	return placeOf(l.Holds, owner, method)
}

// LetGo reports whether a function has let go of such a lock, though its caller is at a HoldPlace.
func (l *Lock) LetGo(function string) bool {
	return slices.ContainsFunc(l.Leaves, func(name string) bool { return endsIn(function, name) })
}

// placeOf returns the place that has a method; nil if none has it.
func placeOf(places []Place, owner, method string) *Place {
	for i := range places {
		if p := &places[i]; endsIn(owner, p.Owner) && (p.Methods == nil || slices.Contains(p.Methods, method)) {
			return p
		}
	}
	return nil
}

// endsIn reports whether these are the last parts of a path.
func endsIn(path, parts string) bool { return path == parts || strings.HasSuffix(path, "/"+parts) }

// Locks returns all of them.
var Locks = lazy[Lock]("locks.yaml")

// A StackRole is what functions of a runtime do in a dump of its goroutines, besides taking locks.
type StackRole struct {
	Role   string // "service", "wrapper", "semaphore", "asks ttrpc" or "asks grpc"
	Source string
	Places []Place
}

var stackRoles = lazy[StackRole]("stack-roles.yaml")

// RoleOf returns the role of a method; empty if it has none.
func RoleOf(owner, method string) string {
	for _, r := range stackRoles() {
		if placeOf(r.Places, owner, method) != nil {
			return r.Role
		}
	}
	return ""
}

// A Sign is what a function, or the state of a goroutine, tells of what that goroutine does.
type Sign struct {
	Doing  string // for people: "fsync", "CNI add"
	Source string
	In     []string // functions, by the last parts of their paths, with a "*" only by how these begin; and states
	Polled string   // what it does instead in the state "IO wait"; empty for the same
	Asks   bool     // somebody else must answer: another program, a disk, the kernel
	Open   bool     // it asks another program for something that ends
}

// Signs returns all of them. Of several that a stack has, the first row counts.
var Signs = lazy[Sign]("signs.yaml")

// SignOf returns the row of [Signs] that has a function or a state; their number if none has it.
func SignOf(name string) int {
	signs := Signs()
	for i := range signs {
		for _, in := range signs[i].In {
			begin, open := strings.CutSuffix(in, "*")
			if endsIn(name, in) || open && (strings.HasPrefix(name, begin) || strings.Contains(name, "/"+begin)) {
				return i
			}
		}
	}
	return len(signs)
}
