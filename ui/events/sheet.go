package events

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// sheet is all that is known of one event, and its story, also when its pod has gone, and when the
// journal keeps it no more.
type sheet struct {
	layer.Text
	row model.Row
}

// Sheet returns the sheet of the event that s is about; nil if it is about none, or one
// that is no longer kept.
func Sheet(v *pane.View, s pane.Subject) pane.Pane {
	r := v.Journal.Row(s.Event)
	if s.Event == 0 || r == nil || r.Gap > 0 {
		return nil
	}
	return &sheet{row: *r}
}

// sheetFooter is what the footer names below a sheet, the most useful first.
var sheetFooter = []keymap.Action{
	keymap.Help, keymap.Back, keymap.Detail, keymap.Copy, keymap.Filter, keymap.PauseRelist, keymap.Freeze,
}

// Info names the event.
func (s *sheet) Info() pane.Info {
	name := say.EventWord(s.row.Kind)
	if pod := s.row.Pod.String(); pod != "" {
		name += " " + pod
	}
	if s.row.ID != "" {
		name += " " + story.Name(&s.row)
	}
	return s.Titled(name, keymap.Over|keymap.Matching, sheetFooter...)
}

// Subject returns the event.
func (s *sheet) Subject() pane.Subject { return subjectOf(&s.row) }

// Observe writes the sheet.
func (s *sheet) Observe(v *pane.View, w, h int) {
	s.Write(v, w, h, func(d *widget.Doc) {
		s.event(d)
		s.story(d)
		s.lastPicture(d)
	})
}

// Do opens the sheet of the pod, copies the id, or scrolls.
func (s *sheet) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch a {
	case keymap.Detail:
		if !h.OpenSheet(pane.Subject{ObjectRef: pleg.ObjectRef{Pod: s.row.Pod}}) {
			h.Say("the pod has gone: what is known of it is here")
		}
		return nil, true
	case keymap.Copy:
		return pane.Copy(h, cmp.Or(s.row.ID, s.row.Pod.Name, string(s.row.Pod.UID))), true
	}
	return s.Text.Do(a, h)
}

// event writes what happened to what.
func (s *sheet) event(d *widget.Doc) {
	th, r := s.View.Theme, &s.row
	symbol, st := say.Event(th, &r.Event)
	d.Section("Event")
	d.Field("type", st, symbol+" "+r.Kind.String())
	d.Field("from > to", th.Text, steps(th, r))
	d.Field("pod", th.Text, s.pod())
	d.Field("pod uid", th.Dim, string(r.Pod.UID))
	switch {
	case r.Sandbox:
		d.Field("container", th.Text, "none: this is the pod's sandbox")
	case r.ID != "":
		d.Field("container", th.Text, cmp.Or(r.Container, "its name is not known"))
	}
	d.Field("id", th.Dim, r.ID)
	s.exit(d)
	d.Field("channel", th.Text, r.Delivery.String())
}

// story writes what became of the event: who saw it when, and stage by stage what the kubelet does
// then. That it does nothing is written once.
func (s *sheet) story(d *widget.Doc) {
	th, all := s.View.Theme, story.Of(s.View.Snapshot, s.View.Journal, &s.row)
	d.Section("Seen")
	d.Field("happened", th.Text, cmp.Or(all[story.Seen].At(), theme.When(s.row.AtStart, "before plegtop started", "not known")))
	s.seen(d)
	d.Section("What the kubelet does")
	for i, st := range all[story.Found:] {
		if st.Says != all[i].Says {
			_, look := st.Level.Look(th)
			d.Field(st.Name, look, strings.TrimSpace(st.At()+"  "+st.Says))
		}
	}
}

// seen writes who saw it when, and how late that was.
func (s *sheet) seen(d *widget.Doc) {
	th, r := s.View.Theme, &s.row
	d.Field("seen", th.Text, r.SeenAt.Local().Format(fullTime)+", "+text.AgeCoarse(s.View.At.Sub(r.SeenAt))+" ago")
	if r.HasLag {
		late := diagnose.LagsBehind(r.Lag)
		d.Field("lag", theme.When(late, th.Warn, th.Text), text.Took(r.Lag)+theme.When(late, ": relists were late", ""))
	}
	if r.Seen == nil {
		return
	}
	for i, at := range r.Seen.At {
		of := sources.Source(i)
		lead, known := r.Seen.Lead(of)
		said := at.Local().Format(fullTime)
		if known && of != sources.FromRelist {
			said += ", " + text.Took(lead.Abs()) + theme.When(lead < 0, " after", " before") + " the relist"
		}
		if !at.IsZero() {
			d.Field(of.String(), th.Text, said)
		} else if of == sources.FromRelist {
			d.Field(of.String(), th.Warn, "not seen")
		}
	}
}

// pod says whose it was, as far as that is known, and whether the pod is no longer listed.
func (s *sheet) pod() string {
	switch pod := s.row.Pod; {
	case pod.UID == "":
		return "not known: no relist had this id"
	case s.View.Pods.Find(pod.UID) != nil:
		return pod.String()
	default:
		return pod.String() + ", which has gone since"
	}
}

// exit writes the exit code, of a removal that of the death before.
func (s *sheet) exit(d *widget.Doc) {
	th, r := s.View.Theme, s.row
	for _, of := range slices.Backward(s.View.Journal.Of(r.Pod.UID)) {
		if !r.Exited && r.Kind == pleg.Removed && of.ID == r.ID && of.Exited && of.Seq < r.Seq {
			r = *of
		}
	}
	switch {
	case r.Exited:
		d.Field("exit code", theme.When(r.ExitCode != 0, th.Bad, th.Text), exitCode(r.ExitCode))
		d.Field("reason", th.Text, r.Reason)
	case r.Kind == pleg.Died && !r.Sandbox:
		d.Field("exit code", th.Dim, "not known: it had gone before it was inspected")
	}
}

// signals are those that most often end a process. Its exit code is then 128 more.
var signals = map[int32]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM",
}

// exitCode adds the signal that an exit code stands for.
func exitCode(code int32) string {
	s := strconv.Itoa(int(code))
	if name := signals[code-128]; name != "" {
		s += " (" + name + ")"
	}
	return s
}

// lastPicture writes what a pod held that is no longer listed.
func (s *sheet) lastPicture(d *widget.Doc) {
	p := s.View.Journal.Gone(s.row.Pod.UID)
	if p == nil || p.Status == nil || s.View.Pods.Find(p.UID) != nil {
		return
	}
	th := s.View.Theme
	d.Section("Last picture of the pod")
	for i := range p.Status.Containers {
		c := &p.Status.Containers[i]
		symbol, st := say.State(th, c.State)
		d.Field("container "+c.Name, st, symbol+" "+ended(c))
	}
	d.Field("seen", th.Dim, p.InspectedAt.Local().Format(fullTime))
}

// ended says how a container stood, and how it ended if it had.
func ended(c *pleg.ContainerStatus) string {
	s := c.State.String()
	if c.State != pleg.Exited {
		return s
	}
	s += ", exit code " + exitCode(c.ExitCode)
	if c.Reason != "" {
		s += ", " + c.Reason
	}
	if !c.FinishedAt.IsZero() {
		s += ", at " + c.FinishedAt.Local().Format(time.TimeOnly)
	}
	return s
}
