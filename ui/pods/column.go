package pods

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/podlist"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
	"github.com/plegtop/plegtop/ui/wording"
)

// A row is a line of the table: a pod, or a part of one that is unfolded.
type row struct {
	of   *podlist.Pod
	part *podlist.Part // nil for the pod itself
	n    int           // the place of the pod among those shown, from 1
	open bool          // unfolded
}

// columns are those of the pane. One more is one literal more; Compare is only asked of
// pods, and leaves those that are equal in the order of their names.
var columns = []widget.Column[row]{
	{
		Name: "namespace", Head: "NAMESPACE", Help: "the pod's namespace",
		Least: 10, Most: 20, Rank: 3,
		Need:    podOnly(func(p *podlist.Pod) int { return text.Width(p.Pod.Namespace) }),
		Draw:    podDraw(func(l *text.Line, b widget.Pen, p *podlist.Pod, w int) { l.Cell(b.Dim, p.Pod.Namespace, w) }),
		Compare: func(a, b row) int { return 0 },
	}, {
		Name: "pod", Head: "POD", Help: "the pod; unfolded, its sandboxes and containers",
		Least: 14, Fair: 24, Most: 64,
		Need:    podOnly(func(p *podlist.Pod) int { return text.Width(p.Pod.Name) + 2 }),
		Draw:    drawName,
		Compare: func(a, b row) int { return strings.Compare(a.of.Pod.Name, b.of.Pod.Name) },
	}, {
		Name: "state", Head: "STATE", Help: "the worst that is known of the pod, or the state of its part; the filter's state: knows these words",
		Least: 11, Rank: 1,
		Draw: func(l *text.Line, b widget.Pen, r row, w int) {
			symbol, st := r.of.Look(b.Theme)
			word := r.of.Says(b.At)
			if r.part != nil && !r.hangs() {
				symbol, word, st = look.Listed(b.Theme, r.part.State, r.part.Dead)
			}
			look.Sign(l, st, symbol, word, w)
		},
		Compare: func(a, b row) int { return cmp.Compare(b.of.State, a.of.State) },
	}, {
		Name: "run", Head: "RUN", Help: "containers that run, of those that should; not the kubelet's readiness, which asks probes too",
		Least: 5, Rank: 2, Right: true,
		Draw: podDraw(func(l *text.Line, b widget.Pen, p *podlist.Pod, w int) {
			if p.State == diagnose.PodUnlisted {
				l.Right(b.Dim, "?", w)
				return
			}
			short := p.Running < p.Wanted && p.State != diagnose.PodCompleted
			l.Right(theme.When(short, b.Warn, b.Text), ran(p.Running, p.Wanted, w), w)
		}),
		Compare: compareRun,
	}, {
		Name: "ctrs", Head: "CTRS", Help: "the state of each container, a sign each",
		Least: 5, Rank: 10,
		Draw:    podDraw(func(l *text.Line, b widget.Pen, p *podlist.Pod, w int) { look.Dots(l, b, p.Now, p.Dead, w) }),
		Compare: compareRun,
	}, {
		Name: "exit", Head: "EXIT", Help: "the exit code of the container that ended last",
		Least: 4, Rank: 5, Right: true,
		Draw: func(l *text.Line, b widget.Pen, r row, w int) {
			switch {
			case r.part == nil:
				look.Exit(l, b, r.of.Exit, r.of.HasExit, w)
			case r.part.Status != nil:
				look.Exit(l, b, r.part.Status.ExitCode, r.part.Status.State == pleg.Exited, w)
			default:
				l.Space(w)
			}
		},
		Compare: func(a, b row) int { return cmp.Compare(b.of.Exit, a.of.Exit) },
	}, {
		Name: "rst", Head: "RST", Help: "restarts, of the container that was restarted most",
		Least: 4, Rank: 5, Right: true,
		Draw: func(l *text.Line, b widget.Pen, r row, w int) {
			n := r.of.Restarts
			if r.part != nil {
				n = r.part.Attempt
			}
			look.Count(l, b, uint64(n), w)
		},
		Compare: func(a, b row) int { return cmp.Compare(b.of.Restarts, a.of.Restarts) },
	}, {
		Name: "age", Head: "AGE", Help: "how long ago it was made, by the runtime's clock",
		Least: 5, Rank: 7, Right: true,
		Draw: func(l *text.Line, b widget.Pen, r row, w int) {
			made := r.of.Created
			if r.part != nil {
				made = r.part.Created
			}
			look.Age(l, b, made, w)
		},
		Compare: func(a, b row) int { return b.of.Created.Compare(a.of.Created) },
	}, {
		Name: "lastevent", Head: "LAST EVENT", Help: "the last event that the kubelet's PLEG would have made, and how long ago; none for what was there at the start",
		Least: 13, Rank: 9,
		Draw: func(l *text.Line, b widget.Pen, r row, w int) {
			e := &r.of.Pod.LastEvent
			if e.Seq == 0 || e.AtStart || r.part != nil && e.ID != r.part.ID {
				l.Space(w)
				return
			}
			look.LastEvent(l, b, e, w)
		},
		Compare: func(a, b row) int { return b.of.Pod.LastEvent.SeenAt.Compare(a.of.Pod.LastEvent.SeenAt) },
	}, {
		Name: "inspect", Head: "INSPECT", Help: "how long the last inspection of the pod took, or hangs",
		Least: 7, Fair: 21, Rank: 8, Right: true, // remarks get some cells before LAST EVENT has its own
		Draw: podDraw(func(l *text.Line, b widget.Pen, p *podlist.Pod, w int) {
			if p.Out != nil {
				l.Right(b.Bad, wording.OutFor(p.Out.Elapsed(b.At)), w)
				return
			}
			look.Took(l, b, p.Pod.InspectLast, p.Pod.Inspected > 0, w)
		}),
		Compare: func(a, b row) int {
			return cmp.Or(cmp.Compare(hanging(b.of), hanging(a.of)), cmp.Compare(b.of.Pod.InspectLast, a.of.Pod.InspectLast))
		},
	}, {
		Name: "worst", Head: "WORST", Help: "how long the slowest inspection of the pod took",
		Least: 6, Rank: 11, Right: true,
		Draw: podDraw(func(l *text.Line, b widget.Pen, p *podlist.Pod, w int) {
			look.Took(l, b, p.Pod.InspectWorst, p.Pod.Inspected > 0, w)
		}),
		Compare: func(a, b row) int { return cmp.Compare(b.of.Pod.InspectWorst, a.of.Pod.InspectWorst) },
	}, {
		Name: "remark", Head: "REMARK", Help: "what is wrong, in the runtime's words where it said so; of a container what it runs",
		Least: 8, Fair: 14, Most: 200, Rank: 4,
		Need:    func(row) int { return 200 },
		Draw:    drawRemark,
		Compare: func(a, b row) int { return strings.Compare(b.of.Remark, a.of.Remark) },
	},
}

// podOnly returns the Need of a column that only pods make use of.
func podOnly(need func(*podlist.Pod) int) func(row) int {
	return func(r row) int {
		if r.part != nil {
			return 0
		}
		return need(r.of)
	}
}

// podDraw returns the Draw of a column that is blank for the parts of a pod.
func podDraw(draw func(l *text.Line, b widget.Pen, p *podlist.Pod, w int)) func(*text.Line, widget.Pen, row, int) {
	return func(l *text.Line, b widget.Pen, r row, w int) {
		if r.part != nil {
			l.Space(w)
			return
		}
		draw(l, b, r.of, w)
	}
}

// hangs reports whether the call that hangs is about this part of the pod.
func (r row) hangs() bool { return r.part != nil && r.of.Hangs(r.part) }

func hanging(p *podlist.Pod) int {
	if p.Out != nil {
		return 1
	}
	return 0
}

func compareRun(a, b row) int {
	return cmp.Or(cmp.Compare(a.of.Running-a.of.Wanted, b.of.Running-b.of.Wanted), cmp.Compare(b.of.Wanted, a.of.Wanted))
}

// ran says how many containers run of those that should: in thousands where w cells
// do not hold them, and where that does not help how many run of more than there is
// room for. A figure that lost a digit would be a wrong one.
func ran(running, wanted, w int) string {
	r, of := strconv.Itoa(running), strconv.Itoa(wanted)
	if running >= 1000 {
		r = strconv.Itoa(running/1000) + "k"
	}
	if wanted >= 1000 && len(r)+1+len(of) > w {
		of = strconv.Itoa(wanted/1000) + "k"
	}
	if len(r)+1+len(of) > w {
		of = "+"
	}
	return r + "/" + of
}

// drawName draws the name of a pod, or of a part of it below. All are cut alike.
func drawName(l *text.Line, b widget.Pen, r row, w int) {
	s, part := &b.Symbols, r.part
	if part == nil {
		sign := s.Folded
		if r.open {
			sign = s.Unfolded
		}
		l.Sign(b.Dim, sign)
		l.Space(1)
		l.Name(b.Text, cmp.Or(r.of.Pod.Name, string(r.of.Pod.UID)), w-2)
		return
	}
	indent, name, st, sign := 4, part.Name, b.Text, s.Branch
	if part.Sandbox {
		indent, name, st = 2, "sandbox", b.Dim
		if whole := name + " " + pleg.ShortID(part.ID); len(whole) <= w-indent-2 { // half an id tells nothing
			name = whole
		}
	}
	if part.Last {
		sign = s.Last
	}
	l.Space(indent)
	l.Sign(b.Border, sign)
	l.Space(1)
	l.Name(st, name, w-indent-2)
}

func drawRemark(l *text.Line, b widget.Pen, r row, w int) {
	what, st := r.of.Remark, b.Warn
	switch {
	case r.hangs():
		what, st = r.of.Problem, b.Bad
	case r.part != nil && r.part.Dead:
		what, st = diagnose.DiedUnseen, b.Bad
	case r.part != nil:
		what, st = remark(r.part), b.Dim
	case r.of.State == diagnose.PodDead || r.of.State >= diagnose.PodFailing:
		st = b.Bad
	}
	l.Cell(theme.When(what == "", b.Text, st), text.Clip(what, w), w)
}

// remark is why a container ended, or else what it runs.
func remark(p *podlist.Part) string {
	if st := p.Status; st != nil {
		if why := joined(st.Reason, st.Message); why != "" {
			return why
		}
	}
	return p.Image
}

// joined is why a container ended; empty for one that just did.
func joined(reason, message string) string {
	switch {
	case reason == "Completed":
		return message
	case reason == "" || message == "":
		return reason + message
	}
	return reason + ": " + message
}
