package ui

import (
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
)

// Whatever is pressed, resized and shown, there is a frame that fits.
func FuzzScreen(f *testing.F) {
	sizes := [][2]int{{120, 40}, {80, 24}, {40, 10}, {200, 50}, {100, 30}, {20, 5}, {1, 1}, {160, 3}}
	nodes := []func() *engine.Snapshot{
		Healthy, Hung, Unhealthy, Failing, Hostile, Ill,
		func() *engine.Snapshot { return Big(40, 2) },
		func() *engine.Snapshot { return &engine.Snapshot{At: Noon} },
	}
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		w, h, seq := 120, 40, uint64(0)
		s := newStage(t, w, h, func(c *Config) { c.Director = monologue{"what happens"} })
		for range 20 {
			b := byte(rnd.Uint32())
			switch n := int(b & 15); {
			case b < 0x80:
				s.send(typed(b))
			case b < 0x90:
				w, h = sizes[n%len(sizes)][0], sizes[n%len(sizes)][1]
				s.send(sizeOf(w, h))
			case b < 0xa0:
				events := Events(Healthy())
				for i := range events {
					seq++
					events[i].Seq = seq
				}
				s.find(Findings()[:n%3]...).end(Findings()[:n%2]...).show(nodes[n%len(nodes)](), events...)
			default:
				s.send(tea.KeyPressMsg{Code: rune('a' + b&31), Mod: tea.ModCtrl})
			}
			if checkFrame(t, s.m.frame(), w, h); t.Failed() {
				t.FailNow()
			}
		}
	})
}

// typed is a key of ASCII as a terminal sends it.
func typed(b byte) tea.KeyPressMsg {
	if b < ' ' || b == 0x7f {
		return tea.KeyPressMsg{Code: rune(b)}
	}
	return tea.KeyPressMsg{Code: rune(b), Text: string(rune(b))}
}
