package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

func stopShims(r *evidence.Report, pods ...int) {
	for _, i := range pods {
		shimOf(r, i).State = evidence.Stopped
	}
}

// When a runtime starts, it ends the containers of the shims that it does not reach: with such shims a restart of the
// runtime has a risk.
func TestRestartBesideStoppedShims(t *testing.T) {
	const meanwhile = "; no pod starts or stops until it answers again"
	frozen := func(r *evidence.Report) {
		stopShims(r, 1)
		shimOf(r, 2).State, shimOf(r, 2).For = evidence.Frozen, time.Minute
	}
	for _, tt := range []struct {
		change func(*evidence.Report)
		want   string
	}{
		{func(*evidence.Report) {}, "containers live on"},
		{func(r *evidence.Report) { stopShims(r, 1) }, "the containers of pod ns-1/pod-00001 (shim stopped) end, other containers live on"},
		{func(r *evidence.Report) { stopShims(r, 1, 2) }, "the containers of 2 pods (shims stopped) end, other containers live on"},
		{frozen, "the containers of 2 pods (shims stuck) end, other containers live on"},
		{func(r *evidence.Report) {
			stopShims(r, 1)
			shimOf(r, 1).Own = false
		}, "containers live on"},
	} {
		in := healthy(3).input()
		in.Evidence, in.Endpoint = looked(healthy(3)), "unix://"+ourSocket
		tt.change(in.Evidence)
		v := factsOf(in)
		if got := v.restart("x"); len(got) != 1 || got[0].Risk != tt.want+meanwhile {
			t.Errorf("%q, want %q", got, tt.want)
		}
		start, acts := firstAct(v.start())
		if risky := strings.Contains(tt.want, " end,"); !acts || start.Risky() != risky || risky && !strings.Contains(start.Risk, "end, other running containers live on") {
			t.Errorf("start %+v", start)
		}
	}
}

// While containerd waits for stopped shims, nobody listens at its socket: the step lets the shims continue, and does
// not restart containerd once more.
func TestStartIsHeldUpByShims(t *testing.T) {
	for age, held := range map[time.Duration]bool{12 * time.Second: true, time.Hour: false} {
		n := healthy(3)
		n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		stopShims(in.Evidence, 1, 2)
		in.Evidence.Processes.Daemons[0].Age = age
		f := findingOf(t, Diagnose(in), RuntimeDown)
		if act := f.act(); !strings.HasPrefix(act.Command, "kill -CONT ") || act.Risky() {
			t.Errorf("%v: act %q", age, act)
		}
		if said := "still starting, likely held up by 2 stopped shims"; strings.Contains(f.Summary, said) != held {
			t.Errorf("%v: %s", age, f.Summary)
		}
		if h := factsOf(in).headline(nil); h.Word != "RUNTIME DOWN" || strings.Contains(h.Text, "containerd began 14s ago and is still starting") != held {
			t.Errorf("%v: headline %+v", age, h)
		}
		for _, s := range f.Next {
			if strings.Contains(s.Command, "systemctl restart") && (held || s.When != notEnough) {
				t.Errorf("%v: %s", age, s)
			}
		}
	}
}

// Before a runtime that is down is started, the shims that it would not reach continue.
func TestShimsGoOnBeforeAStart(t *testing.T) {
	n := healthy(3)
	n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	stopShims(in.Evidence, 1)
	in.Evidence.Processes.Daemons = nil
	f := findingOf(t, Diagnose(in), RuntimeDown)
	if act := f.act(); !strings.HasPrefix(act.Command, "kill -CONT ") || act.Risky() {
		t.Errorf("act %q of %q", act, f.Next)
	}
}

// A process that is stopped writes nothing: no signal asks it to.
func TestNoDumpIsAskedOfAStoppedRuntime(t *testing.T) {
	n := healthy(3).hang(call.ListContainers, 40*time.Second).probesAnswered()
	in := n.input()
	in.Evidence = looked(n)
	for stopped, want := range map[bool]int{false: 1, true: 0} {
		in.Evidence.Processes.Daemons[0].State = map[bool]evidence.State{false: evidence.Sleeping, true: evidence.Stopped}[stopped]
		if got := factsOf(in).dumpFirst(); len(got) != want {
			t.Errorf("stopped: %v: %v", stopped, got)
		}
	}
}
