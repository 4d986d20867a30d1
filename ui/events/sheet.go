package events

import (
	"cmp"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// sheet is all that is known of one event, also when its pod has gone, and when the
// journal keeps it no more.
type sheet struct {
	layer.Text
	row journal.Row
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
	name := look.EventWord(s.row.Kind)
	if pod := s.row.Pod.String(); pod != "" {
		name += " " + pod
	}
	if s.row.ID != "" {
		name += " " + subject(&s.row.Event)
	}
	return s.Titled(name, keymap.Over|keymap.Matching, sheetFooter...)
}

// Subject returns the event.
func (s *sheet) Subject() pane.Subject { return subjectOf(&s.row) }

// Observe writes the sheet.
func (s *sheet) Observe(v *pane.View, w, h int) {
	s.Write(v, w, h, s.write)
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

func (s *sheet) write(d *widget.Doc) {
	s.event(d)
	s.sightings(d)
	s.relist(d)
	d.Section("WHAT THE KUBELET DOES")
	for _, says := range s.next() {
		d.Paragraph(s.View.Theme.Text, says, text.Span{Width: 2})
	}
	s.lastPicture(d)
}

// event writes what happened to what, and when.
func (s *sheet) event(d *widget.Doc) {
	th, r := s.View.Theme, &s.row
	symbol, st := look.Event(th, &r.Event)
	d.Section("EVENT")
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
	s.times(d)
	d.Field("channel", th.Text, r.Delivery.String()+": "+delivery(&r.Event))
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
	for of := range s.View.Journal.Of(r.Pod.UID) {
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

func (s *sheet) times(d *widget.Doc) {
	th, r := s.View.Theme, &s.row
	switch {
	case r.AtStart:
		d.Field("at start", th.Text, "it was so before plegtop first looked: nothing happened at this time")
	case r.HasLag:
		d.Field("happened", th.Text, r.SeenAt.Add(-r.Lag).Local().Format(fullTime)+", by the runtime's clock")
	default:
		d.Field("happened", th.Dim, "not known: the runtime keeps no time of it")
	}
	d.Field("seen", th.Text, r.SeenAt.Local().Format(fullTime)+", "+text.AgeCoarse(s.View.At.Sub(r.SeenAt))+" ago")
	switch {
	case r.HasLag && diagnose.LagsBehind(r.Lag):
		d.Field("lag", th.Warn, text.Took(r.Lag)+": relists were late")
	case r.HasLag:
		d.Field("lag", th.Text, text.Took(r.Lag))
	}
}

// delivery says what became of an event at the channel between PLEG and the sync loop.
func delivery(e *engine.Event) string {
	switch e.Delivery {
	case pleg.Delivered:
		return "sent to the sync loop"
	case pleg.Filtered:
		return "PLEG makes it and never sends it"
	case pleg.Unseen:
		return "no relist has seen it, so the kubelet cannot see it; an event source has"
	case pleg.Derived:
		return "no kubelet makes it: it follows from what was inspected, and is sent to nobody"
	}
	return "the channel was full, and it is never sent again"
}

func (s *sheet) relist(d *widget.Doc) {
	if !byRelist(&s.row.Event) {
		return
	}
	th := s.View.Theme
	d.Section("FOUND BY")
	began := s.row.At.Local().Format(fullTime)
	of, known := s.View.Journal.Relist(s.row.At)
	if !known {
		d.Field("relist", th.Text, "of this pod alone, or one of which nothing is kept any more")
		d.Field("began", th.Text, began)
		return
	}
	d.Field("relist", th.Text, strconv.FormatUint(of.Number, 10))
	d.Field("began", th.Text, began)
	took := text.Took(of.Took)
	if on, running := s.View.Journal.Running(); running && on.Number == of.Number {
		took += ", and goes on"
	}
	d.Field("took", th.Text, took)
	d.Field("lists took", th.Text, text.Took(of.List))
	inspected := strconv.Itoa(of.Inspected) + " pods"
	if of.Failures > 0 {
		inspected += ", of which " + strconv.Itoa(of.Failures) + " failed"
	}
	d.Field("inspected", th.Text, inspected)
}

// next says what a kubelet makes of the event.
func (s *sheet) next() []string {
	r := &s.row
	switch r.Delivery {
	case pleg.Derived:
		return []string{"Nothing: it never hears of it. The proposal of PLEG has such events."}
	case pleg.Unseen:
		return []string{
			"Nothing, as long as no relist sees it. If what has changed is still there at the next good list, an event of its own follows.",
			s.otherwise(),
		}
	}
	says := []string{"The pod's record and the cache have moved on: no relist reports this again."}
	if !byRelist(&r.Event) {
		says = []string{"The runtime's stream has told it: the channel and the cache have it, the pod's record has not. The next relist would send it again, which is counted and not shown."}
	}
	if r.AtStart {
		says = append(says, "A kubelet that was there before saw it when it happened.")
	}
	const syncs = "Its sync loop takes it from the channel and has the pod's worker sync the pod: what should run is compared with what does."
	const resync = "The pod is synced with its next event, or with the kubelet's own resync, within about a minute."
	switch {
	case r.Delivery == pleg.Discarded:
		return append(says, "Its sync loop never hears of it. "+resync)
	case r.Delivery == pleg.Filtered:
		return append(says, "Nothing: neither created nor unknown is a state that the sync loop waits for. "+
			"The next event tells when the container runs, ends, or has gone.")
	case r.Kind == pleg.Removed:
		return append(says, "Its sync loop takes it from the channel and ignores it: a removal asks for no sync. Most often the kubelet has removed it itself.")
	case r.Kind == pleg.PodSync:
		return append(says, "A reinspection found no change. "+syncs)
	case r.Kind == pleg.Died && r.Sandbox:
		return append(says, syncs+" If the pod is to go on, it makes a new sandbox and starts all containers in it.")
	case r.Kind == pleg.Died:
		return append(says, syncs+" By the restart policy it starts the container again, after a back-off if that has happened before.",
			"It also deletes exited containers of the pod that are surplus.")
	}
	return append(says, syncs)
}

// lastPicture writes what a pod held that is no longer listed.
func (s *sheet) lastPicture(d *widget.Doc) {
	p := s.View.Journal.Gone(s.row.Pod.UID)
	if p == nil || p.Status == nil || s.View.Pods.Find(p.UID) != nil {
		return
	}
	th := s.View.Theme
	d.Section("LAST PICTURE OF THE POD")
	for i := range p.Status.Containers {
		c := &p.Status.Containers[i]
		symbol, st := look.State(th, c.State)
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
