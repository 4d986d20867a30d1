package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

var epoch = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// A seen is one transition in words that a test can compare.
type seen struct {
	at   time.Duration // since epoch
	what string        // "shop/search-0 opensearch#0 STOPPED 137 OOMKilled"
}

func (s seen) String() string { return fmt.Sprintf("%8.3fs %s", s.at.Seconds(), s.what) }

// watch returns a scene of a scenario and what has happened on it so far.
func watch(t *testing.T, name string, seed uint64) (*scene, *[]seen) {
	t.Helper()
	sc, err := scenarioNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	sn, log := newScene(sc, seed, epoch, nil), &[]seen{}
	sn.onChange = func(tr transition) { *log = append(*log, seen{tr.at.Sub(epoch), tr.words()}) }
	return sn, log
}

func (t transition) words() string {
	kind := strings.TrimSuffix(strings.TrimPrefix(t.kind.String(), "CONTAINER_"), "_EVENT")
	if t.container == nil {
		return fmt.Sprintf("%s sandbox#%d %s", t.sandbox.pod.ref(), t.sandbox.status.Metadata.Attempt, kind)
	}
	text := fmt.Sprintf("%s %s#%d %s", t.sandbox.pod.ref(), t.container.spec.name, t.container.status.Metadata.Attempt, kind)
	if t.kind == cri.ContainerEventType_CONTAINER_STOPPED_EVENT {
		s := t.container.status
		text += fmt.Sprintf(" %d %s", s.ExitCode, s.Reason)
	}
	return text
}

// The promises of the tour's summary, and when in a cycle each is kept.
var promises = []struct {
	name   string
	within time.Duration
	parts  []string // found in one line of the log each, in this order, all of one pod
}{
	{"a new pod of the rolling update", 10 * time.Second, []string{"shop/checkout- sandbox#0 STARTED", "migrate#0 STOPPED 0 Completed", "checkout#0 STARTED"}},
	{"an old pod of the rolling update", 20 * time.Second, []string{"shop/checkout- checkout#0 STOPPED 143 Error", "sandbox#0 STOPPED", "checkout#0 DELETED", "sandbox#0 DELETED"}},
	{"crash loop", 45 * time.Second, []string{"shop/ledger- ledger#0 STOPPED 1 Error", "ledger#1 STOPPED 1 Error", "ledger#0 DELETED", "ledger#2 STOPPED 1 Error", "ledger#3 STARTED"}},
	{"job", 30 * time.Second, []string{"batch/report- fetch#0 STOPPED 0 Completed", "report#0 STARTED", "report#0 STOPPED 0 Completed", "sandbox#0 STOPPED"}},
	{"OOM kill", 30 * time.Second, []string{"shop/search-0 opensearch#0 STOPPED 137 OOMKilled", "opensearch#1 STARTED"}},
	{"stuck in Created", 60 * time.Second, []string{"batch/thumbnailer- thumbnailer#0 CREATED", "sandbox#0 STOPPED", "thumbnailer#0 DELETED"}},
	{"deletion", 60 * time.Second, []string{"shop/search-0 sandbox#0 DELETED", "shop/search-0 sandbox#0 STARTED"}},
	{"killed after its grace period", 50 * time.Second, []string{"shop/frontend- nginx#0 STOPPED 137 Error", "nginx#0 DELETED"}},
}

func TestTourKeepsItsPromisesInEveryCycle(t *testing.T) {
	sn, log := watch(t, "tour", 7)
	const cycles = 15 // long enough for back-offs to grow where they should not
	sn.advance(epoch.Add(cycles * tourCycle))
	for n := range cycles {
		of := between(*log, time.Duration(n)*tourCycle, time.Duration(n+1)*tourCycle)
		for _, p := range promises {
			if !kept(of, p.parts, time.Duration(n)*tourCycle+p.within) {
				t.Errorf("cycle %d: no %s within %v", n+1, p.name, p.within)
			}
		}
		if !replaced(of) {
			t.Errorf("cycle %d: no sandbox was replaced and its container started again", n+1)
		}
	}
}

func between(log []seen, from, to time.Duration) []seen {
	var part []seen
	for _, s := range log {
		if s.at >= from && s.at < to {
			part = append(part, s)
		}
	}
	return part
}

// kept reports whether the log of some pod holds the parts in their order.
func kept(log []seen, parts []string, by time.Duration) bool {
	prefix, first, _ := strings.Cut(parts[0], " ")
	parts = append([]string{first}, parts[1:]...)
	next := map[string]int{} // by pod, which part is awaited
	for _, s := range log {
		pod, what, _ := strings.Cut(s.what, " ")
		if n := next[pod]; strings.HasPrefix(pod, prefix) && s.at < by && strings.HasSuffix(s.what, what) &&
			(what == parts[n] || s.what == parts[n]) {
			if next[pod]++; next[pod] == len(parts) {
				return true
			}
		}
	}
	return false
}

// replaced reports whether a pod got its next sandbox and a container in it.
func replaced(log []seen) bool {
	wants := map[string]string{} // by pod
	for _, s := range log {
		pod, what, _ := strings.Cut(s.what, " ")
		var n int
		if _, err := fmt.Sscanf(what, "sandbox#%d STOPPED", &n); err == nil && strings.HasSuffix(what, "STOPPED") {
			wants[pod] = fmt.Sprintf("sandbox#%d STARTED", n+1)
			continue
		}
		switch want := wants[pod]; {
		case want == "":
		case what == want:
			wants[pod] = "a container"
		case want == "a container" && strings.HasSuffix(what, " STARTED"):
			return true
		}
	}
	return false
}

func TestTourDoesNotGrow(t *testing.T) {
	sn, _ := watch(t, "tour", 3)
	sizes := func() [5]int {
		held := 0
		for _, p := range sn.pods {
			held += len(p.containers)
		}
		return [5]int{len(sn.pods), len(sn.sandboxes), len(sn.containers), held, len(sn.queue)}
	}
	// After one round of replaced sandboxes every pod has had its dead containers.
	sn.advance(epoch.Add(15 * tourCycle))
	first := sizes()
	if n := first[0]; n < 20 || n > 30 {
		t.Errorf("%d pods, want about 25", n)
	}
	sn.advance(epoch.Add(15*tourCycle + 2*time.Hour))
	for i, n := range sizes() {
		if n > first[i]+6 { // the lengths of the last deletions differ
			t.Errorf("after two hours: %v (pods, sandboxes, containers, held, tasks); before: %v", sizes(), first)
			break
		}
	}
}
