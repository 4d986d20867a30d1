package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/calls"
	"github.com/plegtop/plegtop/ui/pane"
)

// TestInFlight holds that the calls that are out stand below the rows, few of many, and no
// stream, which is meant to be.
func TestInFlight(t *testing.T) {
	snap := busy(Healthy())
	web := Find(snap, "cart-7d9c5b7d4-2m4ns")
	for _, op := range []call.Operation{call.GetContainerEvents, call.Status, call.PodSandboxStatus, call.ContainerStatus, call.Version} {
		snap.InFlight = append(snap.InFlight, call.Flight{Op: op, Since: Ago(90 * time.Second)})
	}
	snap.InFlight[2].Pod = web.PodRef
	s := NewStage(calls.New(pane.Settings{}), View(snap), 118, 20)
	if head := s.Row("IN FLIGHT"); !strings.HasSuffix(head, "and 1 more") {
		t.Errorf("the heads are %q:\n%s", head, s.Text())
	}
	if s.Row("PodSandboxStatus    1m30s") == "" || !strings.Contains(s.Row("PodSandboxStatus    1m30s"), "shop/cart-7d9c5b7d4-2m4ns") {
		t.Errorf("no line has the sandbox:\n%s", s.Text())
	}
}

// slow is the hung node with three objects that were slow, one of which failed.
func slow() *pane.View {
	s := busy(Probed(nil))
	s.Policy = answers.Policy{ListTimeout: 2 * time.Minute, CallTimeout: 2 * time.Second}
	c := &s.Calls[5]
	for i, name := range []string{"prometheus-0", "cart-7d9c5b7d4-2m4ns", "node-exporter-9v6wq"} {
		p := Find(s, name)
		o := answers.Outcome{
			Flight: call.Flight{Op: call.ContainerStatus, Pod: p.PodRef, Container: p.Current.Containers[0].Name, ID: p.Current.Containers[0].ID},
			At:     Ago(time.Duration(20*i+5) * time.Second), Took: 9 * time.Second / time.Duration(1+5*i*i),
		}
		if i == 0 {
			o.Err = &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Code: "Unknown", Text: "ttrpc: closed"}
			c.Errors, c.ByCode, c.LastErr, c.LastErrAt = 1, []answers.CodeCount{{Code: "Unknown", Count: 1}}, o.Err, o.At
		}
		c.Slowest = append(c.Slowest, o)
	}
	return View(s)
}

func callsSheetOf(v *pane.View, op string, w, h int) *Stage {
	return NewStage(calls.Sheet(v, pane.Subject{Operation: op}), v, w, h)
}

func TestCallsSheet(t *testing.T) {
	callsSheetOf(slow(), "ContainerStatus", 118, 40).EverySize(t)
	callsSheetOf(View(Healthy()), "Version", 1, 1).EverySize(t)
	callsSheetOf(View(Hostile()), "ContainerStatus", 1, 1).EverySize(t)
	never := Healthy()
	never.Calls[0] = answers.Calls{Op: call.Version}
	if s := callsSheetOf(View(never), "Version", 78, 19); s.Row("none yet") == "" || s.Row("p50") != "" || s.Row("Slowest") != "" {
		t.Errorf("of an operation that was never asked for:\n%s", s.Text())
	}
	for _, of := range []pane.Subject{{}, {Operation: "StopContainer"}, {Event: 1}, {ObjectRef: pleg.ObjectRef{ID: "a"}}} {
		if calls.Sheet(View(Healthy()), of) != nil {
			t.Errorf("%+v has a sheet here", of)
		}
	}
}

// TestSheetKeys holds that a row of the pane is about its operation, and a row of its sheet
// about an object: enter goes on to the pod, and the id can be copied.
func TestSheetKeys(t *testing.T) {
	if on := NewStage(calls.New(pane.Settings{}), View(Healthy()), 118, 20).Press("G").Subject(); on != (pane.Subject{Operation: "ContainerStatus"}) {
		t.Errorf("the last row is about %+v", on)
	}
	s := callsSheetOf(slow(), "ContainerStatus", 118, 40)
	for i, pod := range []string{"nfs-client", "prometheus-0"} {
		s.Press("enter", "c")
		if got := s.Sheets[i]; got.Pod.Name != pod || got.ID == "" || got.Operation != "" || s.Clip != got.ID {
			t.Errorf("enter opens %+v and copies %q, want what is known of %s", got, s.Clip, pod)
		}
		s.Press("down")
	}
	s.NoSheet = true
	if s.Press("enter"); s.Said != "no pod under the cursor" {
		t.Errorf("of a pod that has gone it says %q", s.Said)
	}
	s = callsSheetOf(View(Healthy()), "Status", 118, 40)
	if s.Press("enter", "c"); len(s.Sheets) > 0 || s.Clip != "Status" || s.Subject().Operation != "Status" {
		t.Errorf("without objects it opens %v, copies %q", s.Sheets, s.Clip)
	}
}
