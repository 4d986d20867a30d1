package engine

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// An examination looks again as soon as that can show more: after the time at which what a process does will
// surely not pass by itself, but at most once for a disk that may only be busy.
func TestAnExaminationLooksAgain(t *testing.T) {
	in := func(state evidence.State, lasts time.Duration) evidence.Process {
		return evidence.Process{PID: 7, Command: "app", State: state, For: lasts}
	}
	shim := func(p evidence.Process) evidence.Processes { return evidence.Processes{Shims: []evidence.Process{p}} }
	app := func(p evidence.Process) evidence.Processes {
		return evidence.Processes{Containers: map[string][]evidence.Process{"c": {p}}}
	}
	helper := func(age time.Duration) evidence.Processes {
		return evidence.Processes{Helpers: []evidence.Process{{PID: 8, Verb: "kill", State: evidence.Sleeping, Age: age, Own: true}}}
	}
	daemon := func(lasts time.Duration) evidence.Processes {
		return evidence.Processes{Daemons: []evidence.Process{in(evidence.Uninterrupted, lasts)}}
	}
	disk := func(still time.Duration) []evidence.Device {
		return []evidence.Device{{Number: "7:0", Name: "loop0", InFlight: 9, Still: still}}
	}
	for name, c := range map[string]struct {
		seen  evidence.Processes
		disks []evidence.Device
		mute  bool          // the kubelet did not answer
		since time.Duration // since the first look
		wait  time.Duration
	}{
		"nothing stands still":             {seen: app(in(evidence.Sleeping, 0))},
		"a stopped shim is sure at once":   {seen: shim(in(evidence.Stopped, 0))},
		"a stopped program":                {seen: app(in(evidence.Stopped, 0)), wait: 500 * time.Millisecond},
		"a traced shim":                    {seen: shim(in(evidence.Traced, 0)), wait: 2 * time.Second},
		"a traced shim, a second on":       {seen: shim(in(evidence.Traced, time.Second)), since: time.Second, wait: time.Second},
		"a traced shim, by now sure":       {seen: shim(in(evidence.Traced, 2*time.Second)), since: 2 * time.Second},
		"a traced shim, each time anew":    {seen: shim(in(evidence.Traced, 0)), since: 2 * time.Second},
		"a disk may be busy":               {seen: app(in(evidence.Uninterrupted, 0)), wait: time.Second},
		"a disk was looked at twice":       {seen: app(in(evidence.Uninterrupted, time.Second)), since: time.Second},
		"what has ended needs no look":     {seen: shim(in(evidence.Zombie, 0))},
		"a kubelet may be busy":            {mute: true, wait: time.Second},
		"a kubelet is looked at twice":     {mute: true, since: time.Second},
		"a helper that ends soon":          {seen: helper(3 * time.Second), wait: 2 * time.Second},
		"a helper, and a mute kubelet":     {seen: helper(3 * time.Second), mute: true, wait: 2 * time.Second},
		"a disk may be dead":               {seen: daemon(time.Minute), disks: disk(0), wait: 2 * time.Second},
		"a disk that is dead":              {seen: daemon(time.Minute), disks: disk(2 * time.Second), since: 2 * time.Second},
		"a disk that answers now and then": {seen: daemon(time.Minute), disks: disk(0), since: 2 * time.Second},
		"no disk has anything to do":       {seen: daemon(time.Minute)},
		"a disk, and a process at rest":    {seen: app(in(evidence.Sleeping, 0)), disks: disk(0)},
		"a disk, and nobody waits":         {disks: disk(0)},
		"a frozen program may go on soon":  {seen: app(in(evidence.Frozen, 0)), wait: 500 * time.Millisecond},
	} {
		r := evidence.Report{Processes: c.seen, Devices: c.disks}
		r.Kubelet.Ping.TimedOut = c.mute
		if wait := showsIn(&r, c.since); wait != c.wait {
			t.Errorf("%s: the next look comes after %v, want %v", name, wait, c.wait)
		}
	}
}
