package diagnose

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// An Input is all that a diagnosis depends on.
type Input struct {
	Snapshot *engine.Snapshot // must be there
	Evidence *evidence.Report // of the node; nil if nobody looked
	Endpoint string           // of the runtime, for commands; may be empty
}

// Diagnose returns what is wrong: causes before their effects, the worst cause first; nil for a healthy node. While
// plegtop is paused, it leaves out findings that need a fresh look at the runtime. Equal inputs give equal findings.
// Diagnose does not change its input, and is safe for concurrent use.
func Diagnose(in Input) []Finding {
	s := *in.Snapshot
	s.Evidence = in.Evidence
	return new(kept).read(&s, in.Endpoint, nil).diagnose()
}

// membersMost is how many members of a finding are named.
const membersMost = 50

// A draft is a finding and the match that it is made of.
type draft struct {
	Finding
	match *Match
}

// diagnose returns what is wrong: causes before their effects, the worst cause first; nil for a healthy node. Equal
// facts give equal findings.
func (f *Facts) diagnose() []Finding {
	var drafts []draft
	for _, r := range rules {
		if f.fresh(r.Needs) {
			drafts = f.apply(r, drafts)
		}
	}
	if len(drafts) == 0 {
		return nil
	}
	drafts = withoutHidden(drafts)
	findings := make([]Finding, len(drafts))
	for i := range drafts {
		findings[i] = drafts[i].Finding
	}
	f.explain(findings)
	for i := range drafts {
		drafts[i].Finding = findings[i]
		f.draw(&drafts[i])
		findings[i] = drafts[i].Finding
	}
	order(findings)
	f.addBugs(findings)
	return findings
}

// withoutHidden leaves out drafts that only repeat a finding of another kind.
func withoutHidden(drafts []draft) []draft {
	var hidden []string
	for i := range drafts {
		hidden = append(hidden, ruleOf(drafts[i].ID).row().Hides...)
	}
	return slices.DeleteFunc(drafts, func(d draft) bool { return slices.Contains(hidden, string(d.ID)) })
}

// apply appends the drafts of what a rule finds.
func (f *Facts) apply(r *Rule, drafts []draft) []draft {
	found := &f.kept.fold
	found.of(r, f)
	for _, m := range found.alone {
		drafts = append(drafts, f.draft(r, m))
	}
	own, rest := found.groups()
	for _, g := range own {
		d := f.draft(r, g.named[0])
		if g.count > 1 {
			f.gather(&d, g)
			d.match.Values = d.match.Values.with(Values{"pods": g.podsNamed(), "ends": g.ends()})
		}
		if r.ByOwner {
			d.Group = f.told.group(&d.Finding, r.keyOf(g.named[0]).Group, own)
		}
		drafts = append(drafts, d)
	}
	if rest != nil {
		drafts = append(drafts, f.restOf(r, rest))
	}
	return drafts
}

// draft makes one finding of a match. Its texts and steps come later, when its cause is known.
func (f *Facts) draft(r *Rule, m *Match) draft {
	f.name(m)
	d := draft{match: m, Finding: Finding{
		ID: r.ID, Severity: m.Severity, Subject: m.Subject, Since: m.Since, Nodes: m.Nodes, Brief: m.Brief, Group: m.Group, Headed: m.Headed,
	}}
	d.Store, _ = m.Values["store"].(string)
	if m.Chain && len(d.Nodes) > 0 {
		d.Chain = f.chain(d.Nodes[0])
	}
	return d
}

// gather turns a finding into one finding about all of a group.
func (f *Facts) gather(d *draft, g *group) {
	m := *g.named[0]
	m.Members, d.Nodes = nil, nil
	for _, o := range g.named {
		f.name(o)
		m.Members = append(m.Members, Member{o.Subject, o.Values})
		d.Nodes = append(d.Nodes, o.Nodes...)
	}
	d.Nodes = append(d.Nodes, g.nodes...)
	d.Severity, d.Count, d.match = g.severity, g.count, &m
}

// restOf returns one draft about all matches that are too many to get a finding each.
func (f *Facts) restOf(r *Rule, rest *group) draft {
	first := rest.named[0]
	d := draft{Finding: Finding{ID: r.ID, Severity: first.Severity, Since: first.Since}}
	f.gather(&d, rest)
	d.match = &Match{Variant: restVariant, Values: Values{"n": rest.count}, Members: d.match.Members}
	return d
}

// restVariant is the variant of a match that stands for a rest.
const restVariant = "rest"

// order sorts findings: causes before effects, the worst first, then by kind. Findings of one kind keep their order.
func order(findings []Finding) {
	effect := func(f Finding) int { return min(len(f.Cause), 1) }
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(effect(a), effect(b)), cmp.Compare(b.Severity, a.Severity), cmp.Compare(rank(a.ID), rank(b.ID)))
	})
}

// draw writes the summary, the evidence and the steps of a finding.
func (f *Facts) draw(found *draft) {
	m, row := found.match, ruleOf(found.ID).row()
	if m.Of != nil {
		m.Of.draw(f, m)
	}
	v := f.variant(row, m)
	found.Summary, _ = sentence(v.Summary, m.Values, f.at())
	for _, entry := range v.Evidence {
		found.Evidence = append(found.Evidence, f.linesOf(entry, m)...)
	}
	if found.Cause == "" && found.Group != groupSocket {
		for _, name := range row.Node {
			found.Evidence = append(found.Evidence, f.textsOf(nodeLines[name](f, found))...)
		}
	}
	if found.Count = cmp.Or(found.Count, m.Count); m.Members != nil && found.Count == 0 {
		found.Count = len(m.Members)
	}
	for _, o := range m.Members[:min(len(m.Members), membersMost)] {
		text, _ := sentence(row.Member, o.Values, f.at())
		found.Members, found.Evidence = append(found.Members, o.Subject), append(found.Evidence, text)
	}
	for _, entry := range v.Steps {
		found.Next = append(found.Next, f.stepsOf(entry, m)...)
	}
	found.Next = f.withCut(distinct(found.Next), found.Chain)
	if m.Else != nil && !slices.ContainsFunc(found.Next, Step.acts) {
		found.Next = m.Else(found.Next...)
	}
	f.endWithAct(found)
}

// variant returns the sentences and steps for a match.
func (f *Facts) variant(row *knowledge.Finding, m *Match) knowledge.Variant {
	if m.Variant == restVariant {
		v := knowledge.Variant{Summary: row.Rest}
		if row.RestOf != "" {
			v.Steps = []string{row.RestOf}
		}
		return v
	}
	v := row.Variant(m.Variant)
	if v.Several != "" && m.Members != nil {
		v.Summary = v.Several
	}
	return v
}

// aName matches an entry of findings.yaml that is a name of lines and not a sentence.
var aName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// linesOf returns the evidence for an entry of a row. An entry may be the name of lines that the match or the package
// has; otherwise it is a sentence, and gets its values.
func (f *Facts) linesOf(entry string, m *Match) []string {
	if !aName.MatchString(entry) {
		return f.textsOf([]line{{entry, m.Values}})
	}
	if own, given := m.Lines[entry]; given {
		return f.textsOf(own)
	}
	if common, known := commonLines[entry]; known {
		return f.textsOf(common(f))
	}
	return nil
}

// textsOf turns lines into sentences. It leaves out a line if a value in it is not known.
func (f *Facts) textsOf(lines []line) (texts []string) {
	for _, l := range lines {
		if text, whole := sentence(l.template, l.values, f.at()); whole && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// say turns a line into a sentence.
func (f *Facts) say(l line) string {
	text, _ := sentence(l.template, l.values, f.at())
	return text
}

// commonLines has lines of evidence that any rule may use, by their names in findings.yaml.
var commonLines = map[string]func(*Facts) []line{
	"pressure": (*Facts).pressureLine,
	"runtime":  (*Facts).runtimeLine,
	"unfit":    func(f *Facts) []line { _, first := f.unfit(); return notBefore(first) },
}

// stepsOf returns the steps for an entry of a row. An entry is the name of steps that the match has, or the name of a
// culprit.
func (f *Facts) stepsOf(entry string, m *Match) []Step {
	if own, given := m.Steps[entry]; given {
		return own
	}
	if entry[0] == '+' {
		return nil
	}
	return f.advise(entry, m.Values)
}

// endWithAct makes sure that a finding ends with something to do. If no step acts, it adds one in words.
func (f *Facts) endWithAct(found *draft) {
	if found.match.Variant == restVariant && found.act() == (Step{}) {
		found.Next = append(found.Next, inWords("rest"))
	}
	if f.Scope.Whole() && found.ID != RuntimeUnresponsive && found.act() == (Step{}) {
		found.Next = append(found.Next, inWords("unanswered"))
	}
	if found.act() == (Step{}) { // its object has no id
		found.Next = append(found.Next, inWords("unnamed"))
	}
}
