package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A PodState is the state of a pod according to the runtime; the worst state is last. Its meaning is in [PodLegend].
type PodState uint8

const (
	PodRunning PodState = iota
	PodCompleted
	PodEmpty
	PodUnlisted
	PodCreated
	PodExited
	PodCrashed
	PodUnknown
	PodFailing
	PodHung
)

// podStates has the word of each PodState, and the meaning of the word.
var podStates = [...][2]string{
	PodRunning:   {"running", "its containers run"},
	PodCompleted: {"completed", "every container ended with 0"},
	PodEmpty:     {"empty", "a sandbox and no container"},
	PodUnlisted:  {"unlisted", "a sandbox; no list of containers was answered yet"},
	PodCreated:   {"created", "a container was never started"},
	PodExited:    {"exited", "a container ended and was not replaced"},
	PodCrashed:   {"error", "a container ended with another code than 0"},
	PodUnknown:   {"unknown", "the runtime does not know a container's state"},
	PodFailing:   {"failing", "the last inspection failed"},
	PodHung:      {"hung", "an inspection is out and does not come back"},
}

// PodLegend returns every word that [Standing.Word] may return, with its meaning.
func PodLegend() [][2]string {
	return append(podStates[:len(podStates):len(podStates)],
		[2]string{"ghost", "listed as running, but there is no process"},
		[2]string{"left", "listed as ended, but its containers run on"},
		[2]string{"stuck", "a process of it, or of the runtime for it, stands still"},
	)
}

// PodWords returns the words of the PodLegend in alphabetical order.
func PodWords() []string {
	var words []string
	for _, line := range PodLegend() {
		words = append(words, line[0])
	}
	slices.Sort(words)
	return words
}

// Word returns the pod's state in one word. If the pod is sound according to the runtime, but a finding about it has a
// word, it returns the word of that finding.
func (p *Standing) Word() string {
	if word := p.Trouble.State(); word != "" && p.FoundOnly() {
		return word
	}
	return podStates[p.State][0]
}

// FoundOnly reports whether only a finding shows that something is wrong with the pod, and the runtime's own state does
// not.
func (p *Standing) FoundOnly() bool { return p.Trouble.By != "" && p.State < PodCrashed }

// classify returns the state that matters most.
func (p *Standing) classify() PodState {
	seen := [pleg.Unknown + 1]int{}
	bad, allKnown := false, true
	for _, c := range p.Now {
		seen[min(c.State, pleg.Unknown)]++
		st := p.End(c)
		bad = bad || st != nil && st.ExitCode != 0
		allKnown = allKnown && st != nil
	}
	switch {
	case p.Out != nil:
		return PodHung
	case p.Pod.StatusErr != nil || p.Pod.Failure != nil:
		return PodFailing
	case seen[pleg.Unknown] > 0:
		return PodUnknown
	case bad:
		return PodCrashed
	case seen[pleg.Created] > 0:
		return PodCreated
	case seen[pleg.Running] > 0:
		return PodRunning
	case seen[pleg.Exited] > 0 && allKnown:
		return PodCompleted
	case seen[pleg.Exited] > 0:
		return PodExited
	case slices.ContainsFunc(p.Seen.Sandboxes, func(s pleg.Sandbox) bool { return s.State == pleg.Running }):
		return PodEmpty
	}
	return PodExited
}

// A Rank says how bad the trouble of a pod is; the worst is last. It depends on things that stay the same while a
// container crashes and is started again, because nobody can read a row that jumps.
type Rank uint8

const (
	RankSound    Rank = iota // nothing is wrong
	RankFlawed               // it has a problem of its own, and no finding is about it
	RankWarned               // a warning is about it
	RankFailing              // its inspections fail
	RankCritical             // a critical finding is about it
	RankHung                 // a call about it hangs
)

// rank returns the rank of a pod.
func (p *Standing) rank() Rank {
	switch {
	case p.Out != nil || p.Trouble.State() == podStates[PodHung][0]:
		return RankHung
	case p.Trouble.Severity == Critical:
		return RankCritical
	case p.State == PodFailing:
		return RankFailing
	case p.Trouble.Severity == Warning:
		return RankWarned
	case p.Problem != "":
		return RankFlawed
	}
	return RankSound
}
