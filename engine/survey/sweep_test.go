package survey

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

var (
	timedOut = &call.Error{Op: call.ContainerStatus, Kind: call.ErrDeadline}
	nobody   = &call.Error{Op: call.ContainerStatus, Kind: call.ErrUnavailable}
	missing  = &call.Error{Op: call.ContainerStatus, Kind: call.ErrNotFound}
	other    = &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther}
)

// sweepOf returns a sweep that begins at the zero time, of so many objects a lists has.
func sweepOf(objects, width int) *Sweep {
	return NewSweep(time.Time{}, make([]call.Flight, objects), nil, answers.Policy{Width: width, CallTimeout: answers.Hung}, time.Time{}, nil)
}

// take has the call about an object return.
func (s *Sweep) take(place int, o answers.Outcome) {
	s.Asking.Returned()
	s.Take(place, o, false)
}

func ids(outcomes []answers.Outcome) (ids []string) {
	for _, o := range outcomes {
		ids = append(ids, o.ID)
	}
	return ids
}

// However much fails, and however often somebody looks, what was found is not
// copied again and again; and nothing that was handed out changes.
func TestSweepOfManyThatFail(t *testing.T) {
	const objects, looks = 20_000, 100
	s := sweepOf(objects, 4)
	var lists [][]answers.Outcome
	calls := 0
	for place, more := s.Asking.Next(time.Time{}); more; place, more = s.Asking.Next(time.Time{}) {
		s.take(place, answers.Outcome{Flight: call.Flight{Since: time.Unix(int64(place), 0)}, Took: time.Millisecond, Err: nobody})
		if calls++; calls%(objects/looks) != 0 {
			continue
		}
		r := s.Result()
		if have := len(r.Failed); have < len(s.bad)*7/8 || have < min(len(s.bad), wholeLists) {
			t.Errorf("%d of %d that failed", have, len(s.bad))
		}
		if n := len(lists); len(r.Failed) > 0 && (n == 0 || &lists[n-1][0] != &r.Failed[0]) {
			lists = append(lists, r.Failed)
		}
	}
	if len(lists) < 2 || len(lists) > looks/3 {
		t.Errorf("%d lists were made for %d looks", len(lists), looks)
	}
	s.End(time.Unix(1, 0))
	if r := s.Result(); len(r.Failed) != objects || r.Done != objects || r != s.Result() {
		t.Errorf("at the end %d failed, %d done", len(r.Failed), r.Done)
	}
	for _, list := range lists {
		if !slices.IsSortedFunc(list, func(a, b answers.Outcome) int { return a.Since.Compare(b.Since) }) {
			t.Error("a list that is not in order")
		}
	}
}

func TestSlowestOfASweep(t *testing.T) {
	took := []time.Duration{3, 9, 9, 1, 4, 9, 2, 8}
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}} {
		s := sweepOf(len(took), len(took))
		next(s.Asking, time.Time{})
		for _, place := range order {
			s.take(place, answers.Outcome{Flight: call.Flight{ID: fmt.Sprint(place)}, Took: took[place]})
		}
		if got := ids(s.Result().Slowest); !slices.Equal(got, []string{"1", "2", "5", "7", "4"}) {
			t.Errorf("slowest = %v", got)
		}
	}
}

// Of a sweep that is given up what hung alone stays, and what may have hung with all the
// rest does not: 1 is outrun by 2 and 4, 3 by 4 alone, 5 by none.
func TestGiveUp(t *testing.T) {
	s := sweepOf(8, 2)
	for place := range 6 {
		if place%2 == 0 {
			next(s.Asking, time.Time{})
		}
		o := answers.Outcome{Flight: call.Flight{ID: string(rune('a' + place)), Since: time.Unix(int64(place), 0)}}
		if place%2 == 1 {
			o.Took, o.Err = answers.Hung, timedOut
		}
		s.take(place, o)
	}
	s.GiveUp(time.Unix(9, 0), "it is silent")
	if r := s.Result(); !slices.Equal(ids(r.Hung), []string{"b"}) || r.Done != 4 || !r.CutOff || r.GivenUp != "it is silent" || r.Ended != time.Unix(9, 0) {
		t.Errorf("sweep = %+v", r)
	}
}

// What came of an object decides whether it is asked once more, and what the sweep says.
func TestSweepTakes(t *testing.T) {
	ok, hangs := answers.Outcome{}, answers.Outcome{Took: answers.Hung, Err: timedOut}
	fails, gone, away := answers.Outcome{Err: other}, answers.Outcome{Err: missing}, answers.Outcome{Err: nobody}
	early := answers.Outcome{Took: time.Millisecond, Err: timedOut} // the runtime says that somebody else gave it no answer
	tests := []struct {
		name                        string
		first, again                []answers.Outcome // of the sweep; of those asked again after its end
		hung, failed, flaky, retold int
	}{
		{name: "answers", first: []answers.Outcome{ok}},
		{name: "has gone", first: []answers.Outcome{gone}},
		{name: "hangs", first: []answers.Outcome{hangs}, hung: 1, retold: 1},
		{name: "fails once", first: []answers.Outcome{fails, ok}, flaky: 1},
		{name: "fails twice", first: []answers.Outcome{fails, fails}, failed: 1},
		{name: "fails, then hangs", first: []answers.Outcome{fails, hangs}, hung: 1, retold: 1},
		{name: "passes on a deadline", first: []answers.Outcome{early, early}, failed: 1},
		{name: "hangs, then answers", first: []answers.Outcome{hangs}, again: []answers.Outcome{ok}},
		{name: "hangs again", first: []answers.Outcome{hangs}, again: []answers.Outcome{hangs, hangs}, hung: 1, retold: 3},
		{name: "hangs, then fails", first: []answers.Outcome{hangs}, again: []answers.Outcome{fails}, failed: 1},
		{name: "hangs, then nobody is there", first: []answers.Outcome{hangs}, again: []answers.Outcome{away}, hung: 1, retold: 1},
		{name: "fails twice, then answers", first: []answers.Outcome{fails, fails}, again: []answers.Outcome{ok}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, now := sweepOf(1, 4), time.Unix(100, 0)
			for _, o := range tt.first {
				if got := next(s.Asking, now); len(got) != 1 {
					t.Fatalf("asked %v", got)
				}
				s.take(0, o)
			}
			if !s.Asking.Over() || s.Done != 1 {
				t.Fatalf("over %v, done %d", s.Asking.Over(), s.Done)
			}
			s.End(now)
			for _, o := range tt.again {
				if now = s.AskAgainAt(); now.IsZero() {
					t.Fatal("not asked again")
				}
				s.AskAgain(now)
				next(s.Asking, now)
				o.At = now
				s.take(0, o)
			}
			r := s.Result()
			var came time.Time
			if n := len(tt.again); n > 0 && tt.again[n-1] != away {
				came = now
			}
			for _, o := range slices.Concat(r.Hung, r.Failed) {
				if o.At != came {
					t.Errorf("came at %v, want %v", o.At, came)
				}
			}
			if len(r.Hung) != tt.hung || len(r.Failed) != tt.failed || r.Flaky != tt.flaky {
				t.Errorf("sweep = %+v", r)
			}
			if tt.hung > 0 && r.Hung[0].InRow != tt.retold {
				t.Errorf("hung %d times in a row, want %d", r.Hung[0].InRow, tt.retold)
			}
			if at := s.AskAgainAt(); at.IsZero() != (tt.hung+tt.failed == 0) {
				t.Errorf("asked again at %v", at)
			}
		})
	}
}

// What hung is asked again for as long as that means something to somebody.
func TestSweepAsksAgainForSoLong(t *testing.T) {
	s, end := sweepOf(1, 4), time.Unix(100, 0)
	next(s.Asking, end)
	s.take(0, answers.Outcome{Took: answers.Hung, Err: timedOut})
	s.End(end)
	asked := 0
	for at := s.AskAgainAt(); !at.IsZero(); at = s.AskAgainAt() {
		if asked == 0 && at != end.Add(answers.AgainFirst) || at.After(end.Add(answers.AgainFor)) {
			t.Fatalf("asked again %v after the end", at.Sub(end))
		}
		if asked++; asked%2 == 0 {
			s.PutOff(at)
			continue
		}
		s.AskAgain(at)
		next(s.Asking, at)
		s.take(0, answers.Outcome{Took: answers.Hung, Err: timedOut})
	}
	if want := int(answers.AgainFor / answers.AgainPeriod); asked < want-1 || asked > want+1 {
		t.Errorf("asked again %d times, want about %d", asked, want)
	}
}

// What no list has is named by what comes to be known of it, and what the runtime does not
// know of that is said.
func TestSweepOfTheUnlisted(t *testing.T) {
	sandbox := call.Flight{Op: call.PodSandboxStatus, ID: "sandbox"}
	inside := Unlisted{Flight: call.Flight{Op: call.ContainerStatus, ID: "inside"}, SandboxID: "sandbox"}
	listed := call.Flight{Op: call.ContainerStatus, ID: "listed"}
	s := NewSweep(time.Time{}, []call.Flight{listed}, []Unlisted{{Flight: sandbox}, inside}, answers.Policy{Width: 3, CallTimeout: answers.Hung}, time.Time{}, nil)
	next(s.Asking, time.Time{})
	pod := pleg.PodRef{Namespace: "web", Name: "shop"}
	s.Name(func(f call.Flight, sandboxID string) (pleg.PodRef, string) {
		if sandboxID == "sandbox" {
			return pod, "app"
		}
		return pleg.PodRef{}, ""
	})
	s.take(0, answers.Outcome{Flight: listed, Err: missing})
	s.take(1, answers.Outcome{Flight: sandbox, Err: missing})
	s.take(2, answers.Outcome{Flight: inside.Flight, Took: answers.Hung, Err: timedOut})
	r := s.Result()
	if !slices.Equal(ids(r.Unknown), []string{"sandbox"}) || r.Unknown[0].Pod != (pleg.PodRef{}) {
		t.Errorf("unknown: %+v", r.Unknown)
	}
	if !slices.Equal(ids(r.Hung), []string{"inside"}) || r.Hung[0].Pod != pod || r.Hung[0].Container != "app" {
		t.Errorf("hung: %+v", r.Hung)
	}
}

// An object that a relist was answered for hangs no more; one that failed there, too, does.
func TestHeardOf(t *testing.T) {
	const objects = 20
	s := sweepOf(objects, 4)
	for i := range objects {
		s.objects[i].Op, s.objects[i].ID = call.ContainerStatus, fmt.Sprint(i)
		place, _ := s.Asking.Next(time.Time{})
		s.take(place, answers.Outcome{Flight: s.objects[i].Flight, Took: answers.Hung, Err: timedOut})
	}
	s.HeardOf(answers.Outcome{Flight: s.objects[8].Flight}) // the sweep may still ask
	s.End(time.Time{}.Add(time.Second))
	s.HeardOf(answers.Outcome{Flight: s.objects[7].Flight, Took: answers.Hung, Err: timedOut})
	s.HeardOf(answers.Outcome{Flight: call.Flight{Op: call.PodSandboxStatus, ID: s.objects[7].ID}})
	if n := s.HungSoFar(); n != objects {
		t.Errorf("%d hang", n)
	}
	s.HeardOf(answers.Outcome{Flight: s.objects[8].Flight})
	if r := s.Result(); len(r.Hung) != objects-1 || r.Hung[7].ID != s.objects[7].ID || r.Hung[8].ID != s.objects[9].ID {
		t.Errorf("%d hang, among them %s and %s", len(r.Hung), r.Hung[7].ID, r.Hung[8].ID)
	}
}
