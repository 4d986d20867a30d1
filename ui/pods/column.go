package pods

import (
	"cmp"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A row is a line of the table: a pod, or a part of one that is unfolded.
type row struct {
	of   *model.Pod
	part *model.Part // nil for the pod itself
	n    int         // the place of the pod among those shown, from 1
	open bool        // unfolded
}

// columns are those of the pane. One more is one literal more. Pods that are equal stay in the
// order of their names.
var columns = []widget.Column[row]{
	{
		Name: "namespace", Head: "NAMESPACE", Help: "the pod's namespace",
		Least: 11, Most: 20, Rank: 3, Fits: true, // kube-system
		Value: pod(func(b widget.Pen, p *model.Pod) widget.Cell { return widget.Say(b.Dim, p.Pod.Namespace) }),
	}, {
		Name: "pod", Head: "POD", Help: "the pod; unfolded, its sandboxes and containers",
		Least: 14, Fair: 24, Most: 64, Fits: true,
		Value: pod(func(b widget.Pen, p *model.Pod) widget.Cell {
			return widget.Name(b.Text, cmp.Or(p.Pod.Name, string(p.Pod.UID))).Signed(b.Symbols.Folded)
		}),
		Draw: drawName,
	}, {
		Name: "state", Head: "STATE", Help: "the worst that is known of the pod, or the state of its part; the filter's state: knows these words",
		Least: 11, Rank: 1,
		Value: func(b widget.Pen, r row) widget.Cell {
			symbol, st := r.of.Look(b.Theme)
			word := r.of.Says(b.At)
			if r.part != nil && !r.hangs() {
				word = r.part.State.String()
				symbol, st = say.State(b.Theme, r.part.State)
			}
			return widget.Say(st, word).Signed(symbol).Sorted(int64(r.of.State))
		},
	}, {
		Name: "run", Head: "RUN", Help: "containers that run, of those that should; not the kubelet's readiness, which asks probes too",
		Least: 5, Rank: 2, Right: true,
		Value: pod(running), Draw: drawRun,
	}, {
		Name: "ctrs", Head: "CTRS", Help: "the state of each container, a sign each",
		Least: 5, Rank: 10,
		Value: pod(running), Draw: drawDots,
	}, {
		Name: "exit", Head: "EXIT", Help: "the exit code of the container that ended last",
		Least: 4, Rank: 5, Right: true, Gives: true,
		Value: func(b widget.Pen, r row) widget.Cell {
			switch {
			case r.part == nil:
				return say.Exit(b, r.of.Exit, r.of.HasExit)
			case r.part.Status != nil:
				return say.Exit(b, r.part.Status.ExitCode, r.part.Status.State == pleg.Exited)
			}
			return widget.Cell{}
		},
	}, {
		Name: "rst", Head: "RST", Help: "restarts, of the container that was restarted most",
		Least: 4, Rank: 5, Right: true, Gives: true,
		Value: func(b widget.Pen, r row) widget.Cell {
			n := uint64(r.of.Restarts)
			if r.part != nil {
				n = uint64(r.part.Attempt)
			}
			if n == 0 {
				return widget.Cell{}
			}
			return widget.Count(b.Text, n)
		},
	}, {
		Name: "age", Head: "AGE", Help: "how long ago it was made, by the runtime's clock",
		Least: 5, Rank: 7, Right: true,
		Value: func(b widget.Pen, r row) widget.Cell {
			at := r.of.Created
			if r.part != nil {
				at = r.part.Created
			}
			if at.IsZero() {
				return widget.Say(b.Dim, "-")
			}
			return widget.Since(b.Text, at)
		},
	}, {
		Name: "lastevent", Head: "LAST EVENT", Help: "the last event that the kubelet's PLEG would have made, and how long ago; none for what was there at the start",
		Least: 13, Rank: 9,
		Value: func(b widget.Pen, r row) widget.Cell {
			e := &r.of.Pod.LastEvent
			if e.Seq == 0 || e.AtStart || r.part != nil && e.ID != r.part.ID {
				return widget.Cell{}
			}
			return say.LastEvent(b, e)
		},
	}, {
		Name: "inspect", Head: "INSPECT", Help: "how long the last inspection of the pod took, or hangs",
		Least: 7, Fair: 21, Rank: 8, Right: true, // remarks get some cells before LAST EVENT has its own
		Value: pod(func(b widget.Pen, p *model.Pod) widget.Cell {
			if p.Out != nil {
				out := p.Out.Elapsed(b.At)
				return widget.Out(b.Bad, out.Round(time.Second)).Sorted(hanging + int64(out))
			}
			return say.Took(b, p.Pod.InspectLast, p.Pod.Inspected > 0)
		}),
	}, {
		Name: "worst", Head: "WORST", Help: "how long the slowest inspection of the pod took",
		Least: 6, Rank: 11, Right: true,
		Value: pod(func(b widget.Pen, p *model.Pod) widget.Cell {
			return say.Took(b, p.Pod.InspectWorst, p.Pod.Inspected > 0)
		}),
	}, {
		Name: "remark", Head: "REMARK", Help: "what is wrong, in the runtime's words where it said so; of a container what it runs",
		Least: 8, Fair: 13, Most: 200, Rank: 4, Gives: true,
		Value: remarked,
	},
}

// Column returns the name of the column that a person means by it or by its head, in any case; where
// there is none, the names of all.
func Column(name string) (string, []string) {
	var all []string
	for _, c := range columns {
		if c.Is(name) {
			return c.Name, nil
		}
		all = append(all, c.Name)
	}
	return "", all
}

// hanging is longer than any inspection has taken.
const hanging = 1 << 62

// pod returns the Value of a column that is blank for the parts of a pod.
func pod(value func(b widget.Pen, p *model.Pod) widget.Cell) func(widget.Pen, row) widget.Cell {
	return func(b widget.Pen, r row) widget.Cell {
		if r.part != nil {
			return widget.Cell{}
		}
		return value(b, r.of)
	}
}

// hangs reports whether the call that hangs is about this part of the pod.
func (r row) hangs() bool { return r.part != nil && r.of.Hangs(r.part) }

// running is how many containers run; where most are missing comes first.
func running(b widget.Pen, p *model.Pod) widget.Cell {
	st := theme.When(p.Running < p.Wanted && p.State != diagnose.PodCompleted, b.Warn, b.Text)
	return widget.Number(st, int64(p.Running)).Sorted(int64(p.Wanted-p.Running)<<32 + int64(p.Wanted))
}

func drawRun(l *text.Line, b widget.Pen, r row, w int) {
	switch {
	case r.part != nil:
		l.Space(w)
	case r.of.State == diagnose.PodUnlisted:
		l.Right(b.Dim, "?", w)
	default:
		l.Right(running(b, r.of).Look, ran(r.of.Running, r.of.Wanted, w), w)
	}
}

// drawDots draws one sign for the state of each container.
func drawDots(l *text.Line, b widget.Pen, r row, w int) {
	var now []*pleg.Container
	if r.part == nil {
		now = r.of.Now
	}
	for i, c := range now {
		if i == w-1 && len(now) > w {
			l.Put(b.Dim, "+")
			return
		}
		symbol, st := say.State(b.Theme, c.State)
		l.Sign(st, symbol)
	}
	l.Space(w - len(now))
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
		sign := theme.When(r.open, s.Unfolded, s.Folded)
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

// remarked returns what is wrong with a pod, or what its part runs.
func remarked(b widget.Pen, r row) widget.Cell {
	what, st := r.of.Remark, b.Warn
	switch {
	case r.hangs():
		what, st = r.of.Problem, b.Bad
	case r.part != nil:
		what, st = remark(r.part), b.Dim
	case r.of.State >= diagnose.PodFailing:
		st = b.Bad
	}
	return widget.Say(theme.When(what == "", b.Text, st), what)
}

// remark is why a container ended, or else what it runs.
func remark(p *model.Part) string {
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
