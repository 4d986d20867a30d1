package engine

import (
	"testing"
	"time"
)

// Lists that are slow now and then bring about one sweep a minute at most.
func TestSweepsThatNobodyAskedForAreRare(t *testing.T) {
	bubble(t, Config{}, crowd(400), func(b *bench) {
		b.fake.script("ContainerStatus", behaviour{delay: 20 * time.Millisecond})
		b.fake.script("PodSandboxStatus", behaviour{delay: 20 * time.Millisecond})
		b.after(30 * time.Second)
		begun := make(map[time.Time]bool)
		for i := range 240 {
			switch i % 16 {
			case 0:
				b.fake.script("ListContainers", behaviour{delay: 4 * time.Second})
			case 10:
				b.fake.script("ListContainers", behaviour{})
			}
			if s := b.after(500 * time.Millisecond); s.Sweep != nil {
				begun[s.Sweep.Began] = true
			}
		}
		if len(begun) > 3 {
			t.Errorf("%d sweeps in two minutes", len(begun))
		}
	})
}
