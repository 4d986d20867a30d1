package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// What the kernel says of a whole disk may be about another part of it than the runtime's: it
// is told, as a warning, and no reason for anything else.
func TestADiskBelowAStoreFails(t *testing.T) {
	const text = "I/O error, dev sda, sector 2048 op 0x1:(WRITE) flags 0x800 phys_seg 8 prio class 2"
	const below = "the disk below the runtime's data fails: /var/lib/containerd on /dev/dm-0, which is on sda"
	line := func(text, device, failed string) evidence.KernelLine {
		return evidence.KernelLine{Kind: "I/O error", About: knowledge.AboutDisk, Age: time.Minute, Text: text, Device: device, Failed: failed, Count: 1}
	}
	const old = "print_req_error: I/O error, dev sda, sector 2048"
	own := line("Buffer I/O error on dev dm-0, logical block 7, lost async page write", "dm-0", "write")
	stale := line(text, "sda", "write")
	stale.Age = failedFresh
	for _, tt := range []struct {
		name   string
		lines  []evidence.KernelLine
		want   string
		severe Severity
	}{
		{"its disk", []evidence.KernelLine{line(text, "sda", "write")}, below, Warning},
		{"the partition in between", []evidence.KernelLine{line("Buffer I/O error on dev sda2, logical block 7, async page read", "sda2", "read")}, "the disk below the runtime's data fails: ", Warning},
		{"a kernel that does not say what was asked", []evidence.KernelLine{line(old, "sda", "")}, below, Warning},
		{"its file system as well", []evidence.KernelLine{line(text, "sda", "write"), own}, "the kernel could not write the disk of the runtime's data: ", Critical},
		{"another partition", []evidence.KernelLine{line("EXT4-fs warning (device sda1): I/O error 10 writing to inode 1", "sda1", "write")}, "", 0},
		{"another disk", []evidence.KernelLine{line(text, "sdb", "write")}, "", 0},
		{"blocks that it does not discard", []evidence.KernelLine{line("critical target error, dev sda, sector 8 op 0x3:(DISCARD)", "sda", "")}, "", 0},
		{"what has ended", []evidence.KernelLine{stale}, "", 0},
	} {
		n := checked(3)
		n.podFails(1, "app", call.ErrOther, "the shim is gone", 4)
		in := n.input()
		in.Evidence = looked(n)
		in.Evidence.Disk.Mount, in.Evidence.Disk.Below = evidence.Mount{Type: "ext4", Source: "/dev/dm-0", Device: "252:0"}, []string{"sda2", "sda"}
		in.Evidence.Kernel.Lines = tt.lines
		found := Diagnose(in)
		var got Finding
		for _, f := range found {
			if f.ID == StoreFailing {
				got = f
			}
			if f.Cause != "" && tt.severe < Critical {
				t.Errorf("%s: %s is the cause of %s", tt.name, f.Cause, f.ID)
			}
		}
		if !strings.HasPrefix(got.Summary, tt.want) || tt.want == "" && got.Summary != "" || got.Severity != tt.severe {
			t.Errorf("%s: %v %q, want %v %q", tt.name, got.Severity, got.Summary, tt.severe, tt.want)
		}
		if tt.want != "" && !strings.Contains(strings.Join(got.Evidence, "\n"), tt.lines[0].Text) {
			t.Errorf("%s: the evidence lacks the kernel's words: %q", tt.name, got.Evidence)
		}
	}
}
