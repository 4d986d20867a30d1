package lines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// WhatIfSchema names the shape of what check writes as JSON of other releases, which
// docs/whatif.schema.json describes. Fields are only ever added to it.
const WhatIfSchema = "plegtop/whatif/1"

// A whatIfObject is what other releases would have made of a recording.
type whatIfObject struct {
	Schema string `line:"schema"`
	replay.WhatIf
	Node    string   `line:"node,raw"`
	Verdict string   `line:"verdict"`
	Remarks []string `line:"remarks"`
	Notes   []string `line:"notes,omitempty"` // what was left out, and why
}

// whatIf writes what other releases would have made of the recording. It returns [ExitOK].
func (r *Recorded) whatIf(ctx context.Context, w io.Writer, o CheckOptions, releases []pleg.Release) (code int, err error) {
	if o.NPD || o.DOT != "" || !r.at.IsZero() {
		return ExitCannotTell, errors.New("--kubelet-version of a recording compares all of it: leave --at, --exit-codes and --output dot out")
	}
	asked, err := replay.Ask(ctx, r.recording, releases)
	if err != nil {
		return ExitCannotTell, err
	}
	object := newWhatIf(asked, r.recording.Heads()[0].Node)
	b := jsonline.Append(nil, object)
	if !o.JSON {
		b = o.write(nil, object.write)
	}
	if err := writeLast(ctx, w, b); err != nil {
		return ExitCannotTell, fmt.Errorf("write the check: %w", err)
	}
	return ExitOK, readable(asked.To, asked.Damage)
}

func newWhatIf(w replay.WhatIf, node string) *whatIfObject {
	o := &whatIfObject{Schema: WhatIfSchema, WhatIf: w, Node: node, Verdict: whatIfVerdict(w)}
	if unlike(w.Recorded, w.Control) {
		o.Remarks = append(o.Remarks, fmt.Sprintf("the control differs: %v worked out in the same way is not what was recorded, so the other releases are no more exact", w.Recorded.Release))
	}
	var unknown []string
	for _, a := range w.Others {
		if a.Unknown > 0 {
			unknown = append(unknown, fmt.Sprintf("%d of %d by %v", a.Unknown, a.Calls, a.Release))
		}
	}
	if len(unknown) > 0 {
		o.Remarks = append(o.Remarks, "the recording cannot say what came of calls for objects that were not asked for at about that time, or hung at some time after it: "+
			strings.Join(unknown, ", ")+"; these are taken to be answered, by what the lists or the nearest call say")
	}
	return o
}

// unlike reports whether the control is not what was recorded.
func unlike(recorded, control replay.Account) bool {
	differ := func(a, b []replay.Spell) bool {
		return len(a) != len(b) || (replay.Total(a)-replay.Total(b)).Abs() > 5*time.Second
	}
	return differ(recorded.Unhealthy, control.Unhealthy) || differ(recorded.NotReady, control.NotReady)
}

// bad returns for how long the node was NotReady, or, where it never was, PLEG unhealthy, and
// which of them that is.
func bad(a replay.Account) (d time.Duration, of string) {
	if d = replay.Total(a.NotReady); d > 0 {
		return d, "the node NotReady"
	}
	return replay.Total(a.Unhealthy), "PLEG unhealthy"
}

// whatIfVerdict says in one sentence what another release would have changed.
func whatIfVerdict(w replay.WhatIf) string {
	was, of := bad(w.Recorded)
	best, least, first := w.Recorded, was, replay.Account{}
	var others []string // that kept what was lost, or would have lost what was kept
	for _, a := range w.Others {
		d, _ := bad(a)
		if (d == 0) != (was == 0) {
			first = theme.When(others == nil, a, first)
			others = append(others, a.Release.String())
		}
		if d < least {
			best, least = a, d
		}
	}
	switch {
	case len(others) > 0 && was == 0:
		d, what := bad(first)
		return fmt.Sprintf("%v kept the node Ready; %s would have had %s for %s%s", w.Recorded.Release, enumerated(others), what, text.Age(d), because(w.Recorded.Release, first.Release))
	case len(others) > 0:
		kept := theme.When(of == "PLEG unhealthy", "PLEG healthy", "the node Ready")
		return fmt.Sprintf("%s would have kept %s%s", enumerated(others), kept, because(first.Release, w.Recorded.Release))
	case was == 0:
		return "PLEG was healthy all the time, and would have been with each of these releases"
	case was-least > was/10:
		return fmt.Sprintf("%v would have had %s for %s in place of %s%s", best.Release, of, text.Age(least), text.Age(was), because(best.Release, w.Recorded.Release))
	}
	return fmt.Sprintf("none of these releases would have saved the node: each has %s for about %s", of, text.Age(was))
}

// because says why the better of two releases does better; empty where they differ in nothing
// that is known to matter.
func because(better, worse pleg.Release) string {
	if better.Twice() || !worse.Twice() {
		return ""
	}
	return fmt.Sprintf(": %v inspects a failing pod once a relist, %v twice", better, worse)
}

// enumerated joins words.
func enumerated(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// write writes it for people.
func (o *whatIfObject) write(d *widget.Doc, t *theme.Theme) {
	var head widget.Section
	head.Add(
		widget.Styled("verdict", widget.Plain, t.Strong, o.Verdict),
		widget.Fact("recorded", widget.Plain, fmt.Sprintf("%s, kubelet %v", recordedFor(o.From, o.To, o.Node), o.Recorded.Release)),
	)
	d.Sections(head)
	accounts, names := o.accounts()
	look := func(a replay.Account) theme.Style {
		return theme.When(len(a.NotReady)+len(a.Unhealthy) > 0, t.Warn, t.Text)
	}
	var relists, seen [][]text.Span
	var spells widget.Section
	for i, a := range accounts {
		relists = append(relists, text.Each(look(a), names[i], times(a.Unhealthy), times(a.NotReady), text.Count(a.Relists),
			quantileOf(a.Relists, a.P50), quantileOf(a.Relists, a.P99), text.Took(a.Longest)))
		seen = append(seen, text.Each(look(a), names[i], text.Count(a.Inspections), text.Count(a.Events),
			quantileOf(a.Lags, a.LagP50), quantileOf(a.Lags, a.LagP99), text.Count(a.Calls), text.Count(a.Unknown)))
		spells.Add(widget.Fact(names[i], widget.Plain, said(a)))
	}
	d.Line()
	table(d, t, relists, "kubelet", "PLEG unhealthy", "node NotReady", "relists", "p50", "p99", "longest")
	d.Line()
	table(d, t, seen, "kubelet", "pods inspected", "events", "late p50", "late p99", "calls", "not known")
	if len(spells.Rows) > 0 {
		d.Line()
	}
	d.Sections(spells, remarks(o.Remarks))
}

// quantileOf says a quantile of so many durations: of none there is none.
func quantileOf(n uint64, d time.Duration) string {
	return took(theme.When(n > 0, &d, nil))
}

// accounts returns those that people see, and what they are called.
func (o *whatIfObject) accounts() (all []replay.Account, names []string) {
	all, names = []replay.Account{o.Recorded}, []string{o.Recorded.Release.String() + " was"}
	if unlike(o.Recorded, o.Control) {
		all, names = append(all, o.Control), append(names, "control")
	}
	for _, a := range o.Others {
		all, names = append(all, a), append(names, a.Release.String())
	}
	return all, names
}

// times says how many spells there were, and for how long in all.
func times(all []replay.Spell) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%dx, %s", len(all), text.Age(replay.Total(all)))
}

// mostSpells is how many spells are named of each kind.
const mostSpells = 6

// said says when something was wrong; empty if nothing was.
func said(a replay.Account) string {
	var all []string
	for _, of := range []struct {
		what string
		all  []replay.Spell
	}{{"PLEG unhealthy", a.Unhealthy}, {"node NotReady", a.NotReady}} {
		var when []string
		for _, s := range of.all[:min(len(of.all), mostSpells)] {
			when = append(when, fmt.Sprintf("%s for %s%s", s.From.Local().Format(time.TimeOnly), text.Age(s.For), theme.When(s.Lasts, " and on", "")))
		}
		if more := len(of.all) - len(when); more > 0 {
			when = append(when, fmt.Sprintf("%d more", more))
		}
		if len(when) > 0 {
			all = append(all, of.what+" "+strings.Join(when, ", "))
		}
	}
	return strings.Join(all, "; ")
}

// recordedFor says when and where something was recorded.
func recordedFor(from, to time.Time, node string) string {
	said := fmt.Sprintf("%s to %s (%s)", from.Local().Format(time.DateTime), to.Local().Format(time.TimeOnly), text.Age(to.Sub(from)))
	return theme.When(node == "", said, said+" on "+node)
}
