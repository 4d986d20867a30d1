package knowledge

// A Bug is a fault of a runtime that makes it hang.
type Bug struct {
	ID        string // the project and the number of the thread, such as containerd#9770
	Runtime   string // as CRI names it, in lower case, or "any"
	Versions  []string
	Signature Signature
	What      string // the bug in one sentence, without a full stop
	Fixed     string // completes "fixed in"
	Source    string // the thread
}

// A Signature is what a node must show to look like it has the bug: all of the parts.
type Signature struct {
	Stacks  [][]string // for each list of words, one stack of the runtime's dump contains all of them
	Calls   []string   // one of these CRI calls hangs
	Helpers []string   // a helper with one of these verbs has not ended
	Kernel  []string   // a process waits in one of these functions of the kernel
	Without Absent
}

// Absent is what a node must not show.
type Absent struct {
	Stacks  []string
	Helpers []string
	Kernel  []string
}

// Bugs returns all known bugs.
var Bugs = lazy[Bug]("bugs.yaml")
