package diagnose

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

func update(n *node) engine.Update {
	s := n.Snapshot
	return engine.Update{Snapshot: &s}
}

// hangFailure lets the last list have failed.
func (n *node) hangFailure() {
	n.Failure = &answers.Failure{Flight: call.Flight{Op: call.ListContainers}, Err: failure(call.ListContainers, call.ErrDeadline, "late"), At: now, First: now, InRow: 1}
}

func TestHostPressure(t *testing.T) {
	runHostTests(t, by(&hostPressure), checked, []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"busy machine", func(_ *node, r *evidence.Report) {
			r.Pressure.CPU = evidence.Stall{Some10: 95, Some60: 95, Full60: 30, Full10: 30}
			r.Pressure.IO = evidence.Stall{Some10: 80, Some60: 80, Full10: 40, Full60: 40}
			r.Pressure.Memory = evidence.Stall{Some10: 20, Some60: 20, Full10: 10, Full60: 10}
		}, "", 0, Subject{}},
		{"thrashing", func(_ *node, r *evidence.Report) {
			r.Pressure.Memory = evidence.Stall{Some10: 70, Some60: 60, Full10: 50, Full60: 40}
		}, "the node is stuck on memory 40 % of the time", Warning, Subject{}},
		{"thrashing is over", func(_ *node, r *evidence.Report) {
			r.Pressure.Memory = evidence.Stall{Full10: 1, Full60: 40}
		}, "", 0, Subject{}},
		{"disk saturated", func(_ *node, r *evidence.Report) {
			r.Pressure.IO = evidence.Stall{Full10: 80, Full60: 75}
		}, "the node is stuck on I/O 75 % of the time", Warning, Subject{}},
		{"no pressure file", func(_ *node, r *evidence.Report) {
			r.Pressure = evidence.Pressure{Missing: "no PSI", IO: evidence.Stall{Full10: 80, Full60: 75}}
		}, "", 0, Subject{}},
	})
}

func TestClockStep(t *testing.T) {
	runHostTests(t, by(&clockStep), checked, []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"forward", func(_ *node, r *evidence.Report) {
			r.Clock = evidence.Clock{Watched: time.Hour, Step: time.Minute, StepAge: 30 * time.Second, Steps: 1}
		}, "the time of the node jumped forward by 1m0s, 30s ago", Warning, Subject{}},
		{"back", func(_ *node, r *evidence.Report) {
			r.Clock = evidence.Clock{Watched: time.Hour, Step: -time.Hour, StepAge: time.Second, Steps: 2}
		}, "the time of the node jumped back by 1h0m, 1s ago", Warning, Subject{}},
		{"slewed", func(_ *node, r *evidence.Report) {
			r.Clock = evidence.Clock{Watched: time.Hour, Step: 900 * time.Millisecond, StepAge: time.Second, Steps: 1}
		}, "", 0, Subject{}},
		{"long ago", func(_ *node, r *evidence.Report) {
			r.Clock = evidence.Clock{Watched: 5 * time.Hour, Step: time.Minute, StepAge: time.Hour, Steps: 1}
		}, "", 0, Subject{}},
		{"objects of the future", func(n *node, _ *evidence.Report) { // show no step: their runtime may be far away
			for _, p := range n.Pods {
				p.Old.Sandboxes[0].CreatedAt = now.Add(time.Hour)
			}
		}, "", 0, Subject{}},
	})
}
