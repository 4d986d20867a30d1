package say

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

func TestFlights(t *testing.T) {
	th, now := theme.Default(), time.Unix(1000, 0)
	web := pleg.PodRef{UID: "u", Namespace: "shop", Name: "web"}
	s := &engine.Snapshot{At: now, Started: now.Add(-time.Hour), Policy: answers.Policy{ListTimeout: 2 * time.Minute, CallTimeout: 2 * time.Second}}
	s.Failure = &answers.Failure{Flight: call.Flight{Op: call.ListContainers}, InRow: 2}
	out := func(by call.Asker, op call.Operation, d time.Duration, pod pleg.PodRef, name string) call.Flight {
		return call.Flight{By: by, Op: op, Since: now.Add(-d), Pod: pod, Container: name}
	}
	s.InFlight = []call.Flight{
		out(call.ByRelist, call.ListContainers, 47*time.Second, pleg.PodRef{}, ""),
		out(call.BySweep, call.ContainerStatus, 1300*time.Millisecond, web, "app"),
		out(call.ByStatusLoop, call.Status, 10*time.Millisecond, pleg.PodRef{}, ""),
		out(call.ByProbe, call.PodSandboxStatus, 5*time.Second, web, ""),
	}
	lines := Flights(&th, s, s.InFlight)
	var got []string
	for _, line := range lines {
		var l text.Line
		for _, span := range line {
			l.Begin(span.Width)
			l.Cell(theme.Style{}, span.Text, span.Width)
		}
		got = append(got, strings.Join(strings.Fields(string(l.Buf)), " "))
	}
	want := []string{
		"IN FLIGHT AGE TIME LEFT TRY OBJECT FOR",
		"ListContainers 47s 1m13s of 2m 3rd all pods relist",
		"ContainerStatus 1s 0s of 2s 1st shop/web app check all",
		"Status 0s 1m59s of 2m 1st the runtime status loop",
		"PodSandboxStatus 5s 0s of 2s 1st shop/web probe",
	}
	if !slices.Equal(got, want) {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if lines[1][1].Style != th.Bad || lines[3][1].Style != th.Text {
		t.Error("what hangs does not stand out")
	}
}
