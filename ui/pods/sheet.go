package pods

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// sheet is all that is known of one pod, also after that has gone.
type sheet struct {
	layer.Text
	of   *model.Pod
	gone bool
	past strip.Story
	rec  record
	ctrs containers
}

// eventsInSheet is how many of the pod's events the sheet shows.
const eventsInSheet = 100

// Sheet returns the sheet of the pod that s is about, also if that has gone and is
// remembered. It returns nil if s is about something else, or if nothing is known of the
// pod.
func Sheet(v *pane.View, s pane.Subject) pane.Pane {
	if s.Finding != nil || s.Event != 0 || s.Pod.UID == "" {
		return nil
	}
	d := new(sheet)
	if d.find(v, s.Pod.UID); d.of == nil {
		return nil
	}
	return d
}

// find takes over the pod as it is now, or as it was last.
func (s *sheet) find(v *pane.View, uid pleg.UID) {
	of := v.Pods.Find(uid)
	if s.gone = of == nil; !s.gone {
		s.of = of
	} else if p := v.Journal.Gone(uid); p != nil && (s.of == nil || s.of.Pod != p) {
		s.of = model.NewPod(p)
	}
}

// sheetFooter is what the footer names below a sheet, the most useful first.
var sheetFooter = []keymap.Action{
	keymap.Help, keymap.Back, keymap.Raw, keymap.ReinspectPod, keymap.Copy, keymap.Filter, keymap.PauseRelist, keymap.Freeze,
}

func (s *sheet) Info() pane.Info {
	return s.Titled(s.of.Pod.PodRef.String(), keymap.Over|keymap.Matching, sheetFooter...)
}

func (s *sheet) Subject() pane.Subject {
	return pane.Subject{ObjectRef: pleg.ObjectRef{Pod: s.of.Pod.PodRef}}
}

func (s *sheet) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if a != keymap.Detail {
		return s.Text.Do(a, h)
	}
	if seq, ok := s.Current().(uint64); ok {
		h.OpenSheet(pane.Subject{ObjectRef: pleg.ObjectRef{Pod: s.of.Pod.PodRef}, Event: seq})
	}
	return nil, true
}

func (s *sheet) Observe(v *pane.View, w, h int) {
	s.find(v, s.of.Pod.UID)
	s.Write(v, w, h, func(d *widget.Doc) {
		s.summary(d)
		d.Section("Timeline")
		d.Many(s.past.Lanes(s.View, s.of, d.Width()))
		s.events(d)
		s.rec.write(d, v.Theme, s.of)
		s.status(d)
	})
}

func (s *sheet) summary(d *widget.Doc) {
	v, t, f, p := s.View, s.View.Theme, s.of, s.of.Pod
	symbol, st := f.Look(t)
	d.Section("Pod")
	d.Field("name", t.Strong, p.PodRef.String())
	d.Field("uid", t.Text, string(p.UID))
	if s.gone {
		d.Field("gone", t.Warn, "the runtime lists it no more; this is the last of it")
	}
	state := symbol + " " + f.Says(v.At)
	if f.State != diagnose.PodUnlisted {
		state += fmt.Sprintf(", %d of %d running", f.Running, f.Wanted)
	}
	d.Field("state", st, state)
	if !s.findings(d) {
		d.Field("problem", t.Warn, f.Problem)
	}
	if !f.Created.IsZero() {
		d.Field("age", t.Text, text.AgeCoarse(v.At.Sub(f.Created)))
	}
	if as := v.Pods.AsOf; !as.IsZero() && !s.gone {
		d.Field("stale", t.Warn, text.AgeCoarse(v.At.Sub(as))+": no relist has ended since")
	}
	s.inspections(d)
	s.worker(d)
}

// worker adds what the pod's worker does, if it has one.
func (s *sheet) worker(d *widget.Doc) {
	v := s.View
	if w := v.Workers.Of(s.of.Pod.UID); w != nil {
		_, st := say.Worker(v.Theme, w, diagnose.WorkerHeld(v.Snapshot, w))
		d.Field("worker", st, say.WorkerTells(&v.Workers, w, v.At))
	}
}

// findings adds what is found about the pod, but for effects of that, and what holds it up. It reports whether
// that is anything.
func (s *sheet) findings(d *widget.Doc) (found bool) {
	t := s.View.Theme
	for _, f := range s.View.Findings {
		if f.Subject.Pod.UID != s.of.Pod.UID || f.Severity == diagnose.Info || f.Cause != "" {
			continue
		}
		found = true
		symbol, st := say.SeverityLook(t, f.Severity)
		d.Paragraph(t.Text, f.Summary, text.Say(st, "  "+symbol+" "+string(f.ID)).In(widget.LabelWidth(d.Width())))
		held := widget.Section{Rows: report.Holders(report.Form{Theme: t}, &f)}
		for i, r := range held.Rows {
			if r.Command != "" { // events alone are items here
				held.Rows[i] = widget.Styled(r.Label, widget.Plain, t.Key, r.Command)
			}
		}
		d.Sections(held)
	}
	return found
}

// inspections adds what the inspections of the pod cost and how they went.
func (s *sheet) inspections(d *widget.Doc) {
	t, p, at := s.View.Theme, s.of.Pod, s.View.At
	if p.Inspected == 0 {
		d.Field("inspections", t.Dim, "none yet")
		return
	}
	d.Field("inspections", t.Text, fmt.Sprintf("%d, the last one took %s, the worst %s; %s ago",
		p.Inspected, text.Took(p.InspectLast), text.Took(p.InspectWorst), text.AgeCoarse(at.Sub(p.InspectedAt))))
	if f := p.Failure; f != nil {
		d.Field("failing", t.Bad, fmt.Sprintf("%s in a row, for %s", say.Plural(f.InRow, "time"), text.AgeCoarse(at.Sub(f.First))))
	}
	if p.StatusErr != nil {
		d.Field("error", t.Bad, p.StatusErr.Error())
	}
	if p.Reinspect {
		d.Field("next", t.Info, "will be inspected again at the next relist, though nothing changed")
	}
}

// events adds the pod's events, the newest first. Each is an item.
func (s *sheet) events(d *widget.Doc) {
	d.Section("Events")
	n := 0
	for _, r := range slices.Backward(s.View.Journal.Of(s.of.Pod.UID)) {
		if r.Gap > 0 {
			continue
		}
		d.Item(r.Seq)
		d.Line(event(s.View.Theme, r)...)
		if n++; n == eventsInSheet {
			break
		}
	}
	d.End()
	if n == 0 {
		d.Line(text.Say(s.View.Theme.Dim, "  none since plegtop started"))
	}
}

func event(t *theme.Theme, r *model.Row) []text.Span {
	symbol, st := say.Event(t, &r.Event)
	delivery, sent, lag, exit := r.Delivery.String(), t.Dim, "", ""
	switch {
	case r.AtStart:
		delivery = "at start"
	case r.Delivery == pleg.Discarded:
		sent = t.Bad
	}
	if r.HasLag {
		lag = "lag " + text.Took(r.Lag)
	}
	if r.Exited {
		exit = fmt.Sprintf("exit %d %s", r.ExitCode, r.Reason)
	}
	return []text.Span{
		text.Say(t.Dim, "  "+r.SeenAt.Local().Format("15:04:05")).In(12),
		text.Say(st, symbol+" "+r.Kind.String()).In(19),
		text.Say(t.Text, cmp.Or(r.Container, "sandbox")).In(20),
		text.Say(t.Dim, r.From.String()+" "+t.Symbols.Step+" "+r.To.String()).In(20),
		text.Say(t.Dim, lag).In(11),
		text.Say(sent, delivery).In(11),
		text.Say(say.Code(t, r.ExitCode), exit),
	}
}

// status adds what the pod cache holds.
func (s *sheet) status(d *widget.Doc) {
	t, p, at := s.View.Theme, s.of.Pod, s.View.At
	d.Section("Cached status")
	st := p.Status
	if st == nil {
		why := "  none: the pod has not been inspected yet"
		if p.StatusErr != nil {
			why = "  the cache holds the error above in its place"
		}
		d.Line(text.Say(t.Dim, why))
		return
	}
	for _, ip := range st.IPs {
		d.Field("ip", t.Text, ip)
	}
	d.Field("inspected", t.Text, text.AgeCoarse(at.Sub(p.StatusAt))+" ago")
	for _, sb := range st.Sandboxes {
		symbol, st := say.State(t, sb.State)
		d.Field("sandbox", st, fmt.Sprintf("%s %v  attempt %d  %s", symbol, sb.State, sb.Attempt, pleg.ShortID(sb.ID)))
	}
	s.ctrs.write(d, t, at, s.of)
}
