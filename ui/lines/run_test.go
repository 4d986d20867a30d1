package lines

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// looked returns what makes one look, and sees s.
func looked(s *engine.Snapshot, err error) func(context.Context) (*engine.Snapshot, error) {
	return func(context.Context) (*engine.Snapshot, error) { return s, err }
}

func TestCheck(t *testing.T) {
	now := time.Now()
	s := &engine.Snapshot{
		Seq: 1, At: now, Started: now, Policy: answers.Policy{Once: true}, Release: 37, Conditions: []pleg.Condition{{Type: "RuntimeReady"}, {Type: "NetworkReady", Status: true}},
		Table:    answers.Table{Calls: []answers.Calls{{Op: call.Status, Count: 1, LastOK: now}}},
		Evidence: &evidence.Report{Kubelet: evidence.Kubelet{Version: "v1.33.4"}},
	}
	var out bytes.Buffer
	code, err := Check(t.Context(), &out, looked(s, nil), CheckOptions{JSON: true})
	if code != ExitCritical || err != nil {
		t.Errorf("exit code %d, error %v, want %d for a runtime that is not ready", code, err, ExitCritical)
	}
	for _, want := range []string{`"kubeletVersion":"v1.33.4"`, `"id":"runtime-not-ready"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, &out)
		}
	}
}

func TestCheckThatCannotLook(t *testing.T) {
	wrong := errors.New("no release")
	var out bytes.Buffer
	if code, err := Check(t.Context(), &out, looked(nil, wrong), CheckOptions{}); code != ExitCannotTell || err != wrong || out.Len() > 0 {
		t.Errorf("exit code %d, error %v, output %q", code, err, &out)
	}
}

// A look of the demo shows how far it is, and takes the line away. A look that somebody cancels has
// no verdict.
func TestExamining(t *testing.T) {
	server, client := demo(t, sim.Config{Scenario: "hung-inspect", Ahead: time.Minute})
	var progress bytes.Buffer
	look := Examining(engine.Config{Runtime: client, Clock: server}, engine.Examination{Deadline: 2 * time.Second}, NewProgress(&progress, 80))
	if s, err := look(t.Context()); err != nil || s.Sweep == nil {
		t.Errorf("%+v, %v", s, err)
	}
	if said := progress.String(); !strings.Contains(said, "check ") || !strings.HasSuffix(said, " \r") {
		t.Errorf("progress %q", said)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if s, err := look(ctx); s != nil || !errors.Is(err, why) {
		t.Errorf("canceled: %+v, %v", s, err)
	}
}
