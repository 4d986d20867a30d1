package pleg

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func seconds(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

func TestSubscribeIsStrictAndNotifyIsNot(t *testing.T) {
	writes := []struct {
		name  string
		write func(*Cache, time.Time)
	}{
		{"set", func(c *Cache, at time.Time) { c.Set("a", &PodStatus{}, nil, at) }},
		{"update time", func(c *Cache, at time.Time) { c.UpdateTime(at) }},
		{"observe", func(c *Cache, at time.Time) { c.Observe("a", at) }},
	}
	for _, tt := range writes {
		t.Run(tt.name, func(t *testing.T) {
			c := NewCache(false)
			c.Set("a", &PodStatus{}, nil, seconds(1))
			tt.write(c, seconds(5))
			if _, served := c.Subscribe("a", seconds(4)); !served {
				t.Error("not served though what is known is newer")
			}
			ticket, served := c.Subscribe("a", seconds(5))
			if served {
				t.Error("served by what is of the same age")
			}
			tt.write(c, seconds(5))
			if got := c.Served(); len(got) != 1 || got[0].Ticket != ticket {
				t.Errorf("served %+v, want ticket %d: it was written again", got, ticket)
			}
			c.Subscribe("a", seconds(6))
			tt.write(c, seconds(5))
			if c.Waiting() != 1 || c.Served() != nil {
				t.Error("served by what is older")
			}
		})
	}
}

func TestWaitersGetWhatIsHeldThen(t *testing.T) {
	c := NewCache(false)
	failed := errors.New("failed")
	first, _ := c.Subscribe("a", seconds(1))
	second, _ := c.Subscribe("b", seconds(1))
	third, _ := c.Subscribe("a", seconds(2))
	c.Set("a", nil, failed, seconds(1))
	c.UpdateTime(seconds(3))
	c.Set("a", &PodStatus{}, nil, seconds(4))
	got := c.Served()
	want := []Ticket{first, second, third}
	if !slices.EqualFunc(got, want, func(a Answer, k Ticket) bool { return a.Ticket == k }) {
		t.Fatalf("served %+v, want tickets %v", got, want)
	}
	if got[0].Err != failed || got[2].Err != failed {
		t.Errorf("served %+v, want the error that was held then", got)
	}
	if got[1].Status == nil || got[1].Status.UID != "b" || got[1].Err != nil {
		t.Errorf("served %+v, want an empty status of a pod that is not held", got[1])
	}
}

func TestDeleteServesNobody(t *testing.T) {
	c := NewCache(false)
	c.Set("a", &PodStatus{}, nil, seconds(1))
	c.Subscribe("a", seconds(1))
	c.Delete("a")
	if c.Served() != nil || c.Waiting() != 1 {
		t.Error("a deletion served somebody")
	}
	c.UpdateTime(seconds(2))
	if got := c.Served(); len(got) != 1 || got[0].Status.UID != "a" {
		t.Errorf("served %+v, want an empty status after the relist", got)
	}
}

func TestSetOverwritesTheNewer(t *testing.T) {
	for _, evented := range []bool{false, true} {
		c := NewCache(evented)
		c.Set("a", &PodStatus{PodRef: PodRef{Name: "new"}}, nil, seconds(2))
		if got := c.Set("a", &PodStatus{PodRef: PodRef{Name: "old"}}, nil, seconds(1)); got == evented {
			t.Errorf("evented %v: Set of older data = %v", evented, got)
		}
		if !c.Set("a", nil, nil, seconds(2)) {
			t.Errorf("evented %v: refused data of the same age", evented)
		}
	}
}

func TestObserveHoldsNothingNew(t *testing.T) {
	c := NewCache(false)
	c.Observe("a", seconds(9))
	if _, ok := c.Entry("a"); ok || c.Len() != 0 {
		t.Error("a pod is held that nobody inspected")
	}
	c.Set("a", nil, errInspect, seconds(1))
	c.Observe("a", seconds(9))
	e, _ := c.Entry("a")
	if !e.Observed.Equal(seconds(9)) || !e.Modified.Equal(seconds(1)) || e.Err != errInspect {
		t.Errorf("entry = %+v, want the same one, observed later", e)
	}
}
