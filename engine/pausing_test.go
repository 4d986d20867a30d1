package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A pause stops lists pod by pod.
func TestAPauseStopsListsPodByPod(t *testing.T) {
	bubble(t, Config{}, pairs(30), func(b *bench) {
		b.after(500 * time.Millisecond)
		for i := range 30 {
			b.fake.script(fmt.Sprintf("ListContainers uid-p%03d", i), behaviour{delay: 300 * time.Millisecond})
		}
		b.fake.script("ListContainers", behaviour{hang: true})
		b.after(12500 * time.Millisecond)
		b.ask(b.Pause)
		b.after(time.Second)
		b.fake.made()
		b.after(5 * time.Second)
		if made := b.fake.made(); len(made) > 0 {
			t.Errorf("made while paused: %q", made)
		}
	})
}

// A pause ends a sweep that nobody asked for.
func TestAPauseEndsASweepNobodyAskedFor(t *testing.T) {
	bubble(t, Config{}, crowd(400), func(b *bench) {
		b.fake.script("ContainerStatus", behaviour{delay: 30 * time.Millisecond})
		b.fake.script("PodSandboxStatus", behaviour{delay: 30 * time.Millisecond})
		b.after(40 * time.Second)
		b.fake.script("ListContainers", behaviour{hang: true})
		s := b.after(4500 * time.Millisecond)
		if s.Sweep == nil || !s.Sweep.Ended.IsZero() {
			t.Fatalf("sweep %+v", s.Sweep)
		}
		b.ask(b.Pause)
		b.after(500 * time.Millisecond)
		b.fake.made()
		b.after(30 * time.Second)
		n := 0
		for _, c := range b.fake.made() {
			if strings.Contains(c, "Status") {
				n++
			}
		}
		if n > 0 {
			t.Errorf("%d status calls while paused", n)
		}
	})
}
