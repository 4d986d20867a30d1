package fleet

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/lines"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A State says whether a node has answered, and if not, why: the likeliest to be sick first.
type State uint8

// The states.
const (
	Answered State = iota
	NoAnswer
	Refused
	NotRunning
	NotPlegtop
	NoPod
	Asking // never in what is written
)

// states has their words of the JSON contract, and what is shown of a node that has not answered.
var states = [...]struct{ name, word, help string }{
	Answered:   {name: "answered"},
	NoAnswer:   {"no-answer", "NO ANSWER", "the pod gave no answer in 3 s: the node, or its network, may be what hangs"},
	Refused:    {"refused", "REFUSED", "the API server did not get to the pod, or you may not: the text says which"},
	NotRunning: {"not-running", "NOT RUNNING", "the pod is there and does not run: kubectl describe pod says why"},
	NotPlegtop: {"not-plegtop", "NOT PLEGTOP", "something else answers on port " + port + ", or a release that is too old"},
	NoPod:      {"no-pod", "NO POD", "the DaemonSet has no pod on this node: taints and selectors say why"},
	Asking:     {"asking", "ASKING", "the answer is awaited"},
}

// String returns the word of the JSON contract.
func (s State) String() string { return states[s].name }

// A Node is what is known of one node.
type Node struct {
	Name      string             `line:"node"` // empty while a pod waits for a node
	Namespace string             `line:"namespace,omitempty"`
	Pod       string             `line:"pod,omitempty"` // of the DaemonSet; empty if there is none
	State     State              `line:"state"`
	Why       string             `line:"why,omitempty"`      // it has not answered
	Severity  diagnose.Severity  `line:"severity"`           // of the worst that is known
	Headline  *diagnose.Headline `line:"headline,omitempty"` // nil unless it has answered
	Culprit   string             `line:"culprit,omitempty"`  // who holds up what waits, or whom the worst finding is about
}

// miss notes that the node has not answered: less than a warning only where nobody expects it to.
func (n *Node) miss(is State, why string) {
	n.State, n.Why, n.Severity = is, why, diagnose.Warning
	if is == NoPod || is == Asking {
		n.Severity = diagnose.Info
	}
}

// key tells a node from all others.
func (n *Node) key() string { return cmp.Or(n.Name, "pod/"+n.Namespace+"/"+n.Pod) }

// word returns the word for how a node is, with its symbol and its look.
func (n *Node) word(t *theme.Theme) (symbol, word string, look theme.Style) {
	if n.Headline != nil {
		symbol, look = say.HeadlineLook(t, *n.Headline)
		return symbol, n.Headline.Word, look
	}
	return t.Symbols.Unknown, states[n.State].word, theme.When(n.Severity > diagnose.Info, t.Warn, t.Dim)
}

// says returns what there is to say beside the word.
func (n *Node) says() string {
	if n.Headline == nil {
		return n.Why
	}
	return say.Clauses(*n.Headline)
}

// rank is the place of a node among others: the worst first.
func (n *Node) rank() int {
	switch {
	case n.Headline == nil && n.Severity > diagnose.Info:
		return 1 // it may be the sick one
	case n.Severity == diagnose.Critical:
		return 0
	case n.Severity == diagnose.Warning:
		return 2
	case n.Headline == nil:
		return 3
	}
	return 4
}

// soon orders nodes of one rank: those that are not ready, then those that will soonest not be.
func (n *Node) soon() time.Duration {
	switch {
	case n.Headline == nil || n.Headline.Node != diagnose.NodeNotReady && n.Headline.Clock.What == "":
		return math.MaxInt64
	case n.Headline.Node == diagnose.NodeNotReady:
		return -1
	}
	return n.Headline.Clock.In
}

// A Round is what came of asking all nodes once.
type Round struct {
	At    time.Time // when it began
	Nodes []*Node   // the worst first
	Done  bool      // else some are still being asked
}

// sort puts the worst first.
func (r *Round) sort() {
	slices.SortFunc(r.Nodes, func(a, b *Node) int {
		return cmp.Or(a.rank()-b.rank(), cmp.Compare(a.soon(), b.soon()), cmp.Compare(a.State, b.State), strings.Compare(a.Name, b.Name))
	})
}

// unasked returns how many nodes nobody could ask.
func (r *Round) unasked() (n int) {
	for _, of := range r.Nodes {
		if of.State == NotRunning || of.State == NoPod {
			n++
		}
	}
	return n
}

// Counts are how many nodes there are, and of which kind.
type Counts struct {
	Nodes      int `line:"nodes"`
	Critical   int `line:"critical"`   // of those that answered
	Warning    int `line:"warning"`    // likewise
	Sound      int `line:"sound"`      // likewise
	Unanswered int `line:"unanswered"` // though there is a pod
	NoPod      int `line:"noPod"`
	asking     int
}

// counts counts.
func (r *Round) counts() (c Counts) {
	c.Nodes = len(r.Nodes)
	for _, n := range r.Nodes {
		switch {
		case n.State == NoPod:
			c.NoPod++
		case n.State == Asking:
			c.asking++
		case n.Headline == nil:
			c.Unanswered++
		case n.Severity == diagnose.Critical:
			c.Critical++
		case n.Severity == diagnose.Warning:
			c.Warning++
		default:
			c.Sound++
		}
	}
	return c
}

// spans say the counts, those that are of interest.
func (c Counts) spans(t *theme.Theme) []text.Span {
	all := []text.Span{text.Say(t.Strong, say.Plural(c.Nodes, "node"))}
	for _, of := range []struct {
		n    int
		sign string
		look theme.Style
		what string
	}{
		{c.Critical, t.Symbols.Bad, t.Bad, "critical"},
		{c.Unanswered, t.Symbols.Unknown, t.Warn, "without an answer"},
		{c.Warning, t.Symbols.Warn, t.Warn, "with a warning"},
		{c.NoPod, t.Symbols.Unknown, t.Dim, "without a pod"},
		{c.Sound, t.Symbols.Good, t.Good, "sound"},
	} {
		if of.n > 0 {
			all = append(all, text.Say(of.look, of.sign+" "+text.Count(uint64(of.n))+" "+of.what))
		}
	}
	return all
}

// code returns the exit code: as that of a check of all nodes. A node without an answer is a
// warning, since what nobody has seen is not called healthy; one without a pod is nobody's.
func (r *Round) code() int {
	c := r.counts()
	switch {
	case c.Critical > 0:
		return lines.ExitCritical
	case c.Warning+c.Sound == 0:
		return lines.ExitCannotTell
	case c.Warning+c.Unanswered > 0:
		return lines.ExitWarning
	}
	return lines.ExitOK
}

// Schema names the shape of the JSON, which docs/fleet.schema.json describes. Fields are only
// ever added to it.
const Schema = "plegtop/fleet/1"

// appendJSON appends a round as one object in one line.
func appendJSON(b []byte, r Round) []byte {
	return jsonline.Append(b, &struct {
		Schema string    `line:"schema"`
		Time   time.Time `line:"time"`
		Counts Counts    `line:"counts"`
		Nodes  []*Node   `line:"nodes"`
		Notes  []string  `line:"notes,omitempty"` // what was left out, and why
	}{Schema: Schema, Time: r.At, Counts: r.counts(), Nodes: r.Nodes})
}

// appendTable appends a round as text: the counts, then a line for each node. Nothing is cut.
func appendTable(b []byte, r Round, symbols theme.Symbols) []byte {
	t := &theme.Theme{Symbols: symbols}
	var d widget.Doc
	d.Write(widget.Pen{Theme: t}, 0, 0, func(d *widget.Doc) {
		line := []text.Span{}
		for _, s := range r.counts().spans(t) {
			line = append(line, s.In(text.Width(s.Text)+2))
		}
		d.Line(line...)
		rows := make([][]text.Span, 0, len(r.Nodes))
		for _, n := range r.Nodes {
			symbol, word, _ := n.word(t)
			rows = append(rows, text.Each(t.Text, dash(n.Name), symbol+" "+word, dash(n.Culprit), n.says()))
		}
		columns := []text.Column{{Head: "NODE", Left: true}, {Head: "STATE", Left: true}, {Head: "CULPRIT", Left: true}, {Head: "WHAT", Left: true}}
		for _, l := range text.Figures(t.Head, columns, rows) {
			d.Line(l...)
		}
	})
	return d.Append(b)
}

// dash stands for what is empty, so that columns can be told apart by their words.
func dash(s string) string { return theme.When(s == "", "-", s) }
