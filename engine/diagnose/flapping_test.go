package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// A turn is what a snapshot shows of the verdict.
type turn struct {
	ago     time.Duration
	flips   int
	healthy bool
}

func flapped(n *node, threshold time.Duration, turns ...turn) *node {
	n.past = newWitness()
	n.Threshold = threshold
	for _, u := range turns {
		s := n.Snapshot
		s.At = ago(u.ago)
		s.Health.Flips, s.Health.Healthy, s.Health.Since = u.flips, u.healthy, ago(u.ago)
		n.past.Add(engine.Update{Snapshot: &s})
		n.Health = s.Health
	}
	if !n.Health.Healthy {
		n.Health.Verdict = "pleg was last seen active 3m12s ago; threshold is 3m0s"
	}
	return n
}

func TestPLEGFlapping(t *testing.T) {
	const m = time.Minute
	first := turn{30 * m, 0, true}
	tests := []struct {
		name      string
		threshold time.Duration
		turns     []turn
		want      []ID
		severity  Severity
	}{
		{"never", 3 * m, []turn{first}, nil, 0},
		{"before the first relist", 3 * m, []turn{{30 * m, 0, false}, {29 * m, 0, true}, {20 * m, 1, false}, {10 * m, 2, true}}, nil, 0},
		{"one spell", 3 * m, []turn{first, {20 * m, 1, false}, {10 * m, 2, true}}, nil, 0},
		{"two spells, over", 3 * m, []turn{first, {20 * m, 1, false}, {15 * m, 2, true}, {10 * m, 3, false}, {5 * m, 4, true}}, []ID{PLEGUnhealthy}, Warning},
		{"in the second spell", 3 * m, []turn{first, {20 * m, 1, false}, {15 * m, 2, true}, {10 * m, 3, false}}, []ID{PLEGUnhealthy}, Critical},
		{"long ago, for a short threshold", 3 * time.Second, []turn{first, {20 * m, 1, false}, {15 * m, 2, true}, {10 * m, 3, false}, {5 * m, 4, true}}, nil, 0},
		{"short threshold", 3 * time.Second, []turn{first, {40 * time.Second, 1, false}, {30 * time.Second, 2, true}, {20 * time.Second, 3, false}}, []ID{PLEGUnhealthy}, Critical},
		{"a spell between two snapshots", 3 * m, []turn{first, {20 * m, 2, true}, {15 * m, 3, false}}, []ID{PLEGUnhealthy}, Critical},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := find(&plegUnhealthy, flapped(healthy(2), tt.threshold, tt.turns...).facts())
			wantIDs(t, got, tt.want...)
			if len(got) > 0 && got[0].Severity != tt.severity {
				t.Errorf("severity %v, want %v", got[0].Severity, tt.severity)
			}
		})
	}
}

func TestPLEGFlappingFigures(t *testing.T) {
	const m = time.Minute
	got := find(&plegUnhealthy, flapped(healthy(2), 3*m, turn{30 * m, 0, true}, turn{20 * m, 1, false}, turn{15 * m, 2, true}, turn{10 * m, 3, false}).facts())[0]
	for _, want := range []string{
		"unhealthy 2 times in 20m0s",
		"threshold 3m0s, list age 1s",
		"unhealthy from 09:06:53 (5m0s), 09:16:53 (10m0s)",
		"a kubelet that sees the same says: PLEG is not healthy: pleg was last seen active 3m12s ago; threshold is 3m0s",
	} {
		if !slices.Contains(got.Evidence, want) {
			t.Errorf("no %q in %q", want, got.Evidence)
		}
	}
}

func TestFlapsCountEachSpell(t *testing.T) {
	tests := []struct {
		name  string
		flips []int
		want  int
	}{
		{"each seen", []int{0, 1, 2, 3, 4}, 2},
		{"ends healthy", []int{0, 4}, 2},
		{"ends unhealthy", []int{0, 5}, 3},
		{"from within a spell", []int{0, 1, 4}, 2},
		{"from within a spell into another", []int{0, 1, 5}, 3},
		{"another engine", []int{0, 5, 0, 1}, 1},
		{"no end of them", []int{0, 1_000_000}, 32},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var turns []turn
			for i, flips := range tt.flips {
				turns = append(turns, turn{time.Duration(100-i) * time.Second, flips, flips%2 == 0})
			}
			if got := len(flapped(healthy(1), time.Minute, turns...).facts().Memory.Spells); got != tt.want {
				t.Errorf("%d spells, want %d", got, tt.want)
			}
		})
	}
}
