package ui

import (
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

func bigModel(b *testing.B, pods int) (Model, *engine.Snapshot) {
	b.Helper()
	m := New(testConfig(&controls{}))
	snap := bigNode(pods, 3)
	next, _ := m.Update(sizeOf(200, 50))
	m = next.(Model)
	var events []engine.Event
	for i := range 200 {
		events = append(events, happened(uint64(i+1), i%60, pleg.Started, snap.Pods[i%len(snap.Pods)], "container-0", pleg.Absent, pleg.Running))
	}
	next, _ = m.Update((seen(engine.Update{Snapshot: snap, Events: events})))
	return next.(Model), snap
}

// seen is an update of a node on which nothing is found.
func seen(u engine.Update) updateMsg {
	return updateMsg{Update: diagnose.Update{Update: u}}
}

func BenchmarkFrame200x50(b *testing.B) {
	m, _ := bigModel(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if m.frame() == "" {
			b.Fatal("empty frame")
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, bb := range []struct {
		name    string
		changed bool
	}{{"unchanged", false}, {"changed", true}} {
		b.Run("1000x3/"+bb.name, func(b *testing.B) {
			m, snap := bigModel(b, 1000)
			other := bigNode(1000, 3)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next := *snap
				if bb.changed && i%2 == 0 {
					next = *other
				}
				next.At = snap.At.Add(time.Duration(i) * time.Millisecond)
				m.observe(seen(engine.Update{Snapshot: &next}))
			}
		})
	}
}

func BenchmarkEventsAtTheLimit(b *testing.B) {
	m, snap := bigModel(b, 1000)
	var events []engine.Event
	for i := range 100 {
		events = append(events, happened(uint64(i+1), i%60, pleg.Died, snap.Pods[i], "container-1", pleg.Running, pleg.Exited))
	}
	for range 120 {
		m.events.add(0, events, snap.At)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.events.add(1, events, snap.At)
	}
}

// BenchmarkHostileFindings is an update with four findings of which each has 2 KB of
// what costs most to clean: all new, and as they come most of the time.
func BenchmarkHostileFindings(b *testing.B) {
	for _, bb := range []struct {
		name string
		step time.Duration
	}{{"new", textsKept}, {"same", time.Millisecond}} {
		b.Run(bb.name, func(b *testing.B) {
			var m tea.Model = New(testConfig(&controls{}))
			m, _ = m.Update(sizeOf(200, 50))
			snap := hungNode()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next := *snap
				next.At = snap.At.Add(time.Duration(i) * bb.step)
				found := hungFindings()
				for j := range found {
					found[j].Summary = strconv.Itoa(i) + strings.Repeat("é\u0301\x1b日", 256)
				}
				u := seen(engine.Update{Snapshot: &next})
				u.Findings = found
				m, _ = m.Update(u)
			}
		})
	}
}
