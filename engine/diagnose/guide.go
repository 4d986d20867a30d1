package diagnose

import (
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// guideHead begins docs/guide.md.
const guideHead = `# Guide

One section for each finding: what it means, where it comes from, what checks it, and what ends it. ` + "`plegtop explain ID`" + ` prints one. The finding itself says what
is special on your node: its objects, figures and commands come first. When exactly each is said stands in [findings.md](findings.md). This page is made of
engine/knowledge/findings.yaml and remedies.yaml, with the commands of a node with systemd and containerd; words in capitals stand for what the finding names.
`

// Guide returns the text of docs/guide.md: all findings with the remedies of their culprits.
func Guide() string {
	var b strings.Builder
	b.WriteString(guideHead)
	for _, f := range knowledge.Findings() {
		b.WriteString("\n## " + f.ID + "\n\n" + f.Means + "\n\n")
		item := func(label, text string) {
			if text != "" {
				b.WriteString("- " + label + ": " + text + "\n")
			}
		}
		item("Cause", f.Cause)
		for _, culprit := range f.Culprits {
			if len(f.Culprits) > 1 {
				item("Case", knowledge.RemedyFor(culprit).About)
			}
			for _, s := range anyNode().manual(culprit) {
				item(map[StepKind]string{Look: "Check", Act: "Act"}[s.Kind], s.markdown())
			}
		}
		item("Background", f.Background)
	}
	return b.String()
}

// anyNode is a node of which nothing is known but that it has containerd and systemd.
func anyNode() *view {
	return &view{Snapshot: &engine.Snapshot{}, endpoint: "unix://" + knowledge.Containerd.Socket, evidence: &evidence.Report{}, cache: &noCache}
}

// manual returns all steps of a remedy, each value as its name in capitals. Of steps with the same
// command, which differ by what is known of the node, it has the first.
func (v *view) manual(culprit string) (steps []Step) {
	for _, a := range knowledge.RemedyFor(culprit).Steps {
		values := Values{}
		for _, text := range []string{a.Look, a.Act, a.Do, a.Text, a.When, a.Risk, a.Undo} {
			for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
				values[found[2]] = one(capitals(found[2]))
			}
		}
		a.Given, a.Without, a.Needs, a.Only = nil, nil, nil, nil
		if step, fits := v.step(a, values); fits && !hasStep(steps, step) {
			steps = append(steps, step)
		}
	}
	return steps
}

func hasStep(steps []Step, s Step) bool {
	for _, other := range steps {
		if other.Same(s) {
			return true
		}
	}
	return false
}

// capitals returns the name of a value as a person reads it: tracerPid is TRACER_PID.
func capitals(name string) string {
	var b strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

// markdown returns a step as an item of the guide.
func (s Step) markdown() string {
	out := s.Says()
	if s.Command != "" {
		out = "`" + s.Command + "`: " + out
	}
	if s.Risky() {
		out += ". RISK: " + s.Risk
	}
	if s.Undo != "" {
		out += ". Undo: " + s.Undo
	}
	return out
}
