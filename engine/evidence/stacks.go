package evidence

import "time"

// Stacks is what the runtime's goroutines do, by the dump that the runtime writes of them.
type Stacks struct {
	Source
	At      time.Time // the time of the dump; zero if there is none
	Program string    // whose goroutines: "containerd", "crio"
	Total   int       // goroutines
	Groups  []Group   // goroutines with equal stacks, the largest group first; 20 at most. If there are more, groups that wait for a lock or answer a call are kept first
	Locks   []Lock    // locks that goroutines wait for, those with most waiters first; 20 at most
	// Open are the goroutines that answer a call of the CRI, or that have asked another program for something
	// and wait for it: the longest first, 20 at most. A goroutine that waits for a lock is under Locks instead.
	Open []Goroutine
}

// A Group is a set of goroutines that stand at the same place and were called from the same functions.
type Group struct {
	Count   int
	State   string        // as Go spells it, such as "chan receive", "sync.RWMutex.RLock"
	Longest time.Duration // the longest time that one of them has waited, in whole minutes; 0 below one
	Frames  []string      // functions, the innermost first, without arguments
	First   int           // the number of one of them
}

// The values of a [Lock]'s Of for what belongs to one object of the CRI.
const (
	OfContainer = "container status"
	OfSandbox   = "sandbox status"
)

// A Lock is a lock that goroutines wait for. The address of the thing that it belongs to tells it from others.
type Lock struct {
	Of      string // what it guards, such as "container status"; else the method that waits, such as "store.(*Store).Get"
	Address string // the address of the thing that it belongs to, such as "0x25a8b9a40380"
	Waiters int
	Longest time.Duration // the longest time that one of them has waited, in whole minutes; 0 below one
	Calls   []string      // the CRI's methods that wait for it, such as "ListContainers", in order
	Holder  Goroutine     // Number 0 if none was found
	Likely  bool          // Holder is only the likely one: an address is marked as inexact, the kind of lock is not known, or others may hold it
}

// A Goroutine is one goroutine in a [Stacks].
type Goroutine struct {
	Number    int
	State     string
	For       time.Duration // whole minutes, 0 below one
	Call      string        // the CRI's method that it answers, such as "UpdateContainerResources"; empty if none
	Doing     string        // what it waits for: "ttrpc Task.Update", "exec of a program", "another lock"; empty if that is not known
	Waits     string        // the Address of a lock that it waits for itself; empty if it waits for none
	Container string        // the id that it works on, if its stack or its open call shows that; may be empty
	Frames    []string      // functions, the innermost first, without arguments
}
