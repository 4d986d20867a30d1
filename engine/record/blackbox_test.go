package record

import (
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A call of the relist that has been out for 10 s brings a deep look into the recording, with all
// that it saw, though nobody reads what the engine sees; also where lists always take long.
func TestWhatHangsIsLookedIntoWhileRecorded(t *testing.T) {
	for _, usual := range []time.Duration{0, 9 * time.Second} {
		const healthy, hangs = 3 * time.Minute, time.Minute
		saw := new(evidence.Report)
		filled(reflect.ValueOf(saw).Elem(), "seen")
		r := NewRecorder(Options{})
		var began time.Time
		var hanging atomic.Pointer[time.Time]
		synctest.Test(t, func(t *testing.T) {
			began = time.Now()
			n, asked := newNode(3, 2), atomic.Int64{}
			n.asked = func(op call.Operation) {
				switch {
				case op != call.ListContainers || asked.Add(1) == 1:
				case time.Since(began) < healthy:
					time.Sleep(usual)
				case hanging.CompareAndSwap(nil, new(time.Now())):
					time.Sleep(hangs)
				}
			}
			run{node: n, tape: r, look: func(deep bool) *evidence.Report {
				report := *saw
				if report.Processes.Helpers = nil; !deep {
					report.Deep = nil
				}
				return &report
			}}.lasts(t, healthy+hangs+10*time.Second)
		})
		hung := *hanging.Load()
		want := *saw
		want.Processes.Helpers = nil
		var deep time.Time
		p := r.Recording().Play(time.Time{})
		for s, _, err := p.advance(); err == nil; s, _, err = p.advance() {
			in, is := s.in.(engine.Looked)
			if !is || in.Report == nil || in.Report.Deep == nil || s.at.Before(hung) || !deep.IsZero() {
				continue
			}
			deep = s.at
			if diff := cmp.Diff(&want, in.Report); diff != "" {
				t.Errorf("lists take %v: of what was seen (-) there is recorded (+)\n%s", usual, diff)
			}
		}
		p.Close()
		if after := deep.Sub(hung); deep.IsZero() || after > 10*time.Second+time.Millisecond {
			t.Errorf("lists take %v: what hung since %v was looked into after %v", usual, hung.Sub(began), after)
		}
	}
}
