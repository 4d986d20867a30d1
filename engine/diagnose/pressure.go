package diagnose

import (
	"fmt"

	"github.com/plegtop/plegtop/engine/evidence"
)

// Thresholds of pressure, in percent of the time in which every task stood
// still ("full"). A machine that compiles on all its cores has a tenth of them:
// only one that hardly does anything else than wait is meant. Of the CPU there
// is none: on a whole node there is no time in which everybody waits for it, and
// many tasks that wait a little are what a busy node looks like.
const (
	memoryStalls = 20.0 // thrashing: a fifth of all time goes into bringing pages back
	ioStalls     = 50.0 // half of all time stands still for the disk
	stallsGoOn   = 0.5  // over the last 10 s at least this part of it: else it is over
)

// Thresholds of the runtime's disk. The kubelet evicts pods below 15 % free for
// images, 10 % for the rest and 5 % of the inodes; below these it has not helped.
const (
	diskFreeShare   = 0.05
	diskFreeEnough  = 10 << 30 // bytes that suffice on any disk, however small a share
	inodesFreeShare = 0.03
)

// hostPressure tells of a node that stands still for want of memory or of its
// disk, or whose disk is full.
func hostPressure(v *view) []Finding {
	e := v.evidence
	if e == nil {
		return nil
	}
	var findings []Finding
	if p := e.Pressure; p.Missing == "" {
		findings = append(findings, stall("memory", p.Memory, memoryStalls, Step{Text: "who takes the memory", Command: "ps -eo pid,rss,comm --sort=-rss"})...)
		findings = append(findings, stall("I/O", p.IO, ioStalls, Step{Text: "who waits for the disk", Command: "ps -eo pid,state,wchan:32,comm"})...)
	}
	if e.Disk.Missing == "" {
		findings = append(findings, fullDisk(v, e.Disk)...)
	}
	return findings
}

func stall(resource string, s evidence.Stall, most float64, who Step) []Finding {
	if s.Full60 < most || s.Full10 < most*stallsGoOn {
		return nil
	}
	return []Finding{{
		ID: HostPressure, Severity: Warning, Group: resource,
		Summary: fmt.Sprintf("the node stands still for %s %.0f %% of the time", resource, s.Full60),
		Evidence: []string{
			fmt.Sprintf("%s pressure: full %.1f %% over 60 s, %.1f %% over 10 s; some %.1f %% and %.1f %%", resource, s.Full60, s.Full10, s.Some60, s.Some10),
			fmt.Sprintf("told from full %.0f %% over 60 s on", most),
		},
		Next: []Step{who},
	}}
}

func fullDisk(v *view, d evidence.Disk) (findings []Finding) {
	tell := func(group, summary, told string) {
		findings = append(findings, Finding{
			ID: HostPressure, Severity: Warning, Group: group, Summary: "the runtime's disk " + summary,
			Evidence: []string{"file system of " + d.Path, "told from less than " + told + " on"},
			Next: []Step{
				{Text: "what images and layers take", Command: v.crictl("imagefsinfo")},
				{Text: "removes the images that no container uses", Command: v.crictl("rmi", "--prune"), Risky: true},
			},
		})
	}
	if share := float64(d.Free) / float64(max(d.Total, 1)); d.Total > 0 && share < diskFreeShare && d.Free < diskFreeEnough {
		tell("disk", fmt.Sprintf("is nearly full: %s of %s free (%.1f %%)", size(d.Free), size(d.Total), 100*share), fmt.Sprintf("%.0f %% and %s", 100*diskFreeShare, size(diskFreeEnough)))
	}
	if share := float64(d.InodesUnused) / float64(max(d.Inodes, 1)); d.Inodes > 0 && share < inodesFreeShare {
		tell("inodes", fmt.Sprintf("has hardly an inode left: %s of %s (%.1f %%)", thousands(d.InodesUnused), thousands(d.Inodes), 100*share), fmt.Sprintf("%.0f %%", 100*inodesFreeShare))
	}
	return findings
}
