package sim

import (
	"fmt"
	"strings"
	"time"
)

// said is what the node's kernel says at a moment of the world's clock.
type said struct {
	at   time.Time
	text string
}

// logRoom is how many lines the kernel's log keeps.
const logRoom = 300

// kernelSays adds to the kernel's log what it said so long ago.
func (sn *scene) kernelSays(ago time.Duration, texts ...string) {
	for _, text := range texts {
		sn.log = append(sn.log, said{sn.clock.Add(-ago), text})
	}
	sn.log = sn.log[max(0, len(sn.log)-logRoom):]
	sn.changes++
}

// kernelLog returns the log as /dev/kmsg has it, on a node that was booted at boot by the
// real clock.
func (sn *scene) kernelLog(real clock, boot time.Time) string {
	var b strings.Builder
	for i, one := range sn.log {
		fmt.Fprintf(&b, "3,%d,%d,-;%s\n", 1000+i, real.when(one.at).Sub(boot).Microseconds(), one.text)
	}
	return b.String()
}

// storeDisk is the disk that the runtime's data is on.
const storeDisk = "vdb1"

// mounts are those of the node, as its first process sees them.
const mounts = "22 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n" +
	"95 22 253:17 / /var/lib/containerd rw,noatime shared:41 - ext4 /dev/" + storeDisk + " rw\n"

// failStore has all that is written to the disk of the runtime's data be lost, since
// minutes ago if it is so from the beginning. Calls are answered: what they need is in memory.
func failStore(sn *scene) func() {
	block, inode := 688128, 131073
	fails := func(ago time.Duration) {
		sn.kernelSays(ago,
			fmt.Sprintf("I/O error, dev %s, sector %d op 0x1:(WRITE) flags 0x800 phys_seg 8 prio class 2", storeDisk, 8*block),
			fmt.Sprintf("EXT4-fs warning (device %s): ext4_end_bio:342: I/O error 10 writing to inode %d starting block %d)", storeDisk, inode, block),
			fmt.Sprintf("Buffer I/O error on device %s, logical block %d", storeDisk, block))
		block, inode = block+8, inode+1
	}
	for ago := sn.sick(); ago >= 0; ago -= time.Minute {
		fails(ago)
	}
	stop := sn.every(30*time.Second, func() { fails(0) })
	return func() {
		stop()
		sn.kernelSays(0, "EXT4-fs ("+storeDisk+"): mounted filesystem 5b1f7d9e-07a2-4c56-9d3e-2f8f6f0b1c11 r/w with ordered data mode. Quota mode: none.")
	}
}
