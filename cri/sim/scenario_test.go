package sim

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestScenariosAreListed(t *testing.T) {
	want := []string{
		"tour", "quiet", "slow", "hung-inspect", "restart", "failing-store", "overflow", "unhealthy", "inspect-failing", "list-too-big", "status-lock", "hung-update",
		"deadlock", "churn-storm", "network-not-ready", "no-address", "ghost", "event-drift",
	}
	var got []string
	for _, sc := range Scenarios() {
		got = append(got, sc.Name)
		if sc.Summary == "" || strings.Contains(sc.Summary, "\n") {
			t.Errorf("%s: summary %q is not one line", sc.Name, sc.Summary)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("scenarios %v, want %v", got, want)
	}
}

// playable returns the scenarios without those that are only a fault.
func playable() []scenario {
	return slices.DeleteFunc(scenarios(), func(sc scenario) bool { return sc.pods == nil })
}

func TestEveryScenarioStartsAndAnswers(t *testing.T) {
	for _, sc := range playable() {
		t.Run(sc.name, func(t *testing.T) {
			s, c := start(t, sc.name)
			if err := s.setFault("slow", false); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Version(t.Context(), &cri.VersionRequest{}); err != nil {
				t.Error(err)
			}
			list, err := c.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(list.Items); (n == 0) != (sc.name == "empty") {
				t.Errorf("%d pods are there from the start", n)
			}
		})
	}
}

func TestNothingHappensIn(t *testing.T) {
	for name, size := range map[string][2]int{"quiet": {110, 2}, "big": {1000, 3}} {
		sn, log := watch(t, name, 1)
		sn.advance(epoch.Add(time.Hour))
		if len(*log) != 0 {
			t.Errorf("%s: %v", name, (*log)[0])
		}
		if len(sn.sandboxes) != size[0] || len(sn.containers) != size[0]*size[1] {
			t.Errorf("%s: %d sandboxes and %d containers, want %v pods of as many", name, len(sn.sandboxes), len(sn.containers), size)
		}
	}
}

func TestCrashloopShowsGrowingBackOff(t *testing.T) {
	sn, log := watch(t, "empty", 1)
	turn("crashloop", true)(sn)
	sn.advance(epoch.Add(2 * time.Minute))
	reasons, times := map[string]int{}, map[string]int{}
	for _, s := range *log {
		if pod, how, ok := strings.Cut(s.what, " STOPPED "); ok && strings.HasPrefix(pod, "staging/") {
			reasons[how]++
			times[strings.Fields(pod)[0]]++
		}
	}
	if len(times) != 12 || len(reasons) != len(crashes) {
		t.Errorf("%d pods crash in %d ways, want 12 and %d: %v", len(times), len(reasons), len(crashes), slices.Collect(maps.Keys(reasons)))
	}
	for pod, n := range times {
		if n < 4 || n > 6 { // at once, then after 10, 20, 40 s
			t.Errorf("%s crashed %d times in two minutes, want about 5", pod, n)
		}
	}
}

func TestHungInspectBeginsAfterFiveSeconds(t *testing.T) {
	sn, log := watch(t, "hung-inspect", 1)
	call := Call{Method: "ContainerStatus", Container: "client", Pod: sn.victim().pod.ref()}
	for _, tt := range []struct {
		at    time.Duration
		hangs bool
	}{{4900 * time.Millisecond, false}, {5 * time.Second, true}, {time.Hour, true}} {
		sn.advance(epoch.Add(tt.at))
		if got := len(sn.decide(call).holds) > 0; got != tt.hangs {
			t.Errorf("at %v the call hangs: %v, want %v", tt.at, got, tt.hangs)
		}
	}
	if !slices.ContainsFunc(*log, func(s seen) bool {
		return strings.HasPrefix(s.what, "default/nfs-client-") && s.at >= 5*time.Second && s.at < 6*time.Second
	}) {
		t.Error("nfs-client does not change when its inspection begins to hang")
	}
}

func TestRestartTakesTheRuntimeAwayAgainAndAgain(t *testing.T) {
	sn, _ := watch(t, "restart", 1)
	for n := range 5 {
		for _, tt := range []struct {
			at   time.Duration
			away bool
		}{{7 * time.Second, false}, {9 * time.Second, true}, {13 * time.Second, true}, {15 * time.Second, false}} {
			at := time.Duration(n)*20*time.Second + tt.at
			sn.advance(epoch.Add(at))
			if sn.away != tt.away {
				t.Errorf("at %v away is %v, want %v", at, sn.away, tt.away)
			}
		}
	}
}

// TestOverflow counts what a relist a second would send to the event channel
// from when the sync loop has surely stopped reading until it reads again.
func TestOverflow(t *testing.T) {
	sn, log := watch(t, "overflow", 1)
	for n := range 3 {
		begin := epoch.Add(time.Duration(n) * 50 * time.Second)
		sn.advance(begin.Add(3 * time.Second))
		if !sn.runtimeBad {
			t.Fatalf("cycle %d: the runtime says that it is ready", n+1)
		}
		sn.advance(begin.Add(8 * time.Second)) // the sync loop asks every 5 s
		before := len(*log)
		for sn.runtimeBad {
			sn.advance(sn.now.Add(time.Second))
		}
		if until := sn.now.Sub(begin); until > 31*time.Second {
			t.Errorf("cycle %d: ready after %v", n+1, until)
		}
		sent := 0
		for _, s := range (*log)[before:] {
			if strings.Contains(s.what, " STARTED") || strings.Contains(s.what, " STOPPED") {
				sent++
			}
		}
		if sent < 1200 {
			t.Errorf("cycle %d: %d events while nobody reads, want clearly more than 1000", n+1, sent)
		}
	}
	sn.advance(epoch.Add(3*50*time.Second + 400*time.Millisecond)) // before the next ones start
	if n := len(sn.pods); n > 12 {
		t.Errorf("%d pods are left over", n)
	}
}
