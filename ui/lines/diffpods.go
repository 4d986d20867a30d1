package lines

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A standing container is the newest of its name, or for no name the newest sandbox of its pod.
type standing struct {
	id    string
	state string
}

// A named pod is the newest of its name, with what it has by the name of the container.
type named struct {
	made int64
	has  map[string]standing
}

// byName returns the pods of some namespaces, none for all.
func byName(pods []*engine.Pod, namespaces []string) map[pleg.PodRef]named {
	all := map[pleg.PodRef]named{}
	for _, p := range pods {
		seen := p.Seen()
		if seen == nil || len(namespaces) > 0 && !slices.Contains(namespaces, p.Namespace) {
			continue
		}
		n := named{has: map[string]standing{}}
		newest := map[string]int64{}
		take := func(name, id, state string, made int64) {
			if at, had := newest[name]; !had || made > at {
				newest[name], n.has[name] = made, standing{id, state}
			}
		}
		for _, s := range seen.Sandboxes {
			n.made = max(n.made, s.CreatedAt.UnixNano())
			take("", s.ID, state(s.State, true), s.CreatedAt.UnixNano())
		}
		for _, c := range seen.Containers {
			take(c.Name, c.ID, state(c.State, false), c.CreatedAt.UnixNano())
		}
		key := pleg.PodRef{Namespace: p.Namespace, Name: p.Name}
		if other, had := all[key]; !had || n.made >= other.made {
			all[key] = n
		}
	}
	return all
}

// podsChanged returns what differs between the pods of two moments, by name. Of a pod that came
// or went its containers are not named.
func podsChanged(was, now []*engine.Pod, namespaces []string) (all []changed) {
	a, b := byName(was, namespaces), byName(now, namespaces)
	for ref, p := range a {
		next, stays := b[ref]
		if !stays {
			all = append(all, changed{How: "went", Namespace: ref.Namespace, Pod: ref.Name, Was: p.has[""].state})
			continue
		}
		for name, s := range p.has {
			if t, is := next.has[name]; is && s != t {
				all = append(all, changed{How: theme.When(s.id != t.id, "replaced", "changed"), Namespace: ref.Namespace, Pod: ref.Name, Container: name, Was: s.state, Now: t.state})
			} else if !is {
				all = append(all, changed{How: "went", Namespace: ref.Namespace, Pod: ref.Name, Container: name, Was: s.state})
			}
		}
		for name, t := range next.has {
			if _, was := p.has[name]; !was {
				all = append(all, changed{How: "came", Namespace: ref.Namespace, Pod: ref.Name, Container: name, Now: t.state})
			}
		}
	}
	for ref, p := range b {
		if _, was := a[ref]; !was {
			all = append(all, changed{How: "came", Namespace: ref.Namespace, Pod: ref.Name, Now: p.has[""].state})
		}
	}
	slices.SortFunc(all, func(x, y changed) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Container, y.Container))
	})
	return all
}

// mostChanged is how many pods and containers the text names; the JSON has all.
const mostChanged = 50

// write writes what differs for people.
func (o *diffObject) write(d *widget.Doc, t *theme.Theme) {
	var head widget.Section
	head.Add(widget.Styled("verdict", widget.Plain, t.Strong, o.verdict()))
	o.A.say(&head, "A")
	o.B.say(&head, "B")
	d.Sections(head)
	for _, s := range []widget.Section{o.versions(), o.changes(t), o.held(t)} {
		if len(s.Rows) > 0 {
			d.Line()
			d.Sections(s)
		}
	}
	d.Line()
	var rows [][]text.Span
	row := func(name, in string, of replay.Timing) {
		cells := []string{name, in, text.Count(of.Count), text.Count(of.Errors), "-", "-", "-"}
		if of.Count > 0 {
			cells = append(cells[:4], text.Took(of.P50), text.Took(of.P99), text.Took(of.Max))
		}
		rows = append(rows, text.Each(theme.When(of.Errors > 0, t.Warn, t.Text), cells...))
	}
	for _, c := range append([]callTimings{{"relist", o.Relists}}, o.Calls...) {
		row(c.Operation, "A", c.A)
		row("", "B", c.B)
	}
	table(d, t, rows, "took", "in", "count", "errors", "p50", "p99", "max")
	d.Sections(remarks(o.Remarks))
}

func (o *diffObject) verdict() string {
	if o.Alike {
		return "alike, but for figures"
	}
	said := fmt.Sprintf("they differ: %s of pods and containers, %s in one only", say.Plural(len(o.Pods), "change"), say.Plural(len(o.Findings), "finding"))
	if len(o.versions().Rows) > 0 {
		said += ", other versions"
	}
	return said
}

func (s *sideObject) say(to *widget.Section, label string) {
	to.Add(
		widget.Fact(label, widget.Plain, s.File+", "+recordedFor(s.From, s.To, s.Node)),
		widget.Fact("", widget.Plain, fmt.Sprintf("%s; %s, %s; %s, kubelet %s", s.Headline, say.Plural(s.Pods, "pod"), say.Plural(s.Containers, "container"), s.Runtime, s.KubeletVersion)),
	)
}

// versions says which differ.
func (o *diffObject) versions() (s widget.Section) {
	for _, v := range [][3]string{{"runtime", o.A.Runtime, o.B.Runtime}, {"kubelet", o.A.KubeletVersion, o.B.KubeletVersion}} {
		if v[1] != v[2] {
			s.Add(widget.Fact(v[0], widget.Plain, v[1]+" in A, "+v[2]+" in B"))
		}
	}
	return s
}

// changes says which pods and containers came, went, changed and are others now.
func (o *diffObject) changes(t *theme.Theme) (s widget.Section) {
	for i, c := range o.Pods {
		if i == mostChanged {
			s.Add(widget.Fact("", widget.Quiet, fmt.Sprintf("and %d more; -o json has all", len(o.Pods)-i)))
			break
		}
		said := say.Words(c.Namespace+"/"+c.Pod, c.Container)
		switch {
		case c.Was != "" && c.Now != "" && c.Was != c.Now:
			said += ": " + c.Was + " " + t.Symbols.Step + " " + c.Now
		case c.Was+c.Now != "":
			said += ": " + theme.When(c.Now == "", c.Was, c.Now)
		}
		s.Add(widget.Fact(c.How, widget.Plain, said))
	}
	return s
}

// held says which findings one side alone has.
func (o *diffObject) held(t *theme.Theme) (s widget.Section) {
	for _, f := range o.Findings {
		symbol, look := say.SeverityLook(t, f.Severity)
		s.Add(widget.Styled(theme.When(f.In == "a", "only in A", "only in B"), widget.Plain, look,
			fmt.Sprintf("%s %s: %s (%s for %s)", symbol, f.ID, say.Summary(&diagnose.Finding{ID: f.ID, Summary: f.Summary}), f.From.Local().Format(time.TimeOnly), text.Age(f.For))))
	}
	return s
}
