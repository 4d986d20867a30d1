package sim

import (
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func BenchmarkStartBig(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := Start(b.Context(), Config{Scenario: "big", Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
}

// BenchmarkLists is both lists of an unchanged node, client and server.
func BenchmarkLists(b *testing.B) {
	for _, scenario := range []string{"quiet", "big"} {
		b.Run(scenario, func(b *testing.B) {
			_, c := start(b, scenario)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.ListPodSandbox(b.Context(), &cri.ListPodSandboxRequest{}); err != nil {
					b.Fatal(err)
				}
				if _, err := c.ListContainers(b.Context(), &cri.ListContainersRequest{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAnswer is what the server alone does for a list, up to its bytes.
func BenchmarkAnswer(b *testing.B) {
	s, _ := start(b, "big")
	for _, changing := range []bool{false, true} {
		name := "same"
		if changing {
			name = "changed"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if changing {
					s.edit(func() { s.scene.changes++ })
				}
				if _, err := s.codec.Marshal(s.list().containers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTourMinute(b *testing.B) {
	sc, err := scenarioNamed("tour")
	if err != nil {
		b.Fatal(err)
	}
	sn := newScene(sc, 1, epoch, nil)
	var e events
	sn.onChange = e.add
	b.ReportAllocs()
	for b.Loop() {
		sn.advance(sn.now.Add(tourCycle))
	}
}
