package evidence

import "time"

// Stacks is what the runtime's goroutines do, by its own dump of them.
type Stacks struct {
	Source
	At      time.Time // of the dump; zero if there is none
	Program string    // whose goroutines: "containerd", "crio"
	Total   int       // goroutines
	Groups  []Group   // of equal stacks, the most goroutines first; 20 at most, of which those that wait for a lock or answer a call are left out last
	Locks   []Lock    // that are waited for: those with most waiters first; 20 at most
	// Open are those that answer a call of the CRI, or have asked another program for
	// something and wait for it: the longest first, 20 at most. One that waits for a lock
	// is under Locks instead.
	Open []Goroutine
}

// A Group is the goroutines that stand at the same place, called from the same
// functions.
type Group struct {
	Count   int
	State   string        // as Go spells it, such as "chan receive", "sync.RWMutex.RLock"
	Longest time.Duration // that one of them has waited; whole minutes, 0 below one
	Frames  []string      // functions, the innermost first, without arguments
	First   int           // the number of one of them
}

// What a [Lock] guards that belongs to one object of the CRI.
const (
	OfContainer = "container status"
	OfSandbox   = "sandbox status"
)

// A Lock is one that goroutines wait for, told from others by the address of what
// it belongs to.
type Lock struct {
	Of      string // what it guards, such as "container status"; else the method that waits, such as "store.(*Store).Get"
	Address string // of what it belongs to, as "0x25a8b9a40380"
	Waiters int
	Longest time.Duration // that one of them has waited; whole minutes, 0 below one
	Calls   []string      // the CRI's methods that wait for it, such as "ListContainers", in order
	Holder  Goroutine     // Number 0 if none was found
	Likely  bool          // that Holder holds it: an address is marked as inexact, the kind of lock is not known, or others may hold it
}

// A Goroutine is one of a [Stacks].
type Goroutine struct {
	Number    int
	State     string
	For       time.Duration // whole minutes, 0 below one
	Call      string        // the CRI's method that it answers, such as "UpdateContainerResources"; empty if none
	Doing     string        // what it waits for: "ttrpc Task.Update", "exec of a program", "another lock"; empty if that is not known
	Waits     string        // the Address of another lock that it waits for itself; empty if it waits for none
	Container string        // the id that it works on, where its stack or its open call tells; may be empty
	Frames    []string      // functions, the innermost first, without arguments
}
