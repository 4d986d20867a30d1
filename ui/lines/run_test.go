package lines

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The runtime and the node are looked at side by side: each waits for the other
// to have begun.
func TestCheckLooksAtBoth(t *testing.T) {
	node, runtime := make(chan struct{}), make(chan struct{})
	now := time.Now()
	look := Look{
		Runtime: func(context.Context) (*engine.Snapshot, error) {
			close(runtime)
			<-node
			return &engine.Snapshot{
				Seq: 1, At: now, Started: now, Release: 37, Conditions: []pleg.Condition{{Type: "RuntimeReady"}, {Type: "NetworkReady", Status: true}},
			}, nil
		},
		Node: func(context.Context) *evidence.Report {
			close(node)
			<-runtime
			return &evidence.Report{Kubelet: evidence.Kubelet{Version: "v1.33.4"}}
		},
	}
	var out bytes.Buffer
	code, err := Check(t.Context(), &out, look, CheckOptions{JSON: true})
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
	look := Look{
		Runtime: func(context.Context) (*engine.Snapshot, error) { return nil, wrong },
		Node:    func(context.Context) *evidence.Report { return nil },
	}
	var out bytes.Buffer
	if code, err := Check(t.Context(), &out, look, CheckOptions{}); code != ExitCannotTell || err != wrong || out.Len() > 0 {
		t.Errorf("exit code %d, error %v, output %q", code, err, &out)
	}
}
