package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A Rule finds one kind of trouble. Its sentences, its causes and its documentation are its row of
// findings.yaml.
type Rule struct {
	ID    ID
	Needs Need // what must be fresh
	// Find reports all matches, the worst first. It reports nothing on a healthy node, and then allocates
	// nothing. It goes by facts only.
	Find func(f *Facts, report func(Match))

	// Most is how many findings there are at most, but for matches that are alone: those beyond are one finding
	// together. 0: each match is a finding.
	Most int
	// ByOwner: matches of one owner that are alike are one finding. Its key is then the owner, and not the subject.
	ByOwner bool

	Whole    bool // it is about the whole runtime: a finding about one pod does not explain it
	App      bool // mostly an application is at fault, and not the node
	PodAlone bool // about a pod it makes no node NotReady, however long it lasts
	Turns    bool // only Status shows it, and it may come and go from one answer to the next
	Hangs    bool // something waits and is not answered: a known bug may be the reason

	// RefutedBy says which calls show that it is over, if their answers came since; nil for the lists.
	RefutedBy func(call.Operation) bool

	Word   string // of the headline, if it is critical; empty for AT RISK
	Warned string // of the headline, if it is a warning; empty for DEGRADED
}

// A Need is what must be fresh for a rule. Without that its findings neither begin nor end.
type Need uint8

// The needs.
const (
	Nothing  Need = iota // only the last look at the node, and the past
	Unpaused             // answers of the runtime: no finding in a pause
	Lists                // good lists of pods
)

// rules is the list of all rules, and the one order among kinds: of findings that are equally severe the first
// comes first. A kind that explains another one stands before it.
var rules []*Rule

// It is filled at the start, since rules ask for findings by their kinds.
func init() {
	rules = []*Rule{
		&storeFailing,
		&diskFull,
		&limitsNear,
		&runtimeDown,
		&processStuck,
		&runtimeUnresponsive,
		&unreadableAnswer,
		&listTooBig,
		&inspectHung,
		&listHung,
		&runtimeNotReady,
		&networkNotReady,
		&inspectFailing,
		&noAddress,
		&runtimeSlow,
		&runtimeRestarts,
		&helperStuck,
		&relistSlowChurn,
		&plegUnhealthy,
		&kubeletGone,
		&kubeletStuck,
		&ghostRunning,
		&orphanShims,
		&crashLoop,
		&eventsDiscarded,
		&clockStep,
		&hostPressure,
	}
}

// A Match is one case in which a rule applies.
type Match struct {
	Variant  string // which sentence of the row says it; empty for the only one
	Severity Severity
	Subject  Subject
	Since    time.Time // when the trouble began; zero if that is not known
	Values   Values    // for sentences and commands

	Alone   bool     // it is a finding of its own, whatever the rule's Most and ByOwner say
	Alike   string   // what matches of one owner must have in common to be one finding, such as the code of an error
	Group   string   // names the trouble where the subject may change; empty if the subject names it
	Nodes   []string // what it is about, by keys of the graph; where there may be thousands of matches, Of sets them
	Chain   bool     // it shows the chain through the first of Nodes
	Members []Member // if the rule itself sums up several
	Count   int      // of all, if Members are only some; 0 for the number of Members
	Brief   string   // a few words for the headline; empty for those of the row
	Headed  string   // what a headline says of it as a warning; empty for the summary

	Of    detail                     // what it is about, where Values and what follows cost something; nil if they are there
	Lines map[string][]line          // evidence by the names that the row gives it
	Steps map[string][]Step          // steps by the names that the row gives them, such as +free
	Else  func(first ...Step) []Step // returns first and what is left to do, if nothing among first acts; nil for nothing
}

// A detail is what a match is about. It is asked only where that is shown: there may be thousands of matches.
type detail interface {
	// say adds Values and Nodes, when the match is named: by a finding of its own, or as one of the members that have a
	// line.
	say(f *Facts, m *Match)
	// draw adds what only the first match of a finding needs, after say: Lines, Steps and more Values.
	draw(f *Facts, m *Match)
}

// A Member is one of several that a match is about.
type Member struct {
	Subject Subject
	Values  Values
}

// row returns the row of a kind in findings.yaml.
func (r *Rule) row() *knowledge.Finding { return knowledge.FindingOf(string(r.ID)) }

// ruleOf returns the rule of a kind; noRule for a kind that nobody knows.
func ruleOf(id ID) *Rule {
	for _, r := range rules {
		if r.ID == id {
			return r
		}
	}
	return &noRule
}

var noRule Rule // read only

// rank is the place of a kind among all; unknown kinds are last.
func rank(id ID) int {
	for i, r := range rules {
		if r.ID == id {
			return i
		}
	}
	return len(rules)
}

// IDs returns all kinds of findings, in their order.
func IDs() []ID {
	ids := make([]ID, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	return ids
}

// pid is the number of a process.
type pid int

// name adds the values that cost something, if there are any.
func (f *Facts) name(m *Match) {
	if m.Of != nil {
		m.Of.say(f, m)
	}
}

// owner returns whose trouble a match is: matches of one owner that are alike are one.
func (m *Match) owner() owner { return ownerOf(m.Subject.ObjectRef, m.Alike) }
