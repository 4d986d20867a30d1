package host

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/stacks"
)

const (
	mostDump = 64 << 20 // bytes; Go's own profile of goroutines ends there, too

	// dumpAgain is from one dump to the next, and doubles up to dumpSeldom: the runtime
	// stands still while it writes one.
	dumpAgain  = 30 * time.Second
	dumpSeldom = 5 * time.Minute

	// stalled is the share of time, in percent, in which somebody waits for memory, from
	// which on there is too little of it to have the runtime write a dump.
	stalled = 10

	// leastMemory is what must be left of it, in KiB: for a dump of the longest kind the
	// runtime needs twice its length, and so may we.
	leastMemory = 4 * mostDump >> 10
)

// A dumper reads what the runtime's goroutines do: once when something hangs, and now
// and then while it goes on. It must not be used from two goroutines at once.
type dumper struct {
	of    Config
	parse func(io.Reader) (evidence.Stacks, error)

	slow[evidence.Stacks]
	last    time.Time     // when the last one was begun
	waiting time.Duration // from the next dump to the one after it
}

func newDumper(c Config) *dumper { return &dumper{of: c, parse: stacks.Read} }

// look returns the dump of this hang. It begins to read one where it is time for that,
// and waits a moment for it.
func (d *dumper) look(ctx context.Context, now time.Time) evidence.Stacks {
	if d.slow.look(now) {
		d.waiting, d.next = dumpAgain, d.last.Add(dumpAgain)
	}
	why := fmt.Sprintf("the last dump was of another hang, and from one to the next it is %v", dumpAgain)
	if d.due(now) {
		if why = tooLittleMemory(d.of.Root); why == "" {
			d.out = reads.Start(&d.reads, "", func() (evidence.Stacks, error) { return d.read(), nil })
			d.last, d.next, d.waiting = now, now.Add(d.waiting), min(2*d.waiting, dumpSeldom)
		}
	}
	got, missing, pending := d.get(ctx)
	if !d.has {
		got.Missing, got.Pending = cmp.Or(missing, why), pending
	}
	return got
}

// tooLittleMemory says why a dump would do harm; "" if it would not.
func tooLittleMemory(root string) string {
	if p := readPressure(root); p.Memory.Some10 >= stalled {
		return fmt.Sprintf("left out, for memory is short: tasks wait for it %.0f %% of the time", p.Memory.Some10)
	}
	proc, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return ""
	}
	if m, err := proc.Meminfo(); err == nil && m.MemAvailable != nil && *m.MemAvailable < leastMemory {
		return fmt.Sprintf("left out, for memory is short: %d MiB are available", *m.MemAvailable>>10)
	}
	return ""
}
