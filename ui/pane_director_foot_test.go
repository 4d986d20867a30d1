package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim/script"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/director"
	"github.com/plegtop/plegtop/ui/layer"
)

// A stand is a Director that remembers what it was asked.
type stand struct {
	now   script.State
	asked []string
}

func (s *stand) ask(what string)     { s.asked = append(s.asked, what) }
func (s *stand) State() script.State { return s.now }
func (s *stand) Faults() []script.Fault {
	return []script.Fault{{Name: "slow", Summary: "every call is slow", On: true}}
}
func (s *stand) Freeze(b bool) { s.now.Frozen = b }
func (s *stand) Restart()      { s.ask("restart") }
func (s *stand) Step() (string, bool) {
	s.ask("step")
	s.now.Frozen = true
	return "app of shop/ledger starts", s.now.Scenario == "tour"
}
func (s *stand) SetSpeed(x float64) {
	s.now.Speed = min(max(x, 0.25), 8)
}
func (s *stand) Next(n int) {
	s.now.Scenario = map[int]string{1: "quiet", -1: "ghost"}[n]
}
func (s *stand) SetFault(name string, on bool) {
	s.ask(name + map[bool]string{true: " on", false: " off"}[on])
}

func directorStage(w int, change func(*script.State)) (*stand, *Stage) {
	s := &stand{now: script.State{Scenario: "tour", Speed: 1, Act: 3, Acts: 15, Next: 4 * time.Second, Caption: script.Caption{What: "something"}}}
	change(&s.now)
	return s, NewStage(director.New(s, keymap.Default()), View(Healthy()), w, 1)
}

func TestDirectorKeys(t *testing.T) {
	for _, tt := range []struct{ name, keys, want, asked, said string }{
		{"nothing", "", "tour  3/15 next 4s", "", ""},
		{"freeze", "P", "tour  world frozen  3/15", "", ""},
		{"go on", "P P", "tour  3/15 next 4s", "", ""},
		{"step", "s s", "tour  world frozen", "step step", "app of shop/ledger starts"},
		{"step where nothing happens", "a s", "quiet  world frozen", "step", "nothing happens next in quiet: switch a fault on"},
		{"slower", ", ,", "x1/4", "", ""},
		{"no slower", ", , ,", "x1/4", "", "tour goes no slower"},
		{"faster", ". . .", "x8", "", ""},
		{"no faster", ". . . .", "x8", "", "tour goes no faster"},
		{"restart", "B", "tour", "restart", ""},
		{"next scenario", "a", "quiet", "", ""},
		{"the one before", "A", "ghost", "", ""},
	} {
		s, st := directorStage(120, func(*script.State) {})
		st.Press(strings.Fields(tt.keys)...)
		st.Check(t)
		if got := st.Text(); !strings.HasPrefix(strings.TrimSpace(got), tt.want) && !strings.Contains(got, " "+tt.want+" ") {
			t.Errorf("%s: line %q, want %q", tt.name, got, tt.want)
		}
		if got := strings.Join(s.asked, " "); got != tt.asked || st.Said != tt.said {
			t.Errorf("%s: asked for %q and said %q, want %q and %q", tt.name, got, st.Said, tt.asked, tt.said)
		}
	}
}

func TestFaultsAreSwitchedAtOnce(t *testing.T) {
	s, st := directorStage(120, func(s *script.State) { s.Faults = 1 })
	if !strings.Contains(st.Text(), "faults 1") {
		t.Errorf("line %q does not count the faults", st.Text())
	}
	st.Press("i")
	if len(st.Layers) != 1 {
		t.Fatalf("%d layers are open", len(st.Layers))
	}
	p := st.Layers[0].(*layer.Picker)
	p.Observe(st.V, 80, 5)
	p.Do(keymap.Toggle, st)
	if !slices.Equal(s.asked, []string{"slow off"}) {
		t.Errorf("asked for %v", s.asked)
	}
}
