package answers

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// How long a call must be out to hang depends on its kind. The time is longer if all calls are slow, if lists
// always take long, or if tasks wait for the CPU, and it begins only when the runtime has come back.
func TestState(t *testing.T) {
	now := time.Unix(1000, 0)
	answered := func(op call.Operation, took time.Duration) Calls {
		return Calls{Op: op, Count: 100, P50: took, LastOK: now.Add(-time.Minute)}
	}
	healthy := []Calls{answered(call.Version, time.Millisecond), answered(call.ListContainers, time.Millisecond)}
	slow := []Calls{answered(call.Version, 900*time.Millisecond), answered(call.ListContainers, 900*time.Millisecond)}
	tests := []struct {
		name       string
		m          Moment
		op         call.Operation
		late, hung time.Duration
	}{
		{"healthy", Moment{Table: &Table{Calls: healthy}}, call.ListContainers, time.Second, 3 * time.Second},
		{"lists, the last of which hung", Moment{Table: &Table{Calls: healthy, Failure: &Failure{Flight: call.Flight{Op: call.ListContainers, Since: now.Add(-3 * time.Minute)}, Err: call.ErrDeadline, At: now.Add(-time.Minute)}}}, call.ListContainers, time.Second, 2 * time.Second},
		{"another call", Moment{Table: &Table{Calls: healthy}}, call.ContainerStatus, time.Second, 2 * time.Second},
		{"never answered", Moment{Table: new(Table)}, call.Status, time.Second, 2 * time.Second},
		{"slow in all it does", Moment{Table: &Table{Calls: slow}}, call.Version, 1800 * time.Millisecond, 2700 * time.Millisecond},
		{"lists that take long", Moment{Table: &Table{Calls: healthy, UsualList: 4 * time.Second}}, call.ListContainers, 8 * time.Second, 12 * time.Second},
		{"lists of two seconds", Moment{Table: &Table{Calls: healthy, UsualList: 2100 * time.Millisecond}}, call.ListContainers, 4200 * time.Millisecond, 6300 * time.Millisecond},
		{"other calls there", Moment{Table: &Table{Calls: healthy, UsualList: 4 * time.Second}}, call.Version, time.Second, 2 * time.Second},
		{"lists that take for ever", Moment{Table: &Table{Calls: healthy, UsualList: time.Minute}}, call.ListContainers, 20 * time.Second, 30 * time.Second},
		{"no CPU", Moment{Table: &Table{Calls: healthy}, Busy: true}, call.ListContainers, 5 * time.Second, 5 * time.Second},
		{"just back", Moment{Table: &Table{Calls: healthy}, Back: now.Add(-500 * time.Millisecond)}, call.ListContainers, time.Hour, time.Hour},
		{"the event stream", Moment{Table: &Table{Calls: healthy}}, call.GetContainerEvents, time.Hour, time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.At = now
			for _, out := range []time.Duration{time.Second, tt.late - 1, tt.late, tt.hung - 1, tt.hung} {
				want := InTime
				switch {
				case out >= time.Hour: // never
				case out >= tt.hung:
					want = Hangs
				case out >= tt.late:
					want = IsLate
				}
				if got := tt.m.State(call.Flight{Op: tt.op, Since: now.Add(-out)}); got != want {
					t.Errorf("out for %v: state %d, want %d", out, got, want)
				}
			}
		})
	}
}

// A single look does not come back to check: it uses all answers that it got, and none is too young.
func TestBounds(t *testing.T) {
	live, once := Policy{}.Bounds(), Policy{Once: true}.Bounds()
	if once.FreshFor <= live.FreshFor || once.RecentFor <= live.RecentFor {
		t.Error("what one look heard is old to it")
	}
	if once.FailingLong != 0 || once.OwnersWait != 0 || once.ListFails > 1 || once.Outages != 0 || once.ProbeAfter != 0 {
		t.Errorf("one look waits for more: %+v", *once)
	}
}
