package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
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

// What a sweep found does not come and go while it is asked for again.
func TestWhatHungIsAskedAgainWhileItIsFresh(t *testing.T) {
	bubble(t, Config{}, crowd(120), func(b *bench) {
		b.after(5 * time.Second)
		for i := range 60 {
			b.fake.script(fmt.Sprintf("ContainerStatus p%d/app", i), behaviour{hang: true})
		}
		b.after(time.Second)
		b.ask(b.Sweep)
		s := b.after(50 * time.Second)
		if s.Sweep == nil || s.Sweep.Ended.IsZero() {
			t.Fatalf("sweep %+v", s.Sweep)
		}
		var gone []string
		for range 240 {
			s := b.after(500 * time.Millisecond)
			age := s.At.Sub(s.Sweep.AskedLast())
			if age > answers.FreshFor {
				gone = append(gone, age.String())
			}
		}
		if gone != nil {
			t.Errorf("not fresh: %d of 240: %s; hung %d", len(gone), strings.Join(gone[:3], " "), len(s.Sweep.Hung))
		}
	})
}
