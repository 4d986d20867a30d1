package survey

import (
	"slices"
	"testing"
	"time"
)

// next asks as many as may be asked now.
func next(s *Survey, now time.Time) (places []int) {
	for place, more := s.Next(now); more; place, more = s.Next(now) {
		places = append(places, place)
	}
	return places
}

func TestSurveyAsksSoManyAtOnce(t *testing.T) {
	s := New(Policy{Width: 2}, []int{4, 3, 2})
	now := time.Time{}
	if got := next(s, now); !slices.Equal(got, []int{4, 3}) || !s.Out() || s.Over() {
		t.Fatalf("asked %v, out %v, over %v", got, s.Out(), s.Over())
	}
	s.Returned()
	if got := next(s, now); !slices.Equal(got, []int{2}) {
		t.Fatalf("asked %v", got)
	}
	s.Returned()
	if s.Over() {
		t.Error("over while one is out")
	}
	s.Returned()
	if !s.Over() || s.Out() {
		t.Errorf("over %v, out %v", s.Over(), s.Out())
	}
}

// What failed is asked once more only when all others have returned.
func TestSurveyRetriesLast(t *testing.T) {
	s := New(Policy{Width: 2}, First(3))
	now := time.Time{}
	next(s, now)
	s.Returned()
	s.Retry(0)
	if got := next(s, now); !slices.Equal(got, []int{2}) || s.Retrying() {
		t.Fatalf("asked %v, retrying %v", got, s.Retrying())
	}
	s.Returned()
	if got := next(s, now); got != nil {
		t.Fatalf("asked %v while one is out for the first time", got)
	}
	s.Returned()
	s.Held = true
	if got := next(s, now); got != nil || !s.Retrying() || s.Over() {
		t.Fatalf("held: asked %v, retrying %v, over %v", got, s.Retrying(), s.Over())
	}
	s.Held = false
	if got := next(s, now); !slices.Equal(got, []int{0}) || s.Retrying() {
		t.Errorf("asked %v, retrying %v", got, s.Retrying())
	}
}

func TestSurveyEnds(t *testing.T) {
	until := time.Unix(100, 0)
	tests := []struct {
		name  string
		end   func(s *Survey)
		at    time.Time
		means bool // what the call that is out brings
		over  bool // once that has returned
	}{
		{"it goes on", func(*Survey) {}, until.Add(-1), true, false},
		{"no time is left", func(*Survey) {}, until, true, false},
		{"it is ended", (*Survey).End, until.Add(-1), false, true},
		{"it is ended, and one is to be asked before the rest", func(s *Survey) { s.End(); s.Prepend(7) }, until.Add(-1), false, true},
	}
	for _, tt := range tests {
		s := New(Policy{Width: 1, Until: until}, First(3))
		s.Next(until.Add(-2))
		tt.end(s)
		means := s.Returned()
		if over := s.Over(); means != tt.means || over != tt.over {
			t.Errorf("%s: an answer means something: %v, over: %v", tt.name, means, over)
		}
		if got := next(s, tt.at); (got == nil) != (tt.over || s.Late(tt.at)) {
			t.Errorf("%s: asked %v", tt.name, got)
		}
	}
}

func TestSurveyPutsBack(t *testing.T) {
	s := New(Policy{Width: 1}, First(2))
	place, _ := s.Next(time.Time{})
	s.PutBack(place)
	s.Prepend(5)
	var got []int
	for range 3 {
		got = append(got, next(s, time.Time{})...)
		s.Returned()
	}
	if !slices.Equal(got, []int{5, 0, 1}) || !s.Over() {
		t.Errorf("asked %v, over %v", got, s.Over())
	}
}
