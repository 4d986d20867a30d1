package waits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A By says what kind of evidence proves that one node waits for another. Its value is the words for
// it, with verbs for the arguments of the [Proof].
type By string

// The kinds of evidence. Nothing proves what is only likely.
const (
	Likely             By = ""
	Line               By = "%s" // of the diagnosis: how long a call has had no answer, or what is known of a disk
	OthersAnswered     By = "its status call hangs, others are answered"
	HolderAnswers      By = "its status call hangs, others are answered; its holder answers %s, and %s is at work on it"
	HolderAtWork       By = "its holder is at work on it, by its stack"
	AsksForObject      By = "it asks for this one"
	StatusOfObject     By = "it is the status of this one"
	WaitersInDump      By = "%s waiting for it in the runtime's own dump%s"
	SameAddress        By = "same receiver address %s in the runtime's own dump"
	WaitsForLock       By = "it waits for the lock at %s"
	AnswersCall        By = "it answers the call, in the runtime's own dump"
	StackNamesObject   By = "its stack names it"
	GoroutineAtWork    By = "the goroutine is at work on it, by its stack"
	OnlyCallAndHelper  By = "the only such call, and the only such helper"
	OnlyAsker          By = "the only one that asks a shim for that, in the runtime's own dump"
	ListAlone          By = "its list alone hangs, those of other pods are answered"
	RuntimesOwn        By = "it is the runtime's own, and %s"
	AnswersNobody      By = "it is %s and answers nobody"
	AskedTheShim       By = "the goroutine waits for its answer to %s"
	ChildOfShim        By = "it waits for its child, pid %d (%s)"
	HelperOfMonitor    By = "child of the %s"
	HelperOfRuntime    By = "child of the runtime (pid %d)"
	NamedInArguments   By = "named in its arguments"
	ChildOfHelper      By = "child of pid %d"
	InState            By = "its state"
	InControlGroup     By = "its control group"
	InWchan            By = "its wchan"
	InKernelStack      By = "its kernel stack"
	GroupWithoutMemory By = "a child of the runtime, whose control group has no memory left"
	CallOnMount        By = "its system call is on that mount"
	MountedFrom        By = "mounted from there"
	MountOnDevice      By = "the mount is on it"
	StoreIsDead        By = "it is in a function of a file system, and the runtime's disk answers nothing"
	FileOnStore        By = "it is in a function of a file system, and a process of the runtime waits for a file on the runtime's disk"
	KindOfStore        By = "it is in a function of a file system, and a process of the runtime in one of the kind that its disk has"
	WritesAtStart      By = "it has stood there since its start, when it writes its own data"
)

// A Proof says by what it is known that one node waits for another. The zero value is that of an edge
// that is only likely.
type Proof struct {
	By   By
	Args []any
	And  By // a second proof without arguments; empty for none
}

func by(by By, args ...any) Proof { return Proof{By: by, Args: args} }

// Proven reports whether there is a proof.
func (p Proof) Proven() bool { return p.By != Likely }

// String returns the proof in words; nothing for an edge that is only likely.
func (p Proof) String() string {
	words := fmt.Sprintf(string(p.By), p.Args...)
	if p.And != "" {
		words += ", " + string(p.And)
	}
	return words
}

// waitersOf proves that a call waits for a lock of the dump.
func waitersOf(l *evidence.Lock) Proof {
	return by(WaitersInDump, goroutines(l.Waiters), among(l.Calls))
}

type goroutines int

func (n goroutines) String() string {
	if n == 1 {
		return "1 goroutine"
	}
	return strconv.Itoa(int(n)) + " goroutines"
}

// among are the calls of the CRI that wait for a lock.
type among []string

func (calls among) String() string {
	if len(calls) == 0 {
		return ""
	}
	return ", " + strings.Join(calls, ", ") + " among them"
}
