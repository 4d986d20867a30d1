package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
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
		tell := func(group, summary, told, what string, full bool) {
			f := Finding{ID: DiskFull, Severity: Warning, Group: s.what + group, Summary: s.what + " " + summary}
			if full {
				f.Severity = Critical
			}
			f.say(notBefore(s.unfit()), s.place(), "told from less than "+told+" on", v.refusedFor(noSpace...))
			f.Next = append([]Step{{Text: "which folders take it", Command: "du " + what + " -x --max-depth=3 " + quote(s.Path) + " | sort -h | tail -n 20"}}, v.pruning(s)...)
			findings = append(findings, f)
		}
		share, left := float64(s.Free)/float64(max(s.Total, 1)), max(s.Left, s.Free)
		if s.Total > 0 && (share < diskFreeShare && s.Free < diskFreeEnough || left < diskLeftLeast && left < s.Total/2) {
			tell("", fmt.Sprintf("has hardly any room: %s of %s free (%.1f %%) in %s", size(s.Free), size(s.Total), 100*share, s.Path),
				fmt.Sprintf("%.0f %% and %s", 100*diskFreeShare, size(diskFreeEnough)), "-h", left < diskLeftLeast)
		}
		if share := float64(s.InodesUnused) / float64(max(s.Inodes, 1)); s.Inodes > 0 && share < inodesFreeShare {
			tell(" inodes", fmt.Sprintf("has hardly an inode left: %s of %s (%.1f %%) in %s", thousands(s.InodesUnused), thousands(s.Inodes), 100*share, s.Path),
				fmt.Sprintf("%.0f %%", 100*inodesFreeShare), "--inodes", s.InodesUnused == 0)
		}
	}
	said := findings == nil
	findings = v.orSaid(findings, DiskFull, "the runtime has no room on a disk", noSpace, func() []Step {
		return append([]Step{{Text: "which disk is full", Command: "df -h; df -i"}}, v.prune())
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
		f.say(notBefore(s.unfit()), s.place(), v.refusedFor(broken...))
		if s.Errors > 0 && s.ReadOnly != "" {
			f.say(fmt.Sprintf("ext4 has counted %s since it was checked, the last %s ago", count(s.Errors, "error"), going(s.ErrorAge)))
		}
		f.say(over)
		f.Next = s.mending(fails)
		findings = append(findings, f)
	}
	if findings != nil {
		return findings
	}
	switch said := v.refusedFor(broken...); {
	case said == "" && len(v.deep().Unserved) > 0:
		return v.unserved()
	case said == "":
		return v.disksBelowFail()
	case strings.Contains(strings.ToLower(said), disconnected):
		return servedGone(said)
	}
	return v.orSaid(findings, StoreFailing, "the runtime's disk fails", broken, func() []Step {
		return []Step{
			{Text: "is a file system read-only", Command: "findmnt -O ro"},
			{Text: "what the kernel says of the disks", Command: "dmesg -T | grep -i -e 'I/O error' -e remount | tail -n 30"},
			replaceDisk,
		}
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

// madeOf returns the step that shows what is below a store.
func (s store) madeOf() Step {
	return Step{Text: "what it is made of, and whether that runs", Command: "lsblk -s -o NAME,TYPE,SIZE,RO,STATE,MODEL " + quote(s.Mount.Source)}
}

// replaceDisk is what to do about a disk that fails.
var replaceDisk = inWords("no fix from the node is known for a disk that fails: drain the node, and replace the disk")

// health returns the step that reads what the disk below a store says of itself.
func (s store) health() Step {
	device := s.Mount.Source
	if n := len(s.Below); n > 0 {
		device = "/dev/" + s.Below[n-1]
	}
	return Step{Text: "what the disk says of its own health: reallocated and pending sectors, errors", Command: "smartctl -a " + quote(device)}
}

// reading returns the steps that only look at a store.
func (s store) reading() []Step {
	return []Step{
		{Text: "how it is mounted", Command: "findmnt -T " + quote(s.Path)},
		{Text: "what the kernel says of the disk", Command: "dmesg -T | grep -i -e 'I/O error' -e 'remount' -e ext4 -e xfs | tail -n 30"},
	}
}

// mending returns the steps for a store that cannot be written, or whose disk fails. All that
// comes before the first risky one reads only.
func (s store) mending(fails bool) []Step {
	find := func(column string) string { return "$(findmnt -n -o " + column + " -T " + quote(s.Path) + ")" }
	steps := s.reading()
	anew := Step{
		Text:    "it takes nothing before it was unmounted, checked and mounted again; stop what uses it first",
		Command: `t="` + find("TARGET") + `" s="` + find("SOURCE") + `"; umount "$t" && { fsck -y "$s"; [ $? -le 1 ]; } && mount "$s" "$t"`, Risky: true,
	}
	switch {
	case strings.Contains(s.ReadOnly, "emergency_ro"), strings.Contains(s.ReadOnly, "shutdown"): // a remount for writing fails
		steps = append(steps, anew)
	case s.ReadOnly != "":
		steps = append(steps, Step{Text: "only once the disk is known to be well, else check it first", Command: "mount -o remount,rw " + find("TARGET"), Risky: true})
	case fails && !s.Broken:
		anew.If, anew.Text = "only once the disk is known to be well", "checks the file system; stop what uses it first"
		steps = append([]Step{steps[1], steps[0]}, s.madeOf(), s.health(), replaceDisk)
		if s.Mount.Type != "overlay" && s.Mount.Type != "btrfs" { // which fsck does nothing for
			steps = append(steps, anew)
		}
	default:
		steps = append(steps, replaceDisk)
	}
	return steps
}

// What the system says to a call that it refuses, as Go programs pass it on.
var (
	noSpace = []string{"no space left on device", "disk quota exceeded"}
	broken  = []string{"read-only file system", "input/output error", "structure needs cleaning", "stale file handle", disconnected}
	usedUp  = []string{"too many open files", "pthread_create failed", "failed to create new os thread", "fork: resource temporarily unavailable", "cannot allocate memory"}
)

// disconnected is what it says of a path that a program served, which has ended.
const disconnected = "transport endpoint is not connected"

// orSaid returns what the look at the node found, or else what a call says of it.
func (v *view) orSaid(found []Finding, id ID, summary string, reasons []string, next func() []Step) []Finding {
	said := v.refusedFor(reasons...)
	if found != nil || said == "" {
		return found
	}
	return []Finding{{ID: id, Severity: Warning, Summary: summary + ": " + excerpt(said), Evidence: []string{said}, Next: next()}}
}

// refusedFor returns what a call failed with that speaks of any of these; empty if
// none does. Where calls fail now and then, each with another error, one of them is no reason.
func (v *view) refusedFor(reasons ...string) string {
	if v.failsByTurns() || v.Flaky.Failed > 0 {
		return ""
	}
	speaks := func(text string) bool {
		text = strings.ToLower(text)
		return slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(text, reason) })
	}
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
