package record

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// A call that only the other release makes, and of which nothing is known, waits a second for the
// recorded machine to make it, too. Then it fails and says why.
func TestThroughSaysWhatIsNotRecorded(t *testing.T) {
	r := briefly(t).Recording()
	p := r.Play(time.Time{})
	defer p.Close()
	first, _, err := p.advance()
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.other(p, 36)
	if err != nil {
		t.Fatal(err)
	}
	asked := engine.Call{ID: 1 << 40, Flight: call.Flight{Op: call.ContainerStatus, ID: "nobody", Since: first.at}, Timeout: time.Minute}
	o.out = []engine.Call{asked}
	if err := o.pass(first.at.Add(near / 2)); err != nil || o.missing != 0 {
		t.Errorf("%d calls are missing within half a second: %v", o.missing, err)
	}
	if err := o.pass(first.at.Add(near)); err != nil || o.missing != 1 {
		t.Errorf("%d calls are missing after a second, want 1: %v", o.missing, err)
	}
	again := o.recorder.Recording().Play(time.Time{})
	defer again.Close()
	for {
		s, _, err := again.advance()
		if err != nil {
			t.Fatalf("no error is given to the call: %v", err)
		}
		if in, is := s.in.(engine.Returned); is && in.ID == asked.ID {
			if in.Err == nil || !strings.Contains(in.Err.Error(), "not recorded: only a kubelet 1.36 would have made this call") {
				t.Errorf("it says %v", in.Err)
			}
			return
		}
	}
}
