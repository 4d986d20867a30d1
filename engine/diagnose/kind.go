package diagnose

import (
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// An ID names a kind of finding. It is part of the JSON contract.
type ID string

// A kind is one kind of trouble, with all that differs from other kinds. Its literal
// stands beside its rule.
type kind struct {
	id      ID
	find    func(*view) []Finding // nothing on a healthy node, and without regard for other kinds
	needs   need                  // without which it is not looked for
	is      role
	because role // of kinds before it that it may be an effect of, unless it is worse
	whole   bool // it is about the whole runtime: nothing that is about one pod explains it
	app     bool // an application is at fault, mostly, and not the node
	turns   bool // only Status tells of it, and it may come and go from one answer to the next: two good ones end it
	hangs   bool // something waits for what does not come, for which a known bug may be the reason

	replaces  ID                        // what would only say it again
	refutedBy func(call.Operation) bool // of what needs answers: the calls whose answers show that it is over; nil for the lists

	pod, state string   // what it says of a pod in a few words; the pod's state in one, where only it knows that
	critical   string   // the word of a headline that is critical for nothing else; empty for AT RISK
	podAlone   bool     // where it is about a pod, it makes no node NotReady, however long it lasts
	warned     Headline // of a node whose runtime, lists and PLEG are fine; its Text may be the finding's

	words  []nodeWord                                      // what the node itself has to say of it, in this order
	kernel kernelWords                                     // which of the kernel's lines are among that
	killed func(*view, *Finding, evidence.KernelLine) bool // and whose end for want of memory; nil for nobody's

	severity, when, scenario string // its row in docs/findings.md; a scenario of the embedded runtime brings it up

	rank int // its place among kinds
}

// kinds is every kind of finding there is, by rank: of findings that are equally
// severe the one that stops more of the node comes first, and what is nearer to the
// root of it. A kind that explains another one stands before it.
var kinds = []*kind{
	storeFailingKind,
	diskFullKind,
	limitsNearKind,
	runtimeDownKind,
	processStuckKind,
	runtimeUnresponsiveKind,
	unreadableAnswerKind,
	listTooBigKind,
	inspectHungKind,
	listHungKind,
	runtimeNotReadyKind,
	networkNotReadyKind,
	inspectFailingKind,
	noAddressKind,
	runtimeSlowKind,
	runtimeRestartsKind,
	helperStuckKind,
	relistSlowChurnKind,
	plegUnhealthyKind,
	kubeletGoneKind,
	kubeletStuckKind,
	ghostRunningKind,
	orphanShimsKind,
	crashLoopKind,
	eventsDiscardedKind,
	eventDriftKind,
	clockStepKind,
	hostPressureKind,
}

// A role is what a kind of trouble does to others, which name it as their reason.
type role uint16

const (
	starves   role = 1 << iota // leaves the runtime without what it cannot work without
	limits                     // and lets it work slowly
	silences                   // keeps the runtime from answering anything
	garbles                    // makes its answers unreadable
	stands                     // is a process that others wait for
	delays                     // holds up relists
	unready                    // makes the sync loop skip pods
	unhealthy                  // makes the kubelet take its PLEG for unhealthy
	haunts                     // lets the runtime say of a container what is not so
)

// A need is what must be fresh for a kind to be looked for. What followed from a
// pause of plegtop, or from lists that hang, would be no finding.
type need uint8

const (
	nothing  need = iota // but the look at the node, and the past
	unpaused             // answers of the runtime: not in a pause
	lists                // good ones
)

// kindOfID has each kind. It is filled once the kinds are there, whose rules may ask it.
var kindOfID = map[ID]*kind{}

func init() {
	for i, k := range kinds {
		k.rank = i
		kindOfID[k.id] = k
	}
	unknownKind.rank = len(kinds)
}

// unknownKind is that of a finding which nobody here has made: the least of all.
var unknownKind = &kind{}

func kindOf(id ID) *kind {
	if k, known := kindOfID[id]; known {
		return k
	}
	return unknownKind
}

// IDs returns every kind of finding, by rank.
func IDs() []ID {
	ids := make([]ID, len(kinds))
	for i, k := range kinds {
		ids[i] = k.id
	}
	return ids
}
