package engine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// What hung with all the rest is not held against it once the runtime is back.
func TestProbesOfADeadlockAreForgotten(t *testing.T) {
	bubble(t, Config{}, pairs(10), func(b *bench) {
		b.after(7 * time.Second)
		b.fake.all(behaviour{hang: true})
		s := b.after(19 * time.Second)
		if len(s.Probes) != 4 || !errors.Is(s.Probes[3].Err, call.ErrDeadline) {
			t.Errorf("in the deadlock: probes = %+v", s.Probes)
		}
		b.fake.behave()
		s = b.after(2*time.Minute - 19*time.Second + 2500*time.Millisecond) // the calls that are out end by the kubelet's deadline
		if s.Probes != nil || s.Phase.Step != Waiting || s.Sweep != nil {
			t.Errorf("after it: probes = %+v, %v, sweep %+v", s.Probes, s.Phase.Step, s.Sweep)
		}
	})
}

func TestSweepIsGivenUpInADeadlock(t *testing.T) {
	tests := []struct {
		name  string
		list  bool // a list hangs, and brings about the sweep
		first []string
	}{
		{"begun by a list that hangs", true, nil},
		{"begun by a list that hangs, after it found one", true, []string{"p001/app"}},
		{"asked for", false, nil},
		{"asked for, after it found one", false, []string{"p001/app"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, Config{}, pairs(100), func(b *bench) {
				b.after(500 * time.Millisecond)
				for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
					b.fake.script(op.String(), behaviour{delay: 50 * time.Millisecond})
				}
				for _, id := range tt.first {
					b.fake.script("ContainerStatus "+id, behaviour{hang: true})
				}
				if tt.list {
					b.fake.script("ListContainers", behaviour{hang: true})
				} else {
					b.ask(b.Sweep)
				}
				b.after(3 * time.Second)
				for b.shell.buffer.newest().Sweep.Done < 30 {
					b.after(100 * time.Millisecond)
				}
				b.fake.all(behaviour{hang: true})
				s := b.after(12 * time.Second)
				if w := s.Sweep; !w.CutOff || w.GivenUp != silentToo || !slices.Equal(ids(w.Hung), tt.first) || w.Done >= w.Total {
					t.Errorf("sweep = %+v", w)
				}
				if i := slices.IndexFunc(s.InFlight, func(f call.Flight) bool { return f.By == call.BySweep }); i >= 0 {
					t.Errorf("still out: %+v", s.InFlight[i])
				}
			})
		})
	}
}

func TestSweepGoesOnWhereOnlyStatusHangs(t *testing.T) {
	bubble(t, Config{}, pairs(200), func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.script("ContainerStatus", behaviour{delay: 100 * time.Millisecond})
		b.ask(b.Sweep)
		b.fake.script("Status", behaviour{hang: true})
		if s := b.after(12 * time.Second).Sweep; s.CutOff || s.Done != 600 {
			t.Errorf("sweep = %+v", s)
		}
	})
}
