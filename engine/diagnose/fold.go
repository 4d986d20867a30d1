package diagnose

import (
	"fmt"
	"slices"
	"strings"
)

// A fold puts the matches of one rule together while they are found. Of ten thousand matches it keeps those that will
// be named, and counts the others. Its room is used again.
type fold struct {
	facts *Facts
	rule  *Rule
	hear  func(Match) // is add

	told   bool             // findings of the rule hold already
	alone  []*Match         // that have a finding each, whatever the limit
	known  []*group         // that have a finding already
	others []*group         // the first that have none, one more than may have one
	rest   group            // all matches of more groups than that
	by     map[owner]*group // known and others
	last   owner            // of the match before: mostly those of one owner follow each other
	into   *group           // where it went
}

// A group is matches that have one finding together.
type group struct {
	named    []*Match // the first of them
	count    int
	severity Severity        // the worst
	nodes    []string        // of those that are not named
	pods     map[string]bool // by name; nil for the rest
}

// of asks a rule what it finds. That is valid until the next call. Without a match it allocates nothing.
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

// emptied returns the room of a list.
func emptied[T any](all []*T) []*T {
	clear(all)
	return all[:0]
}

// add takes in a match.
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

// groupOf returns where a match belongs: with those of its owner; for a rule that does not go by owners each match is
// a group.
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

// groups returns the groups that have a finding each, and the rest that has one together: a rest of one group is worth
// its own finding. Where there are too many, those that have a finding already come first: which of them is the worst
// may change by the second.
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

// add takes in a match. It copies what is named.
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

// keyOf returns the key that the finding of a group has, by the first of its matches.
func (r *Rule) keyOf(m *Match) Key {
	if r.ByOwner {
		return Key{ID: r.ID, Group: m.owner().String()}
	}
	return Key{ID: r.ID, Subject: m.Subject}
}

// namedPods is how many of a group are named in its summary.
const namedPods = 2

// podsNamed says how many pods a group has, of which owner, and names the first: "40 pods of shop/api
// (api-7d9f8b6c5d-x2x4z, api-7d9f8b6c5d-zk5qp ...)".
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

// namedEnds is how many different ends of several containers are named.
const namedEnds = 4

// ends names the different ends of several containers.
func (g *group) ends() string {
	var ends []string
	for _, m := range g.named {
		if end, _ := m.Values["end"].(string); len(ends) < namedEnds && !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return strings.Join(ends, " or ")
}
