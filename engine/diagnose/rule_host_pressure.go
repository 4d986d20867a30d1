package diagnose

import "github.com/plegtop/plegtop/engine/evidence"

// HostPressure is a node that stands still because it lacks something.
const HostPressure ID = "host-pressure"

// These are percent of the time in which every task stands still ("full" of /proc/pressure). A machine that compiles on
// all its cores has a tenth of these values: they mean a node that does hardly anything but wait. On a whole node there
// is no such time for the CPU.
const (
	memoryStalls = 20.0 // thrashing: a fifth of all time is spent on bringing pages back
	ioStalls     = 50.0
	stallsGoOn   = 0.5 // the value of the last 10 s must be at least this part of the limit; otherwise the trouble is over
)

const groupMemory, groupIO = "memory", "I/O"

// The rule applies when the node stands still because it waits for memory or for its disk.
var hostPressure = Rule{
	ID: HostPressure,
	Find: func(f *Facts, report func(Match)) {
		if f.Look.Pressure.Missing != "" {
			return
		}
		stall := func(resource, culprit string, s evidence.Stall, most float64) {
			if s.Full60 >= most && s.Full10 >= most*stallsGoOn {
				report(Match{
					Severity: Warning, Group: resource,
					Values: Values{
						"resource": resource, "share": wholeNumber(s.Full60), "full60": percent(s.Full60), "full10": percent(s.Full10),
						"some60": percent(s.Some60), "some10": percent(s.Some10), "most": wholeNumber(most),
					},
					Steps: map[string][]Step{"+pressure": f.advise(culprit, nil)},
				})
			}
		}
		stall(groupMemory, "pressure.memory", f.Look.Pressure.Memory, memoryStalls)
		stall(groupIO, "pressure.disk", f.Look.Pressure.IO, ioStalls)
	},
}
