package waits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A By says what kind of evidence proves that one node waits for another. Its value is the text for it, with
// verbs of package fmt for the arguments of the [Proof].
type By string

// The kinds of evidence.
const (
	reported           By = "%s" // text from the diagnosis: how long a call has had no answer, or what is known of a disk
	othersAnswered     By = "its status call hangs, others are answered"
	holderAnswers      By = "its status call hangs, others are answered; its holder answers %s, and %s is at work on it"
	holderAtWork       By = "its holder is at work on it, by its stack"
	asksForObject      By = "it asks for this one"
	statusOfObject     By = "it is the status of this one"
	waitersInDump      By = "%s waiting for it in the runtime's own dump%s"
	sameAddress        By = "same receiver address %s in the runtime's own dump"
	waitsForLock       By = "it waits for the lock at %s"
	answersCall        By = "it answers the call, in the runtime's own dump"
	stackNamesObject   By = "its stack names it"
	goroutineAtWork    By = "the goroutine is at work on it, by its stack"
	onlyCallAndHelper  By = "the only such call, and the only such helper"
	onlyAsker          By = "the only one that asks a shim for that, in the runtime's own dump"
	listAlone          By = "its list alone hangs, those of other pods are answered"
	runtimesOwn        By = "it is the runtime's own, and %s"
	answersNobody      By = "it is %s and answers nobody"
	askedTheShim       By = "the goroutine waits for its answer to %s"
	childOfShim        By = "it waits for its child, pid %d (%s)"
	helperOfMonitor    By = "child of the %s"
	helperOfRuntime    By = "child of the runtime (pid %d)"
	namedInArguments   By = "named in its arguments"
	childOfHelper      By = "child of pid %d"
	inState            By = "its state"
	inControlGroup     By = "its control group"
	inWchan            By = "its wchan"
	inKernelStack      By = "its kernel stack"
	groupWithoutMemory By = "a child of the runtime, whose control group has no memory left"
	callOnMount        By = "its system call is on that mount"
	mountedFrom        By = "mounted from there"
	mountOnDevice      By = "the mount is on it"
	storeIsDead        By = "it is in a function of a file system, and the runtime's disk answers nothing"
	fileOnStore        By = "it is in a function of a file system, and a process of the runtime waits for a file on the runtime's disk"
	kindOfStore        By = "it is in a function of a file system, and a process of the runtime in one of the kind that its disk has"
	writesAtStart      By = "it has stood there since its start, when it writes its own data"
)

// A Proof says why it is known that one node waits for another. An edge that is only likely has the zero value.
type Proof struct {
	By   By
	Args []any
	And  By // a second proof without arguments; empty for none
}

func by(by By, args ...any) Proof { return Proof{By: by, Args: args} }

// Proven reports whether there is a proof.
func (p Proof) Proven() bool { return p.By != "" }

// String returns the proof in words; "" for an edge that is only likely.
func (p Proof) String() string {
	words := fmt.Sprintf(string(p.By), p.Args...)
	if p.And != "" {
		words += ", " + string(p.And)
	}
	return words
}

// waitersOf returns the proof that a call waits for a lock of the dump.
func waitersOf(l *evidence.Lock) Proof {
	return by(waitersInDump, goroutines(l.Waiters), among(l.Calls))
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
