package diagnose

import (
	"fmt"
	"slices"
	"strings"
)

// A fold groups the matches of one rule while they are found. Of ten thousand matches it keeps those that will be
// named, and counts the others. Its memory is reused.
type fold struct {
	facts *Facts
	rule  *Rule
	hear  func(Match) // the method add

	told   bool             // the rule already has findings
	alone  []*Match         // matches that get their own finding, whatever the limit
	known  []*group         // groups that already have a finding
	others []*group         // the first groups without a finding, one more than may have one
	rest   group            // the matches of all further groups
	by     map[owner]*group // the groups in known and others
	last   owner            // owner of the match before: matches of one owner mostly follow each other
	into   *group           // the group that the match before went to
}

// A group is the matches that share one finding.
type group struct {
	named    []*Match // the first matches
	count    int
	severity Severity        // the worst of the matches
	nodes    []string        // nodes of the matches that are not named
	pods     map[string]bool // the pods of the matches, by name; nil for the rest
}

// of runs a rule and collects what it finds. The result is valid until the next call. If the rule finds nothing, of
// allocates nothing.
func (l *fold) of(r *Rule, f *Facts) {
	if l.hear == nil {
		l.hear, l.by = l.add, make(map[owner]*group)
	}
	clear(l.by)
	*l = fold{
		facts: f, rule: r, hear: l.hear, by: l.by, told: f.told.holdsAny(r.ID),
		alone: emptied(l.alone), known: emptied(l.known), others: emptied(l.others),
	}
	r.Find(f, l.hear)
}

// emptied clears a list and returns it with length 0, so that its memory is reused.
func emptied[T any](all []*T) []*T {
	clear(all)
	return all[:0]
}

// add takes a match that the rule reports.
func (l *fold) add(m Match) {
	if l.rule.Most == 0 || m.Alone {
		l.alone = append(l.alone, new(m))
		return
	}
	if who := m.owner(); l.into == nil || !l.rule.ByOwner || who != l.last {
		l.last, l.into = who, l.groupOf(&m, who)
	}
	l.into.add(&m)
}

// groupOf returns the group of a match. If the rule groups by owner, it is the group of the match's owner; otherwise
// each match gets a new group. Groups beyond the limit go into the rest.
func (l *fold) groupOf(m *Match, who owner) *group {
	if g := l.by[who]; g != nil && l.rule.ByOwner {
		return g
	}
	in := &l.others
	switch {
	case l.told && l.facts.told.holds(l.rule.keyOf(m)):
		in = &l.known
	case len(l.others) > l.rule.Most:
		return &l.rest
	}
	g := &group{pods: make(map[string]bool)}
	*in, l.by[who] = append(*in, g), g
	return g
}

// groups returns the groups that get their own finding, and the rest, which shares one finding. A rest of a single
// group gets its own finding. If there are too many groups, those that already have a finding come first, because the
// worst of them may change each second.
func (l *fold) groups() (own []*group, rest *group) {
	own = slices.Concat(l.known, l.others)
	if most := l.rule.Most; len(own) > most+1 || l.rest.count > 0 {
		rest = new(group)
		for _, g := range own[most:] {
			rest.join(g)
		}
		rest.join(&l.rest)
		own = own[:most]
	}
	return own, rest
}

// add adds a match. It copies the match if it will be named.
func (g *group) add(m *Match) {
	g.count++
	g.severity = max(g.severity, m.Severity)
	if len(g.named) < membersMost {
		g.named = append(g.named, new(*m))
	} else {
		g.nodes = append(g.nodes, m.Nodes...)
	}
	if g.pods != nil {
		g.pods[m.Subject.Pod.Name] = true
	}
}

// join adds the matches of another group.
func (g *group) join(o *group) {
	for _, m := range o.named {
		g.add(m)
	}
	g.count += o.count - len(o.named)
	g.severity = max(g.severity, o.severity)
	g.nodes = append(g.nodes, o.nodes...)
}

// keyOf returns the key of a group's finding. m is the first match of the group.
func (r *Rule) keyOf(m *Match) Key {
	if r.ByOwner {
		return Key{ID: r.ID, Group: m.owner().String()}
	}
	return Key{ID: r.ID, Subject: m.Subject}
}

// namedPods is how many pods of a group its summary names.
const namedPods = 2

// podsNamed returns in words how many pods a group has and who owns them, with the names of the first: "40 pods of
// shop/api (api-7d9f8b6c5d-x2x4z, api-7d9f8b6c5d-zk5qp ...)".
func (g *group) podsNamed() string {
	var names []string
	for _, m := range g.named {
		if pod := m.Subject.Pod.Name; len(names) < namedPods && !slices.Contains(names, pod) {
			names = append(names, pod)
		}
	}
	dots := ""
	if len(g.pods) > len(names) {
		dots = " ..."
	}
	return fmt.Sprintf("%s of %s (%s%s)", count(len(g.pods), "pod"), ownerPath(g.named[0].Subject.Pod), join(names), dots)
}

// namedEnds is how many different ends of containers are named.
const namedEnds = 4

// ends returns the different ends of several containers in words.
func (g *group) ends() string {
	var ends []string
	for _, m := range g.named {
		if end, _ := m.Values["end"].(string); len(ends) < namedEnds && !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return strings.Join(ends, " or ")
}
