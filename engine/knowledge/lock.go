package knowledge

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

// Locks returns all of them.
var Locks = lazy[Lock]("locks.yaml")

// A StackRole is what functions of a runtime do in a dump of its goroutines, besides taking locks.
type StackRole struct {
	Role   string // "service", "wrapper", "asks shim" or "asks client"
	Source string
	Places []Place
}

// StackRoles returns all of them.
var StackRoles = lazy[StackRole]("stack-roles.yaml")
