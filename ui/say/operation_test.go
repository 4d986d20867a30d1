package say

import (
	"fmt"
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

// Buckets at both ends that are empty are left out, what was there has a cell, and where there
// are fewer lines than buckets the quickest are one.
func TestHistogram(t *testing.T) {
	th := theme.Default()
	c := answers.Calls{P50: 500 * time.Microsecond, P90: 2 * time.Millisecond, P99: 45 * time.Second}
	c.Took = [12]uint64{1: 1000, 2: 500, 4: 1, 11: 100}
	for _, tt := range []struct {
		w, most int
		want    string
	}{
		{29, 12, "<1ms 20 1000 p50; <3ms 10 500 p90; <10ms 0 0; <30ms 1 1; <100ms 0 0; <300ms 0 0; <1s 0 0; <3s 0 0; <10s 0 0; <30s 0 0; >=30s 2 100 p99"},
		{33, 3, "<10s 20 1501 p50 p90; <30s 0 0; >=30s 1 100 p99"},
		{33, 0, ""},
	} {
		var got []string
		for _, b := range Histogram(&th, &c, tt.w, tt.most) {
			got = append(got, fmt.Sprint(b.Label, " ", b.Cells, " ", b.Count))
		}
		if said := strings.Join(got, "; "); said != tt.want {
			t.Errorf("in %d lines %q, want %q", tt.most, said, tt.want)
		}
	}
	bars := Histogram(&th, &c, 40, 12)
	if bars[0].Style != th.Good || bars[7].Style != th.Warn || bars[10].Style != th.Bad {
		t.Error("the bars are not graded")
	}
	if got := Histogram(&th, &answers.Calls{}, 40, 12); got != nil {
		t.Errorf("of no call: %v", got)
	}
}

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
