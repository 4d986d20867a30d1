package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// StoreFailing is a disk of the runtime's that is read-only, fails or is gone.
const StoreFailing ID = "store-failing"

var storeFailingKind = &kind{
	id: StoreFailing, find: storeFailing,
	is:    starves,
	words: []nodeWord{(*view).kernelSaid}, kernel: ofDisk,
	severity: "critical", scenario: "`failing-store`",
	when: "the runtime's data or its state folder is mounted read-only, stopped by ext4 after an error, gone, or answers with an I/O error; or the kernel's log says that " +
		"writes to its disk failed, until it has not for 5 minutes; a warning for reads that failed, for what fails on the whole disk below, of which the runtime's may be another part, for ext4's errors of the last hour, and where only a call's error says so, also of what a program served that has ended, or where a deep look finds such a mount of a pod or the runtime",
}

// DiskFull is a disk of the runtime's that has no room.
const DiskFull ID = "disk-full"

var diskFullKind = &kind{
	id: DiskFull, find: diskFull,
	is:     starves,
	warned: Headline{Word: "AT RISK"},
	words:  []nodeWord{(*view).kernelSaid}, kernel: ofDisk,
	severity: "critical", scenario: "a real node",
	when: "the runtime's data or its state folder has no room or no inode left; a warning below 5 % and 10 GiB free, or 3 % of the inodes, and where only a " +
		"call's error says so",
}

// Thresholds of the runtime's disks. The kubelet evicts pods below 15 % free for
// images, 10 % for the rest and 5 % of the inodes; below these it has not helped.
const (
	diskFreeShare   = 0.05
	diskFreeEnough  = 10 << 30 // bytes that suffice on any disk, however small a share
	diskLeftLeast   = 16 << 20 // with less not even the runtime, which may use the reserve, gets far
	inodesFreeShare = 0.03
	// errorFresh is how far back an error of a file system is of today.
	errorFresh = time.Hour
	// failedFresh is for how long after the last request that failed a disk counts as one
	// that fails: the kernel writes what has changed within half a minute, and its log is
	// read once a minute.
	failedFresh = 5 * time.Minute
	// failuresRead is of how many failing pods the error is read: of ten thousand those
	// say it as well.
	failuresRead = 100
)

// A store is one of the runtime's folders, and what it is to it.
type store struct {
	evidence.Disk
	what string
}

const dataFolder, stateFolder = "the runtime's data", "the runtime's state"

// stores returns the folders that there is evidence of. Where both are on one disk the
// first stands for both.
func (v *view) stores() (all []store) {
	data, state := v.evidence.Disk, v.evidence.State
	if data.Path != "" && (data.Missing == "" || data.Broken) {
		all = append(all, store{data, dataFolder})
	}
	same := data.Missing == "" && data.Mount.Device != "" && data.Mount.Device == state.Mount.Device
	if !same && state.Path != "" && (state.Missing == "" || state.Broken) {
		all = append(all, store{state, stateFolder})
	}
	return all
}

// isOn reports whether a store is on a device, by its name or by its number.
func (s store) isOn(device string) bool {
	return isPartOf(s.Mount.Source, device) || slices.Contains(s.Below, device) || device != "" && s.Mount.Device == device
}

func (s store) place() string {
	m := s.Mount
	switch {
	case m.Source != "":
		return fmt.Sprintf("%s is on %s (%s)", s.Path, m.Source, m.Type)
	case m.Type != "":
		return fmt.Sprintf("%s is on a %s", s.Path, m.Type)
	}
	return s.Path
}

// diskFull finds a store with no room, or a call that says so.
func diskFull(v *view) (findings []Finding) {
	for _, s := range v.stores() {
		tell := func(group, summary, told string, inodes, full bool) {
			f := Finding{ID: DiskFull, Severity: Warning, Group: s.what + group, Summary: s.what + " " + summary}
			if full {
				f.Severity = Critical
			}
			f.say(notBefore(s.unfit()), s.place(), "told from less than "+told+" on", v.refusedFor(knowledge.NoSpace))
			f.Next = v.pruning(s, inodes)
			findings = append(findings, f)
		}
		share, left := float64(s.Free)/float64(max(s.Total, 1)), max(s.Left, s.Free)
		if s.Total > 0 && (share < diskFreeShare && s.Free < diskFreeEnough || left < diskLeftLeast && left < s.Total/2) {
			tell("", fmt.Sprintf("has hardly any room: %s of %s free (%.1f %%) in %s", size(s.Free), size(s.Total), 100*share, s.Path),
				fmt.Sprintf("%.0f %% and %s", 100*diskFreeShare, size(diskFreeEnough)), false, left < diskLeftLeast)
		}
		if share := float64(s.InodesUnused) / float64(max(s.Inodes, 1)); s.Inodes > 0 && share < inodesFreeShare {
			tell(" inodes", fmt.Sprintf("has hardly an inode left: %s of %s (%.1f %%) in %s", thousands(s.InodesUnused), thousands(s.Inodes), 100*share, s.Path),
				fmt.Sprintf("%.0f %%", 100*inodesFreeShare), true, s.InodesUnused == 0)
		}
	}
	said := findings == nil
	findings = v.orSaid(findings, DiskFull, "the runtime has no room on a disk", []string{knowledge.NoSpace}, func() []Step {
		return v.pruning(store{Disk: v.evidence.Disk}, false)
	})
	if said && findings != nil {
		findings[0].say(notBefore("there is room on its disk"))
	}
	return findings
}

// storeFailing finds a store that cannot be written, that is gone or answers
// with errors, or a call that says so.
func storeFailing(v *view) (findings []Finding) {
	for _, s := range v.stores() {
		f := Finding{ID: StoreFailing, Severity: Critical, Group: s.what}
		line, fails := v.failed(s)
		over := ""
		switch {
		case s.Broken:
			f.Summary = fmt.Sprintf("%s cannot be reached: %s: %s", s.what, s.Path, s.Missing)
		case s.ReadOnly != "":
			f.Summary = fmt.Sprintf("%s cannot be written: %s: %s", s.what, s.Path, s.ReadOnly)
		case fails:
			if line.Failed != "write" {
				f.Severity = Warning
			}
			f.Summary = fmt.Sprintf("the kernel could not %s the disk of %s: %s on %s", line.Failed, s.what, s.Path, s.Mount.Source)
			over = v.storeOver(line)
		case s.Errors > 0 && s.ErrorAge < errorFresh:
			f.Severity = Warning
			f.Summary = fmt.Sprintf("the file system of %s has errors: %s, the last %s ago", s.what, count(s.Errors, "error"), going(s.ErrorAge))
		default:
			continue
		}
		f.say(notBefore(s.unfit()), s.place(), v.refusedFor(knowledge.StoreFails, knowledge.Disconnected))
		if s.Errors > 0 && s.ReadOnly != "" {
			f.say(fmt.Sprintf("ext4 has counted %s since it was checked, the last %s ago", count(s.Errors, "error"), going(s.ErrorAge)))
		}
		f.say(over)
		f.Next = v.mending(s)
		findings = append(findings, f)
	}
	if findings != nil {
		return findings
	}
	switch said := v.refusedFor(knowledge.StoreFails, knowledge.Disconnected); {
	case said == "" && len(v.deep().Unserved) > 0:
		return v.unserved()
	case said == "":
		return v.disksBelowFail()
	case knowledge.Means(said) == knowledge.Disconnected:
		return v.servedGone(said)
	}
	return v.orSaid(findings, StoreFailing, "the runtime's disk fails", []string{knowledge.StoreFails}, func() []Step {
		return v.orDrain(v.advise("disk.fails", nil))
	})
}

// failed returns the youngest line in which the kernel says that it could not write to the
// very device that a store is on, or else could not read from it. What it says of a whole
// disk may be about another part of that, and one of several below a store may be spared.
func (v *view) failed(s store) (last evidence.KernelLine, fails bool) {
	for _, l := range v.evidence.Kernel.Lines {
		ofStore := l.Failed != "" && l.Age < failedFresh && l.Device != "" && s.Mount.Source == "/dev/"+l.Device
		if ofStore && (!fails || l.Failed == "write" && last.Failed != "write") {
			last, fails = l, true
		}
	}
	return last, fails
}

// mending returns the steps for a store that cannot be written, or whose disk fails. No step repairs the
// disk: the node is drained, and the disk replaced.
func (v *view) mending(s store) []Step {
	return v.orDrain(v.advise("disk.fails", Values{"target": one(s.Mount.Node), "disk": one(s.Mount.Source)}))
}

// orSaid returns what the look at the node found, or else what a call says of it.
func (v *view) orSaid(found []Finding, id ID, summary string, reasons []string, next func() []Step) []Finding {
	said := v.refusedFor(reasons...)
	if found != nil || said == "" {
		return found
	}
	return []Finding{{ID: id, Severity: Warning, Summary: summary + ": " + excerpt(said), Evidence: []string{said}, Next: next()}}
}

// refusedFor returns what a call failed with that means any of these, as the table of errors has them; empty if
// none does. Where calls fail now and then, each with another error, one of them is no reason.
func (v *view) refusedFor(reasons ...string) string {
	if v.failsByTurns() || v.Flaky.Failed > 0 {
		return ""
	}
	speaks := func(text string) bool { return slices.Contains(reasons, knowledge.Means(text)) }
	for _, f := range [...]*answers.Failure{v.StatusErr, v.Failure, v.VersionErr} {
		if f != nil && speaks(f.Err.Error()) {
			return fmt.Sprintf("%v: %s", f.Op, words(f.Err))
		}
	}
	if len(v.Failing) > 0 {
		left := failuresRead
		for p := range v.podsWith((*podFacts).fails) {
			if left--; left < 0 {
				break
			}
			if f := p.Failure; f != nil && speaks(f.Err.Error()) {
				return fmt.Sprintf("%v of %s: %s", f.Op, f.Object().String(), words(f.Err))
			}
		}
	}
	return ""
}

// storeOver says when a finding ends that goes by what the kernel says.
func (v *view) storeOver(l evidence.KernelLine) string {
	at := v.evidence.At.Add(-l.Age)
	return fmt.Sprintf("the kernel said so last at %s: without another such line the finding ends at %s, which does not mean that the disk is well",
		v.clock(at), v.clock(at.Add(failedFresh)))
}
