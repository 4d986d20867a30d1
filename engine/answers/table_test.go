package answers

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

func TestStateOf(t *testing.T) {
	now := time.Unix(10_000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	out := func(op call.Operation, d time.Duration) call.Flight { return call.Flight{Op: op, Since: ago(d)} }
	answered := func(op call.Operation, d, took time.Duration) Calls { return Calls{Op: op, LastOK: ago(d), Last: took} }
	failed := func(op call.Operation, d, took time.Duration) Calls {
		return Calls{Op: op, LastErr: call.ErrOther, LastErrAt: ago(d), Last: took}
	}
	failure := &Failure{Flight: call.Flight{Op: call.Status}}
	const status, version, ms = call.Status, call.Version, time.Millisecond
	tests := []struct {
		name    string
		t       Table
		status  State
		tooSlow string // begins so; empty if it is not
	}{
		{"never asked", Table{}, Unknown, ""},
		{"answered at once", Table{Calls: []Calls{answered(status, time.Second, ms)}}, InTime, ""},
		{"answered long ago", Table{Calls: []Calls{answered(status, time.Minute, ms)}}, Unknown, ""},
		{"slow", Table{Calls: []Calls{answered(status, time.Second, 1500*ms)}}, IsSlow, "the last Status took 1.5s"},
		{"slow long ago", Table{Calls: []Calls{answered(status, time.Minute, 1500*ms)}}, Unknown, ""},
		{"ran out", Table{Calls: []Calls{failed(status, time.Second, 2*time.Second)}, StatusErr: failure}, IsSlow, "the last Status took 2s"},
		{"fails at once", Table{Calls: []Calls{failed(status, time.Second, ms)}, StatusErr: failure}, Fails, ""},
		{"fails with an error that is an answer elsewhere", Table{Calls: []Calls{answered(status, time.Second, ms)}, StatusErr: failure}, Fails, ""},
		{"out for a moment", Table{InFlight: []call.Flight{out(status, Late)}, Calls: []Calls{answered(status, 5*time.Second, ms)}}, InTime, ""},
		{"out", Table{InFlight: []call.Flight{out(status, 1200*ms)}, Calls: []Calls{answered(status, 5*time.Second, ms)}}, IsLate, "Status: no reply for 1.2s"},
		{"Version slow beside it", Table{Calls: []Calls{answered(status, time.Second, ms), answered(version, time.Second, 3*time.Second)}}, InTime, ""},
		{"Version slow, and it fails", Table{Calls: []Calls{failed(status, time.Second, ms), answered(version, time.Second, 3*time.Second)}, StatusErr: failure}, Fails, "the last Version took 3s"},
		{"Version out, and it was never asked", Table{InFlight: []call.Flight{out(version, 3*time.Second)}}, Unknown, "Version: no reply for 3s"},
	}
	for _, tt := range tests {
		if got, _ := tt.t.StateOf(status, now, 15*time.Second); got != tt.status {
			t.Errorf("%s: state %v, want %v", tt.name, got, tt.status)
		}
		if got := tt.t.TooSlow(now, 15*time.Second); (got == "") != (tt.tooSlow == "") || !strings.HasPrefix(got, tt.tooSlow) {
			t.Errorf("%s: too slow: %q, want %q", tt.name, got, tt.tooSlow)
		}
	}
}

func TestUsualList(t *testing.T) {
	s := func(seconds ...int) (took []time.Duration) {
		for _, n := range seconds {
			took = append(took, time.Duration(n)*time.Second)
		}
		return took
	}
	tests := []struct {
		name string
		took []time.Duration
		want int
	}{
		{"none", nil, 0},
		{"one", s(4), 4},
		{"half of them", s(9, 1, 5, 3, 7), 5},
		{"become slow", s(1, 1, 1, 1, 1, 8, 6), 6},
		{"one slow one", s(1, 1, 1, 1, 1, 1, 6), 1},
	}
	for _, tt := range tests {
		if got := UsualList(tt.took); got != time.Duration(tt.want)*time.Second {
			t.Errorf("%s: %v, want %d s", tt.name, got, tt.want)
		}
	}
}
