package record

import (
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// The ages of processes grow from look to look, all of them by the same. An entry has them as the
// difference to the oldest of their look, so that a look at processes that do what they did before
// is the same bytes again, which zstd writes in a few.
type ages struct {
	Age time.Duration // the largest of the look
	For time.Duration
}

// agesOf returns the ages of the oldest process of a look.
func agesOf(p evidence.Processes) (a ages) {
	each(&p, func(one *evidence.Process) { a.Age, a.For = max(a.Age, one.Age), max(a.For, one.For) })
	return a
}

// minus returns the ages to add to those of a look, so that they are what they were before.
func (a ages) minus() ages { return ages{-a.Age, -a.For} }

// add returns an input whose ages are greater by so much, if it has any. The input that it is
// given stays as it is.
func (a ages) add(in engine.Input) engine.Input {
	looked, is := in.(engine.Looked)
	if !is || looked.Report == nil || a == (ages{}) {
		return in
	}
	report := *looked.Report
	p := &report.Processes
	p.Containers, p.Shims, p.Helpers, p.Daemons = maps.Clone(p.Containers), slices.Clone(p.Shims), slices.Clone(p.Helpers), slices.Clone(p.Daemons)
	for id, all := range p.Containers {
		p.Containers[id] = slices.Clone(all)
	}
	each(p, func(one *evidence.Process) { one.Age, one.For = one.Age+a.Age, one.For+a.For })
	looked.Report = &report
	return looked
}

// each has do see each of the processes that a look finds anew.
func each(p *evidence.Processes, do func(*evidence.Process)) {
	for _, all := range p.Containers {
		for i := range all {
			do(&all[i])
		}
	}
	for _, all := range [][]evidence.Process{p.Shims, p.Helpers, p.Daemons} {
		for i := range all {
			do(&all[i])
		}
	}
}
