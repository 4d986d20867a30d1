package knowledge

import (
	"slices"
	"strings"
)

// A Lock is a kind of lock within containerd or CRI-O that calls of the kubelet wait for.
type Lock struct {
	Of     string // what it guards, in words for people, such as "container"
	Source string
	Waits  []Place  // where goroutines wait for it
	Holds  []Place  // what has it while it runs; if empty, a goroutine that is in one of Waits, and waits for no lock of this kind, has it
	Leaves []string // functions that have released it, although their callers are among Holds
	Unheld bool     // no function shows who has it
	Own    bool     // an object has several locks of this kind: only the address tells them apart
}

// A Place is some methods of a type, or all its methods if none is named. Types are written with the last parts of
// their package's path, because releases move packages.
type Place struct {
	Owner    string
	Methods  []string
	Argument bool // the object that the lock belongs to is the first argument, and not the receiver
}

// WaitPlace returns the place in which a method waits for this lock; nil if it does not wait for it.
func (l *Lock) WaitPlace(owner, method string) *Place { return placeOf(l.Waits, owner, method) }

// HoldPlace returns the place in which a method may have this lock while it runs; nil if it may not.
func (l *Lock) HoldPlace(owner, method string) *Place {
	if l.Holds == nil && !l.Unheld {
		return l.WaitPlace(owner, method)
	}
	return placeOf(l.Holds, owner, method)
}

// LetGo reports whether a function has released this lock, although its caller is at a HoldPlace.
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

// endsIn reports whether parts are the last parts of a path.
func endsIn(path, parts string) bool { return path == parts || strings.HasSuffix(path, "/"+parts) }

// Locks returns all known locks.
var Locks = lazy[Lock]("locks.yaml")

// A StackRole is what some functions of a runtime do, apart from taking locks, when they are seen in a dump of its
// goroutines.
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

// A Sign says what a goroutine does, if a function is in its stack or it is in a state.
type Sign struct {
	Doing  string // in words for people: "fsync", "CNI add"
	Source string
	In     []string // states, and functions by the last parts of their paths; with "*" at the end, by the beginning of these parts
	Polled string   // what the goroutine does instead in the state "IO wait"; empty for the same
	Asks   bool     // somebody else must answer: another program, a disk, the kernel
	Open   bool     // it asks another program for something that ends
}

// Signs returns all signs. If a stack has several, the first row counts.
var Signs = lazy[Sign]("signs.yaml")

// SignOf returns the index in [Signs] of the row that has a function or a state; len(Signs()) if none has it.
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
