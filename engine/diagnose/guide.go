package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// guideHead is the beginning of docs/guide.md.
const guideHead = `# Guide

One section for each finding: what it means, where it comes from, what checks it, and what ends it. ` + "`plegtop explain ID`" + ` prints one. The finding itself says what
is special on your node: its objects, figures and commands come first. When exactly each is said stands in [findings.md](findings.md). This page is made of
engine/knowledge/findings.yaml and remedies.yaml, with the commands of a node with systemd and containerd; words in capitals stand for what the finding names.
`

// Guide returns the text of docs/guide.md: all findings with the remedies of their culprits.
func Guide() string {
	var b strings.Builder
	b.WriteString(guideHead)
	for _, row := range knowledge.Findings() {
		b.WriteString("\n## " + row.ID + "\n\n" + row.Means + "\n\n")
		item := func(label, text string) {
			if text != "" {
				b.WriteString("- " + label + ": " + text + "\n")
			}
		}
		item("Cause", row.Cause)
		for _, culprit := range row.Culprits {
			if len(row.Culprits) > 1 {
				item("Case", knowledge.RemedyFor(culprit).About)
			}
			for _, s := range manual(culprit) {
				item(map[StepKind]string{Look: "Check", Act: "Act"}[s.Kind], s.markdown())
			}
		}
		item("Background", row.Background)
	}
	return b.String()
}

// manual returns all steps of a remedy on a node with containerd and systemd, with the name of each value in capitals
// instead of the value. If several steps have the same command, and differ only by what is known about a node, it
// returns the first of them.
func manual(culprit string) (steps []Step) {
	f := &Facts{Snapshot: &engine.Snapshot{}, Endpoint: "unix://" + knowledge.Containerd.Socket, Look: &evidence.Report{}, kept: &kept{}}
	for _, row := range knowledge.RemedyFor(culprit).Steps {
		v := Values{}
		for _, text := range []string{row.Look, row.Act, row.Do, row.Text, row.When, row.Risk, row.Undo} {
			for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
				v[found[2]] = capitals(found[2])
			}
		}
		row.Given, row.Without, row.Needs, row.Only = nil, nil, nil, nil
		if s, fits := (adviser{f, v}).step(row); fits && !slices.ContainsFunc(steps, s.Same) {
			steps = append(steps, s)
		}
	}
	return steps
}

// capitals returns the name of a value in the form that people read: TRACER_PID for tracerPid.
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
