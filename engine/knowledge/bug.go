package knowledge

// A Bug is a fault of a runtime that makes it hang.
type Bug struct {
	ID        string // the project and the number of the thread, as containerd#9770
	Runtime   string // as the CRI names it, in lower case, or "any"
	Versions  []string
	Signature Signature
	What      string // the bug in one sentence, without a full stop
	Fixed     string // completes "fixed in"
	Source    string // the thread
}

// A Signature is what must be there for a trouble to look like a bug: all of its parts.
type Signature struct {
	Stacks  [][]string // for each list one stack of the runtime's dump that has all of its words
	Calls   []string   // one of these calls of the CRI hangs
	Helpers []string   // a helper with one of these verbs has not ended
	Kernel  []string   // a process waits in one of these functions of the kernel
	Without Absent
}

// Absent is what must not be there.
type Absent struct {
	Stacks  []string
	Helpers []string
	Kernel  []string
}

// Bugs returns all of them.
var Bugs = lazy[Bug]("bugs.yaml")
