package sim

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// frames has what the stacks of containerd 2.4.2 are made of: parts, each under its name,
// with a function, its arguments and where it stands in a line.
//
//go:embed goroutines.txt
var frames string

// part returns the lines of one part of frames.
func part(name string) string {
	_, rest, _ := strings.Cut(frames, "\n# "+name+"\n")
	lines, _, _ := strings.Cut(rest, "\n#")
	return strings.TrimSuffix(lines, "\n")
}

// A dump is text in the form in which Go writes the stacks of all goroutines.
type dump struct {
	strings.Builder
	now time.Time
	n   int // the last goroutine's number
}

// add writes one goroutine that has waited since then. In the parts that it stands in,
// words in capitals stand for what is given in pairs.
func (d *dump) add(state string, since time.Time, parts []string, words ...string) {
	d.n += 7
	if waited := d.now.Sub(since); waited >= time.Minute {
		state += fmt.Sprintf(", %d minutes", int(waited.Minutes()))
	}
	fmt.Fprintf(d, "goroutine %d [%s]:\n", d.n, state)
	replace := strings.NewReplacer(append(words, "CTX", address("context", fmt.Sprint(d.n)), "PARENT", fmt.Sprint(d.n-3))...)
	for _, name := range parts {
		for line := range strings.SplitSeq(part(name), "\n") {
			function, place, _ := strings.Cut(line, " @")
			fmt.Fprintf(d, "%s\n\t/go/src/%s\n", replace.Replace(function), place)
		}
	}
	d.WriteByte('\n')
}

// address returns where in memory something of a container is: the same for all who
// have it in their hands.
func address(what, of string) string {
	h := fnv.New32a()
	h.Write([]byte(what + of))
	return fmt.Sprintf("0xc%09x", uint64(h.Sum32())<<3)
}

// goroutines returns a dump of the runtime's goroutines, of which each that answers a call
// waits with it. Held are the calls that wait beside those of other clients.
func (sn *scene) goroutines(held []Call) string {
	d := &dump{now: sn.clock, n: 200}
	d.add("running", sn.clock, []string{"dump"})
	for _, c := range sn.containers {
		if c.runs() {
			d.add("select", time.Unix(0, c.status.StartedAt), []string{"task", "begun by Wait"}, "VERB", "Wait")
		}
	}
	for _, c := range slices.Concat(sn.others(), held) {
		d.answering(sn, c)
	}
	return d.String()
}

// answering writes the goroutine that answers a call which does not end.
func (d *dump) answering(sn *scene, c Call) {
	state, parts, about := "chan receive", []string{"waits"}, c.ID
	for _, e := range sn.helpers {
		switch {
		case e.call == c.Method && c.Method == "RunPodSandbox":
			state, parts = "syscall", []string{"plugin"}
		case e.call == c.Method:
			state, parts = "select", []string{"task", e.call}
		case e.locks && (c.Method == "ListContainers" || c.Method == "ContainerStatus" && c.ID == e.of.status.Id):
			state, parts, about = "sync.RWMutex.RLock", []string{"lock", c.Method}, e.of.status.Id
		default:
			continue
		}
		break
	}
	d.add(state, c.At, append(parts, "handler"), "METHOD", c.Method, "VERB", verbs[c.Method],
		"LOCK", address("status", about), "CONTAINER", address("metadata", about))
}

// verbs are what the shims are asked for by the calls that helpers hold up.
var verbs = map[string]string{"UpdateContainerResources": "Update", "StopContainer": "Kill", "StartContainer": "Create"}
