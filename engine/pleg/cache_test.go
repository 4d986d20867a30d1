package pleg

import (
	"testing"
	"time"
)

func seconds(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

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
