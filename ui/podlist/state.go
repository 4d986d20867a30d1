package podlist

import (
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A State is what the runtime's own words make of a pod, the worst last. What they mean
// is in [Legend].
type State uint8

const (
	Running State = iota
	Completed
	Empty
	Unlisted
	Created
	Exited
	Crashed
	Dead
	Unknown
	Failing
	Hung
)

// states has the word of each State, and what that means.
var states = [...][2]string{
	Running:   {"running", "its containers run"},
	Completed: {"completed", "every container ended with 0"},
	Empty:     {"empty", "a sandbox and no container"},
	Unlisted:  {"unlisted", "a sandbox; no list of containers was answered yet"},
	Created:   {"created", "a container was never started"},
	Exited:    {"exited", "a container ended and was not replaced"},
	Crashed:   {"error", "a container ended with another code than 0"},
	Dead:      {"dead", "a container has died, as an event source saw: the kubelet takes it to be running"},
	Unknown:   {"unknown", "the runtime does not know a container's state"},
	Failing:   {"failing", "the last inspection failed"},
	Hung:      {"hung", "an inspection is out and does not come back"},
}

// foundWords are the states of pods that only a finding knows of.
var foundWords = map[diagnose.ID]string{
	diagnose.InspectHung: states[Hung][0], diagnose.InspectFailing: states[Failing][0], diagnose.GhostRunning: "ghost", diagnose.LeftRunning: "left", diagnose.ProcessStuck: "stuck",
	diagnose.HelperStuck: "stuck",
}

// Legend returns every word that [Pod.Word] may return, and what it means.
func Legend() [][2]string {
	return append(states[:len(states):len(states)],
		[2]string{"ghost", "listed as running, but there is no process"},
		[2]string{"left", "listed as ended, but its containers run on"},
		[2]string{"stuck", "a process of it, or of the runtime for it, stands still"},
	)
}

// Words returns the words of the Legend, in the order of the alphabet.
func Words() []string {
	var words []string
	for _, line := range Legend() {
		words = append(words, line[0])
	}
	slices.Sort(words)
	return words
}

// Word returns the pod's state in one word: that of the finding about it where the
// runtime's own words are those of a sound pod.
func (p *Pod) Word() string {
	if word, known := foundWords[p.Trouble.By]; known && p.foundOnly() {
		return word
	}
	return states[p.State][0]
}

// Listed returns the word of the state in which a sandbox or container of the pod was listed,
// unless it has died since, as only an event source saw.
func (p *Pod) Listed(id string, s pleg.State) string {
	if _, died := p.Dead[id]; died {
		return states[Dead][0]
	}
	return s.String()
}

// Says returns Word in at most nine cells, and of a call that hangs for how long.
func (p *Pod) Says(at time.Time) string {
	if p.State != Hung {
		return p.Word()
	}
	switch out := p.Out.Elapsed(at).Round(time.Second); {
	case out < 1000*time.Second:
		return "hung " + strconv.Itoa(int(out/time.Second)) + "s"
	case out < 1000*time.Minute:
		return "hung " + strconv.Itoa(int(out/time.Minute)) + "m"
	default:
		return "hung " + text.Age(out)
	}
}

// Look returns the look of what Word says.
func (p *Pod) Look(t *theme.Theme) (symbol string, st theme.Style) {
	s := &t.Symbols
	switch {
	case p.foundOnly():
		return finding.Look(t, p.Trouble.Severity)
	case p.State == Running:
		return s.Running, t.Good
	case p.State == Completed:
		return s.Exited, t.Dim
	case p.State == Empty || p.State == Exited:
		return s.Exited, t.Text
	case p.State == Unlisted:
		return s.Unknown, t.Dim
	case p.State == Created:
		return s.Created, t.Info
	case p.State == Dead:
		return s.Unseen, t.Bad
	case p.State == Unknown:
		return s.Unknown, t.Warn
	}
	return s.Bad, t.Bad
}

// foundOnly reports whether a finding knows what the runtime's own words do not tell.
func (p *Pod) foundOnly() bool { return p.Trouble.By != "" && p.State < Crashed }

// classify finds the state that matters most.
func (p *Pod) classify() State {
	seen := [pleg.Unknown + 1]int{}
	bad, allKnown := false, true
	for _, c := range p.Now {
		seen[min(c.State, pleg.Unknown)]++
		st := p.end(c)
		bad = bad || st != nil && st.ExitCode != 0
		allKnown = allKnown && st != nil
	}
	switch {
	case p.Out != nil:
		return Hung
	case p.Pod.StatusErr != nil || p.Pod.Failure != nil:
		return Failing
	case seen[pleg.Unknown] > 0:
		return Unknown
	case p.Dead != nil:
		return Dead
	case bad:
		return Crashed
	case seen[pleg.Created] > 0:
		return Created
	case seen[pleg.Running] > 0:
		return Running
	case seen[pleg.Exited] > 0 && allKnown:
		return Completed
	case seen[pleg.Exited] > 0:
		return Exited
	case slices.ContainsFunc(p.Seen.Sandboxes, func(s pleg.Sandbox) bool { return s.State == pleg.Running }):
		return Empty
	}
	return Exited
}

// How bad it is, the worst last. It goes by what stays as it is while a container
// crashes and is started again: a row that jumps cannot be read.
const (
	sound = iota
	flawed
	warned
	failing
	critical
	hung
)

// rankOf returns how far up a pod stands.
func (p *Pod) rankOf() uint8 {
	switch {
	case p.Out != nil || p.Trouble.By == diagnose.InspectHung:
		return hung
	case p.Trouble.Severity == diagnose.Critical:
		return critical
	case p.State == Failing:
		return failing
	case p.Trouble.Severity == diagnose.Warning:
		return warned
	case p.Problem != "":
		return flawed
	}
	return sound
}
