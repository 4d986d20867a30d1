package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// ofDiskBelow ends the group of a finding about a disk below a store.
const ofDiskBelow = ", the disk below"

// disksBelowFail finds stores on a part of a disk, or on one that is made of others, of which
// the kernel says that requests failed. That may be about another part, or a mirror may have
// what was lost: it is never more than a warning.
func (v *view) disksBelowFail() (findings []Finding) {
	for _, s := range v.stores() {
		i := slices.IndexFunc(v.evidence.Kernel.Lines, func(l evidence.KernelLine) bool {
			return l.Age < failedFresh && slices.Contains(s.Below, l.Device) && requestFailed(l)
		})
		if i < 0 {
			continue
		}
		l := v.evidence.Kernel.Lines[i]
		f := Finding{
			ID: StoreFailing, Severity: Warning, Group: s.what + ofDiskBelow,
			Summary: fmt.Sprintf("the disk below %s fails: %s on %s, which is on %s", s.what, s.Path, s.Mount.Source, l.Device),
			Next:    v.mending(s),
		}
		f.say("it may be about another part of "+l.Device, v.storeOver(l), s.place())
		findings = append(findings, f)
	}
	return findings
}

// requestFailed reports whether the kernel says that a disk did not do what it was asked for.
// It refuses to discard blocks without harm; before Linux 5.2 it did not say what was asked.
func requestFailed(l evidence.KernelLine) bool {
	return l.About == knowledge.AboutDisk && (l.Failed != "" || strings.Contains(l.Text, " error, dev ") && !strings.Contains(l.Text, "target error") && !strings.Contains(l.Text, " op 0x"))
}
