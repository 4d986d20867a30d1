package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A Rule finds one kind of trouble. Its sentences, its causes and its documentation are in its row of findings.yaml.
type Rule struct {
	ID    ID
	Needs Need // what must be fresh for it
	// Find reports all matches, the worst first. On a healthy node it reports nothing, and allocates nothing. It uses
	// facts only.
	Find func(f *Facts, report func(Match))

	// Most is how many findings the rule may have, not counting matches that are alone. All matches beyond share one
	// finding. 0 means that each match is a finding.
	Most int
	// With ByOwner, matches of one owner that are alike share one finding. The key of the finding is then the owner,
	// and not the subject.
	ByOwner bool

	Whole    bool // it is about the whole runtime: a finding about one pod does not explain it
	App      bool // mostly an application is at fault, and not the node
	PodAlone bool // a finding about a pod does not make the node NotReady, however long it lasts
	Turns    bool // only Status shows it, and it may be absent from one answer and back in the next
	Hangs    bool // something waits and is not answered: a known bug may be the reason

	// RefutedBy reports which calls show that the trouble is over, if they were answered since; nil for the lists.
	RefutedBy func(call.Operation) bool

	Word   string // of the headline if the finding is critical; empty for AT RISK
	Warned string // of the headline if the finding is a warning; empty for DEGRADED
}

// A Need is what must be fresh for a rule. While it is not fresh, the findings of the rule neither begin nor end.
type Need uint8

// The needs.
const (
	Nothing  Need = iota // only the last look at the node, and the past
	Unpaused             // answers of the runtime: no finding in a pause
	Lists                // good lists of pods
)

// rules is the list of all rules. It also defines the order of kinds: of findings that are equally severe, the one
// whose rule is first comes first. A kind that explains another one comes before it.
var rules []*Rule

// The list is filled at the start, because rules ask for findings by their kinds.
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
	Variant  string // which variant of the row has its sentence; empty if there is only one
	Severity Severity
	Subject  Subject
	Since    time.Time // when the trouble began; zero if that is not known
	Values   Values    // for sentences and commands

	Alone   bool     // it gets its own finding, whatever the rule's Most and ByOwner say
	Alike   string   // what matches of one owner must have in common to be one finding, such as the code of an error
	Group   string   // names the trouble if the subject may change; empty if the subject names it
	Nodes   []string // what it is about, by keys of the graph; if there may be thousands of matches, Of sets them
	Chain   bool     // it shows the chain through the first of Nodes
	Members []Member // if the rule itself combines several
	Count   int      // the number of all, if Members are only some of them; 0 for the number of Members
	Brief   string   // a few words for the headline; empty for those of the row
	Headed  string   // what a headline says about it if it is a warning; empty for the summary

	Of    detail                     // sets Values and the fields below, if they are expensive; nil if they are set already
	Lines map[string][]line          // evidence by the names that the row gives it
	Steps map[string][]Step          // steps by the names that the row gives them, such as +free
	Else  func(first ...Step) []Step // returns first and what remains to do, if no step of first acts; nil for nothing
}

// A detail works out the expensive parts of a match. It is used only for matches that are shown, because there may be
// thousands of matches.
type detail interface {
	// say sets Values and Nodes when the match is named: by its own finding, or as one of the members that have a line.
	say(f *Facts, m *Match)
	// draw adds what only the first match of a finding needs: Lines, Steps and more Values. It is called after say.
	draw(f *Facts, m *Match)
}

// A Member is one of several that a match is about.
type Member struct {
	Subject Subject
	Values  Values
}

// row returns the row of a kind in findings.yaml.
func (r *Rule) row() *knowledge.Finding { return knowledge.FindingOf(string(r.ID)) }

// ruleOf returns the rule of a kind; &noRule for an unknown kind.
func ruleOf(id ID) *Rule {
	for _, r := range rules {
		if r.ID == id {
			return r
		}
	}
	return &noRule
}

var noRule Rule // read only

// rank returns the place of a kind in the order of rules; unknown kinds come last.
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

// name sets the expensive values of a match, if it has any.
func (f *Facts) name(m *Match) {
	if m.Of != nil {
		m.Of.say(f, m)
	}
}

// owner returns whose trouble a match is. Matches of one owner that are alike are one trouble.
func (m *Match) owner() owner { return ownerOf(m.Subject.ObjectRef, m.Alike) }
