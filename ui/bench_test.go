package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// judged is a screen that sees snapshots one after the other, with how their pods stand, as
// a [diagnose.Live] works that out, and nothing else found.
type judged struct {
	*Model
	pods diagnose.Standings
}

func (m *judged) see(u engine.Update, found ...diagnose.Finding) {
	m.Update(updateMsg{diagnose.Update{Update: u, Findings: found}, m.pods.Update(u.Snapshot, nil)})
}

func bigModel(b *testing.B, pods int) (*judged, *engine.Snapshot) {
	b.Helper()
	m := &judged{Model: New(testConfig(&controls{}))}
	snap := Big(pods, 3)
	m.Update(sizeOf(200, 50))
	var events []engine.Event
	for i := range 200 {
		events = append(events, Happened(uint64(i+1), i%60, pleg.Started, snap.Pods[i%len(snap.Pods)], "container-0", pleg.Absent, pleg.Running))
	}
	m.see(engine.Update{Snapshot: snap, Events: events})
	return m, snap
}

// BenchmarkFrame200x50 is a frame of the panes, the timeline among them, and one of the
// timeline alone.
func BenchmarkFrame200x50(b *testing.B) {
	for name, keys := range map[string]string{"panes": "", "timeline": "5f"} {
		b.Run(name, func(b *testing.B) {
			m, _ := bigModel(b, 1000)
			for _, k := range keys {
				m.Update(tea.KeyPressMsg{Code: k, Text: string(k)})
			}
			b.ReportAllocs()
			for b.Loop() {
				if m.frame() == "" {
					b.Fatal("empty frame")
				}
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, bb := range []struct {
		name    string
		changed bool
	}{{"unchanged", false}, {"changed", true}} {
		b.Run("1000x3/"+bb.name, func(b *testing.B) {
			m, snap := bigModel(b, 1000)
			other := Big(1000, 3)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next := *snap
				if bb.changed && i%2 == 0 {
					next = *other
				}
				next.At = snap.At.Add(time.Duration(i) * time.Millisecond)
				m.see(engine.Update{Snapshot: &next})
			}
		})
	}
}

// BenchmarkChanges is a snapshot taken in of which one pod in a hundred has changed,
// beside one in which none has: as they are, sorted, filtered, and with a detail
// open; and of a node with one pod of 12,000 dead containers, whose detail is open.
func BenchmarkChanges(b *testing.B) {
	nodes := map[string]func(*testing.B) (*judged, *engine.Snapshot){
		"10000x3": func(b *testing.B) (*judged, *engine.Snapshot) { return bigModel(b, 10_000) },
		"1x12000": func(b *testing.B) (*judged, *engine.Snapshot) { return deadModel(b, 12_000) },
	}
	for _, bb := range []struct{ node, name, keys string }{
		{"10000x3", "plain", ""}, {"10000x3", "sorted", ">>"}, {"10000x3", "filtered", "/container\r"}, {"10000x3", "detail", "\r"}, {"1x12000", "detail", "\r"},
	} {
		for _, changed := range []int{0, 100} {
			b.Run(fmt.Sprintf("%s/%s/%d", bb.node, bb.name, changed), func(b *testing.B) {
				m, snap := nodes[bb.node](b)
				for _, k := range bb.keys {
					msg := tea.KeyPressMsg{Code: k, Text: string(k)}
					if k == '\r' {
						msg = tea.KeyPressMsg{Code: tea.KeyEnter}
					}
					m.Update(msg)
				}
				pods, at := snap.Pods, snap.At
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					next := *snap
					next.At = at.Add(time.Duration(i) * time.Millisecond)
					if changed > 0 {
						pods = slices.Clone(pods)
						for j := i % 100; j < len(pods); j += 100 {
							p := *pods[j]
							p.Inspected++
							pods[j] = &p
						}
					}
					next.Pods = pods
					m.see(engine.Update{Snapshot: &next})
				}
			})
		}
	}
}

// deadModel shows a node whose first pod holds n dead containers.
func deadModel(b *testing.B, n int) (*judged, *engine.Snapshot) {
	b.Helper()
	m, snap := bigModel(b, 10)
	p, one := *snap.Pods[0], snap.Pods[0].Seen().Containers[0]
	all, status := *p.Seen(), pleg.PodStatus{PodRef: p.PodRef}
	all.Containers = nil
	for i := range n {
		one.ID, one.State, one.Attempt = fmt.Sprintf("%064x", i), pleg.Exited, uint32(i)
		all.Containers = append(all.Containers, one)
		status.Containers = append(status.Containers, pleg.ContainerStatus{ID: one.ID, Name: one.Name, State: pleg.Exited, Attempt: one.Attempt, Image: one.Image, ExitCode: 1})
	}
	p.Old, p.Current, p.Status = &all, &all, &status
	dead := *snap
	dead.Pods = slices.Clone(snap.Pods)
	dead.Pods[0] = &p
	m.see(engine.Update{Snapshot: &dead})
	return m, &dead
}

// BenchmarkEventsAtTheLimit is an update with 100 events, of which each drops an older one.
func BenchmarkEventsAtTheLimit(b *testing.B) {
	m, snap := bigModel(b, 1000)
	var events []engine.Event
	for i := range 100 {
		events = append(events, Happened(uint64(i+1), i%60, pleg.Died, snap.Pods[i], "container-1", pleg.Running, pleg.Exited))
	}
	seq := uint64(1000)
	update := func() {
		for i := range events {
			seq++
			events[i].Seq = seq
		}
		m.see(engine.Update{Snapshot: snap, Events: events})
	}
	for range 120 {
		update()
	}
	b.ReportAllocs()
	for b.Loop() {
		update()
	}
}

// BenchmarkHostileFindings is an update with four findings of which each has 2 KB of
// what costs most to clean: all new, and as they come most of the time.
func BenchmarkHostileFindings(b *testing.B) {
	for _, bb := range []struct {
		name string
		step time.Duration
	}{{"new", time.Minute}, {"same", time.Millisecond}} {
		b.Run(bb.name, func(b *testing.B) {
			m := &judged{Model: New(testConfig(&controls{}))}
			m.Update(sizeOf(200, 50))
			snap := Hung()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next := *snap
				next.At = snap.At.Add(time.Duration(i) * bb.step)
				found := Findings()
				for j := range found {
					found[j].Summary = strconv.Itoa(i) + strings.Repeat("é\u0301\x1b日", 256)
				}
				m.see(engine.Update{Snapshot: &next}, found...)
			}
		})
	}
}
