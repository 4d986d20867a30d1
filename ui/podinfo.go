package ui

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// A condition is what the state column says of a pod.
type condition uint8

const (
	running   condition = iota
	completed           // every container ended with 0
	bare                // a sandbox and no container
	created             // a container that was never started
	exited              // a container that ended and was not replaced
	crashed             // one that ended with another code than 0, as far as is known
	unknown
	failing // the last inspection failed
	hung    // its inspection is out and does not come back
)

var conditionWords = [...]string{"running", "completed", "no ctrs", "created", "exited", "error", "unknown", "failing", "hung"}

// A podInfo is what the rows of one pod show, worked out when its pod changed.
type podInfo struct {
	pod  *engine.Pod
	seen *pleg.Pod
	out  *engine.Flight // the call of its inspection that hangs, or nil

	trouble  diagnose.Trouble
	state    condition
	problem  string // in a few words; empty if nothing is wrong
	running  int
	wanted   int // containers that are there to run: all but those that ended well
	restarts uint32
	exit     int32 // of the container that ended last, if hasExit
	hasExit  bool
	created  time.Time
	remark   string // why a container ended, or what fails: from the runtime, not cleaned

	need need // of the columns

	sifted, passed bool // whether the filter has been asked, and what it said

	statuses pleg.Lookup
	now      []*pleg.Container // the newest of each name, in the order of their names
	tree     []treeRow         // what the pod holds, as it is shown unfolded
}

// foundWords are the states of pods that only a finding knows of.
var foundWords = map[diagnose.ID]string{
	diagnose.InspectHung: "hung", diagnose.InspectFailing: "failing", diagnose.GhostRunning: "ghost", diagnose.LeftRunning: "left", diagnose.ProcessStuck: "stuck",
}

// foundOnly reports whether a finding knows what the runtime's own words do not
// tell.
func (f *podInfo) foundOnly() bool { return f.trouble.By != "" && f.state < crashed }

// A treeRow is a sandbox or a container of a pod.
type treeRow struct {
	sandbox bool
	last    bool // the last sandbox, or the last container below it
	id      string
	name    string // of a container
	state   pleg.State
	attempt uint32
	created time.Time
	image   string                // of a container
	status  *pleg.ContainerStatus // of a container, if the cache has one
}

// inform works out what the rows of p show, of which a call hangs unless out is nil.
func inform(p *engine.Pod, out *engine.Flight, t diagnose.Trouble) *podInfo {
	f := &podInfo{pod: p, seen: p.Seen(), out: out, trouble: t, problem: t.Text, statuses: p.Status.Lookup()}
	if f.out != nil {
		f.problem = f.out.Op.String() + " hangs"
	}
	sandboxes, containers := f.sorted()
	f.restartsAndAge(sandboxes, containers)
	f.count()
	f.state = f.classify()
	f.tree = f.branches(sandboxes, containers)
	f.remark = f.explain()
	f.need = need{
		namespace: min(text.Width(p.Namespace), podColumns[colNamespace].most),
		pod:       min(text.Width(p.Name)+2, podColumns[colPod].most),
		remark:    min(text.Width(f.remark), podColumns[colRemark].most),
	}
	return f
}

// word says the state in at most nine cells; of a call that hangs, for how long.
func (f *podInfo) word(at time.Time) string {
	switch word, known := foundWords[f.trouble.By]; {
	case f.foundOnly() && known:
		return word
	case f.state != hung:
		return conditionWords[f.state]
	}
	out := f.out.Elapsed(at).Round(time.Second)
	if out >= 1000*time.Second {
		return "hung " + text.Age(out)
	}
	return "hung " + strconv.Itoa(int(out/time.Second)) + "s"
}

// hangs reports whether the call that hangs is about r.
func (f *podInfo) hangs(r treeRow) bool { return f.out != nil && f.out.ID != "" && f.out.ID == r.id }

// sorted returns the sandboxes, oldest first, and the containers by name, the
// newest of each name first.
func (f *podInfo) sorted() (sandboxes []*pleg.Sandbox, containers []*pleg.Container) {
	for i := range f.seen.Sandboxes {
		sandboxes = append(sandboxes, &f.seen.Sandboxes[i])
	}
	for i := range f.seen.Containers {
		containers = append(containers, &f.seen.Containers[i])
	}
	slices.SortStableFunc(sandboxes, func(a, b *pleg.Sandbox) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.CreatedAt.Compare(b.CreatedAt))
	})
	slices.SortFunc(containers, func(a, b *pleg.Container) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return sandboxes, containers
}

func (f *podInfo) restartsAndAge(sandboxes []*pleg.Sandbox, containers []*pleg.Container) {
	for _, c := range containers {
		f.restarts = max(f.restarts, c.Attempt)
		if len(f.now) == 0 || f.now[len(f.now)-1].Name != c.Name {
			f.now = append(f.now, c)
		}
	}
	for _, s := range sandboxes {
		if !s.CreatedAt.IsZero() && (f.created.IsZero() || s.CreatedAt.Before(f.created)) {
			f.created = s.CreatedAt
		}
	}
}

func (f *podInfo) count() {
	var ended time.Time
	for _, c := range f.now {
		st := f.end(c)
		switch {
		case c.State == pleg.Running:
			f.running++
			f.wanted++
		case st == nil || st.ExitCode != 0:
			f.wanted++
		}
		if st != nil && !st.FinishedAt.Before(ended) {
			f.exit, f.hasExit, ended = st.ExitCode, true, st.FinishedAt
		}
	}
	if f.running == 0 && f.wanted == 0 {
		f.wanted = len(f.now)
	}
}

// classify finds the word that matters most.
func (f *podInfo) classify() condition {
	states := [pleg.Unknown + 1]int{}
	for _, c := range f.now {
		states[min(c.State, pleg.Unknown)]++
	}
	bad := slices.ContainsFunc(f.now, func(c *pleg.Container) bool {
		st := f.end(c)
		return st != nil && st.ExitCode != 0
	})
	switch {
	case f.out != nil:
		return hung
	case f.pod.StatusErr != nil || f.pod.Failure != nil:
		return failing
	case states[pleg.Unknown] > 0:
		return unknown
	case bad:
		return crashed
	case states[pleg.Created] > 0:
		return created
	case states[pleg.Running] > 0:
		return running
	case states[pleg.Exited] > 0 && f.allKnown():
		return completed
	case states[pleg.Exited] > 0:
		return exited
	case f.sandboxReady():
		return bare
	}
	return exited
}

func (f *podInfo) allKnown() bool {
	return !slices.ContainsFunc(f.now, func(c *pleg.Container) bool { return f.end(c) == nil })
}

func (f *podInfo) sandboxReady() bool {
	return slices.ContainsFunc(f.seen.Sandboxes, func(s pleg.Sandbox) bool { return s.State == pleg.Running })
}

// branches puts each container below its sandbox, and those whose sandbox is
// not listed below the newest one.
func (f *podInfo) branches(sandboxes []*pleg.Sandbox, containers []*pleg.Container) []treeRow {
	rows := make([]treeRow, 0, len(sandboxes)+len(containers))
	if len(sandboxes) == 0 {
		return f.leaves(rows, containers)
	}
	of := make(map[string][]*pleg.Container, len(sandboxes))
	for _, s := range sandboxes {
		of[s.ID] = nil
	}
	newest := sandboxes[len(sandboxes)-1].ID
	for _, c := range containers {
		id := c.SandboxID
		if _, listed := of[id]; !listed {
			id = newest
		}
		of[id] = append(of[id], c)
	}
	for i, s := range sandboxes {
		rows = append(rows, treeRow{
			sandbox: true, last: i == len(sandboxes)-1, id: s.ID, state: s.State, attempt: s.Attempt, created: s.CreatedAt,
		})
		rows = f.leaves(rows, of[s.ID])
	}
	return rows
}

// leaves adds the containers of one sandbox.
func (f *podInfo) leaves(rows []treeRow, containers []*pleg.Container) []treeRow {
	for i, c := range containers {
		rows = append(rows, treeRow{
			id: c.ID, name: c.Name, state: c.State, attempt: c.Attempt, created: c.CreatedAt, image: c.Image,
			last: i == len(containers)-1, status: f.statuses.Container(c.ID),
		})
	}
	return rows
}

// explain returns the text that says most about what is wrong.
func (f *podInfo) explain() string {
	if f.out != nil {
		if f.out.Container != "" {
			return f.out.Container + ": " + f.out.Op.String()
		}
		return f.out.Op.String()
	}
	if f.pod.StatusErr != nil {
		return reason(f.pod.StatusErr)
	}
	for _, c := range f.now {
		if st := f.end(c); st != nil && st.ExitCode != 0 && st.Reason != "" {
			return c.Name + ": " + st.Reason
		}
	}
	return f.problem
}

// end returns how c ended; nil if it has not, or if the cache holds a status from
// before its end, as it does until the pod has been inspected.
func (f *podInfo) end(c *pleg.Container) *pleg.ContainerStatus {
	if st := f.statuses.Container(c.ID); c.State == pleg.Exited && st != nil && st.State == pleg.Exited {
		return st
	}
	return nil
}
