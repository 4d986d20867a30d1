package proc

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// stuckThread returns a thread that looks like one that waits for a file server.
func stuckThread(pid int, runs uint64) fakeProcess {
	return fakeProcess{
		PID: pid, State: evidence.Uninterrupted, Runs: runs,
		Wchan: "rpc_wait_bit_killable", Stack: "[<0>] rpc_wait_bit_killable+0x1e/0xa0\n[<0>] nfs4_do_close+0x1/0x2\n",
	}
}

func TestLookTellsTheStateOfTheWorstThread(t *testing.T) {
	stack := []string{"rpc_wait_bit_killable", "nfs4_do_close"}
	tests := []struct {
		name    string
		leader  evidence.State
		threads []fakeProcess
		want    evidence.Process
	}{
		{"all sleep", evidence.Sleeping, []fakeProcess{{PID: 201}}, evidence.Process{State: evidence.Sleeping}},
		{"one runs", evidence.Sleeping, []fakeProcess{{PID: 201, State: evidence.Running}}, evidence.Process{State: evidence.Sleeping}},
		{
			"one is stuck", evidence.Sleeping, []fakeProcess{{PID: 201, State: evidence.Traced}, stuckThread(202, 5)},
			evidence.Process{State: evidence.Uninterrupted, Thread: 202, Wchan: "rpc_wait_bit_killable", Stack: stack},
		},
		{
			"one is stuck beside a busy one", evidence.Running, []fakeProcess{stuckThread(201, 5)},
			evidence.Process{State: evidence.Uninterrupted, Thread: 201, Wchan: "rpc_wait_bit_killable", Stack: stack},
		},
		{"the first is stopped", evidence.Stopped, []fakeProcess{{PID: 201}}, evidence.Process{State: evidence.Stopped, Wchan: "do_signal_stop"}},
		{"the first has ended", evidence.Zombie, []fakeProcess{{PID: 201}, {PID: 202, State: evidence.Running}}, evidence.Process{State: evidence.Running, Thread: 202}},
		{"it has ended", evidence.Zombie, nil, evidence.Process{State: evidence.Zombie}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, id := t.TempDir(), longID("1")
			writeProcess(t, root, fakeProcess{
				PID: 200, Comm: "java", Cgroup: cgroupOf(id), State: tt.leader, Wchan: "do_signal_stop", Threads: tt.threads,
			})
			found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
			tt.want.PID, tt.want.Command, tt.want.Container, tt.want.Age, tt.want.Start = 200, "java", id, testUptime-time.Hour, ticksAt(time.Hour)
			if diff := cmp.Diff([]evidence.Process{tt.want}, found.Containers[id]); diff != "" {
				t.Errorf("process (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookTellsSinceWhen(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	w := newFixtureWalker(root)
	steps := []struct {
		name   string
		after  time.Duration // since the first look
		leader evidence.State
		thread fakeProcess
		want   time.Duration
	}{
		{"stuck", 0, evidence.Sleeping, stuckThread(201, 5), 0},
		{"still", 5 * time.Second, evidence.Sleeping, stuckThread(201, 5), 5 * time.Second},
		{"still, though the first now runs", 10 * time.Second, evidence.Running, stuckThread(201, 5), 10 * time.Second},
		{"stuck again, after it ran", 15 * time.Second, evidence.Sleeping, stuckThread(201, 6), 0},
		{"still stuck again", 20 * time.Second, evidence.Sleeping, stuckThread(201, 6), 5 * time.Second},
		{"free", 25 * time.Second, evidence.Sleeping, fakeProcess{PID: 201}, 0},
		{"still free", 30 * time.Second, evidence.Sleeping, fakeProcess{PID: 201}, 5 * time.Second},
	}
	for _, step := range steps {
		writeProcess(t, root, fakeProcess{PID: 200, Comm: "java", Cgroup: cgroupOf(id), State: step.leader, Threads: []fakeProcess{step.thread}})
		found := w.lookAt(t.Context(), firstLook.Add(step.after))
		if p := found.Containers[id]; len(p) != 1 || p[0].For != step.want || p[0].AtLeast != (step.want > 0) {
			t.Errorf("%s: %+v, want it for at least %v", step.name, p, step.want)
		}
	}
}

// If several threads are stuck in the same way, always the same one counts.
func TestLookStaysWithAThread(t *testing.T) {
	for i, pid := range []int{201, 202, 203} {
		root, id := t.TempDir(), longID("1")
		w := newFixtureWalker(root)
		java := fakeProcess{PID: 200, Comm: "java", Cgroup: cgroupOf(id), Threads: []fakeProcess{{PID: 201}, {PID: 202}, {PID: 203}}}
		java.Threads[i] = stuckThread(pid, 5)
		writeProcess(t, root, java)
		w.lookAt(t.Context(), firstLook)
		java.Threads = []fakeProcess{stuckThread(201, 5), stuckThread(202, 5), stuckThread(203, 5)}
		writeProcess(t, root, java)
		found := w.lookAt(t.Context(), firstLook.Add(5*time.Second))
		if p := found.Containers[id]; len(p) != 1 || p[0].For != 5*time.Second {
			t.Errorf("%+v, want it for 5s: thread %d was stuck first", p, pid)
		}
	}
}

// While nothing hangs, and with more threads than a look may read, processes take turns. A thread that is known
// to be stuck is read every time. The first look reads all threads, and each deep look reads all up to the
// budget.
func TestLookTakesTurns(t *testing.T) {
	for _, tt := range []struct {
		name                string
		count, budget, deep int // threads of each of 10 processes; deep: that look is, and all after it
		turns               int
	}{
		{"few threads", 2, 1000, 0, 1},
		{"many threads", 11, 1000, 0, quietTurns},
		{"many threads, and something hangs", 11, 1000, 2, 1},
		{"more than the budget", 2, 4, 0, 1 + 20/4},
		{"more than the budget, and something hangs", 2, 4, 2, 1 + 20/4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write := func(thread fakeProcess) {
				for i := range 10 {
					thread.PID = 1001 + 2*i
					writeProcess(t, root, fakeProcess{PID: 1000 + 2*i, Comm: "java", Cgroup: cgroupOf(longID("1")), Count: tt.count, Threads: []fakeProcess{thread}})
				}
			}
			looks := 0
			w := newFixtureWalker(root)
			w.budget = tt.budget
			stuck := func() (n int) {
				looks++
				w.Deep = tt.deep > 0 && looks >= tt.deep
				for _, state := range states(w.lookAt(t.Context(), firstLook)) {
					if state.Stuck() {
						n++
					}
				}
				return n
			}
			write(fakeProcess{})
			stuck()
			write(stuckThread(0, 1))
			before := 0
			for turn := range tt.turns {
				n := stuck()
				if n < before || turn == 0 && tt.turns > 1 && n == 10 || turn == tt.turns-1 && n < 10 {
					t.Errorf("look %d of %d sees %d of 10 stuck, %d before", turn+1, tt.turns, n, before)
				}
				before = n
			}
			w = newFixtureWalker(root)
			w.budget = tt.budget
			if n := stuck(); n != 10 {
				t.Errorf("the first look of another sees %d of 10", n)
			}
		})
	}
}

func TestLookSeesFrozenContainers(t *testing.T) {
	id := longID("1")
	own := "/kubepods/pod5f1a/" + id
	v1 := "6:freezer:" + own + "\n1:name=systemd:" + own + "\n"
	const events, state = "cgroup.events", "freezer.state"
	tests := []struct {
		name, cgroup string
		state        evidence.State
		file, text   string // below /sys/fs/cgroup
		want         evidence.State
	}{
		{"v2", own, evidence.Sleeping, own + "/" + events, "populated 1\nfrozen 1\n", evidence.Frozen},
		{"v2, not frozen", own, evidence.Sleeping, own + "/" + events, "populated 1\nfrozen 0\n", evidence.Sleeping},
		{"v1", v1, evidence.Uninterrupted, "freezer" + own + "/" + state, "FROZEN\n", evidence.Frozen},
		{"v1, not frozen", v1, evidence.Uninterrupted, "freezer" + own + "/" + state, "THAWED\n", evidence.Uninterrupted},
		{"hybrid", v1 + "0::" + own + "\n", evidence.Sleeping, "unified" + own + "/" + events, "populated 1\nfrozen 1\n", evidence.Frozen},
		{"ended", own, evidence.Zombie, own + "/" + events, "populated 1\nfrozen 1\n", evidence.Zombie},
		{"no such group", own, evidence.Sleeping, "else", "", evidence.Sleeping},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: 200, Comm: "sleep", Cgroup: tt.cgroup, State: tt.state, Wchan: "do_freezer_trap"})
			writeFile(t, filepath.Join(root, "sys/fs/cgroup", tt.file), tt.text)
			found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
			if p := found.Containers[id]; len(p) != 1 || p[0].State != tt.want || (p[0].Wchan != "") != tt.want.Stuck() {
				t.Errorf("%+v, want it %v", p, tt.want)
			}
		})
	}
}

// The runtime and its shims can be frozen as well, and by a group above theirs.
func TestLookSeesWhoFroze(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	shim := fakeShim(200, id, testSocket)
	shim.Cgroup = "0::/system.slice/shims/one\n"
	writeProcess(t, root, shim)
	writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", Cgroup: "6:freezer:/ctd\n", State: evidence.Uninterrupted})
	for path, text := range map[string]string{
		"system.slice/shims/one/cgroup.events": "frozen 1\n", "system.slice/shims/one/cgroup.freeze": "0\n", "system.slice/shims/cgroup.freeze": "1\n",
		"freezer/ctd/freezer.state": "FROZEN\n", "freezer/ctd/freezer.self_freezing": "1\n",
	} {
		writeFile(t, filepath.Join(root, "sys/fs/cgroup", path), text)
	}
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	for _, p := range append(found.Shims, found.Daemons...) {
		want := map[int]string{200: "/sys/fs/cgroup/system.slice/shims/cgroup.freeze", 300: "/sys/fs/cgroup/freezer/ctd/freezer.state"}[p.PID]
		if p.State != evidence.Frozen || p.Freezer != want {
			t.Errorf("%+v, want it frozen by %s", p, want)
		}
	}
	if len(found.Shims)+len(found.Daemons) != 2 {
		t.Errorf("found %+v, want a shim and a daemon", found)
	}
}

// With v1 a process is moved into the group that freezes it.
func TestLookSeesWhatWasMovedIntoAFreezer(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	shim := fakeShim(200, id, testSocket)
	shim.Cgroup = "6:freezer:/\n"
	writeProcess(t, root, shim)
	w := newFixtureWalker(root)
	w.lookAt(t.Context(), firstLook)
	shim.Cgroup, shim.State, shim.Ran = "6:freezer:/held\n", evidence.Uninterrupted, 1000
	writeProcess(t, root, shim)
	writeFile(t, filepath.Join(root, "sys/fs/cgroup/freezer/held/freezer.state"), "FROZEN\n")
	found := w.lookAt(t.Context(), firstLook.Add(time.Minute)).Shims
	if len(found) != 1 || found[0].State != evidence.Frozen {
		t.Errorf("found %+v, want it frozen", found)
	}
}

// If the freezer does not answer, as on a busy node, a frozen process stays frozen, and the time that a process
// in D has slept is not held against it.
func TestLookAtAFreezerThatHangs(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		root, id := t.TempDir(), longID("1")
		shim := fakeShim(200, id, testSocket)
		shim.Cgroup, shim.State, shim.Ran = "6:freezer:/rk\n", evidence.Uninterrupted, 1000
		writeProcess(t, root, shim)
		file := filepath.Join(root, "sys/fs/cgroup/freezer/rk/freezer.state")
		writeFile(t, file, "FROZEN\n")
		w := newHangingWalker(root)
		w.clock = func(int) time.Duration { return time.Hour }
		if known {
			w.lookAt(t.Context(), firstLook)
		}
		hold(t, root, 200, "../../sys/fs/cgroup/freezer/rk/freezer.state")
		want := evidence.Uninterrupted
		if known {
			want = evidence.Frozen
		}
		found := w.lookAt(t.Context(), firstLook.Add(time.Second)).Shims
		if len(found) != 1 || found[0].State != want || found[0].For > time.Second {
			t.Errorf("known before: %t: found %+v, want it %v, for 1s at most", known, found, want)
		}
	}
}

func TestLookReadsNoWchanOfNought(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	writeProcess(t, root, fakeProcess{PID: 200, Comm: "sleep", Cgroup: cgroupOf(id), State: evidence.Stopped, Wchan: "0"})
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	if p := found.Containers[id]; len(p) != 1 || p[0].Wchan != "" || p[0].Stack != nil {
		t.Errorf("%+v, want neither wchan nor stack: who may not read it is told 0", p)
	}
}

// Each processor has a clock of its own. One look shows since when a thread sleeps, by the clock of the
// processor on which it last ran.
func TestLookTellsAtOnceForHowLong(t *testing.T) {
	clocks := map[int]time.Duration{0: 70 * time.Second, 1: 7 * time.Hour}
	thread := stuckThread(201, 5)
	thread.CPU, thread.Ran = 1, 7*3_600_000-63_000
	for _, tt := range []struct {
		name string
		proc fakeProcess
		want time.Duration
	}{
		{"D", fakeProcess{State: evidence.Uninterrupted, Ran: 10_000}, time.Minute},
		{"traced", fakeProcess{State: evidence.Traced, Ran: 10_000}, time.Minute},
		{"a thread", fakeProcess{Threads: []fakeProcess{thread}}, 63 * time.Second},
		{"a processor that is not ours", fakeProcess{State: evidence.Uninterrupted, Ran: 10_000, CPU: 2}, 0},
		{"not told", fakeProcess{State: evidence.Uninterrupted}, 0},
		{"asleep", fakeProcess{Ran: 10_000}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, id := t.TempDir(), longID("1")
			p := tt.proc
			p.PID, p.Comm, p.Cgroup = 200, "java", cgroupOf(id)
			writeProcess(t, root, p)
			w := newFixtureWalker(root)
			w.clock = func(cpu int) time.Duration { return clocks[cpu] }
			found := w.lookAt(t.Context(), firstLook).Containers[id]
			if len(found) != 1 || found[0].For != tt.want || found[0].AtLeast {
				t.Errorf("found %+v, want it so for %v", found, tt.want)
			}
		})
	}
}

// A frozen process may have slept for hours before it was frozen.
func TestLookDoesNotTellForHowLongItIsFrozen(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	writeProcess(t, root, fakeProcess{PID: 200, Comm: "java", Cgroup: "/kubepods/" + id, State: evidence.Sleeping, Ran: 10_000})
	writeFile(t, root+"/sys/fs/cgroup/kubepods/"+id+"/cgroup.events", "frozen 1\n")
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	if found := w.lookAt(t.Context(), firstLook).Containers[id]; len(found) != 1 || found[0].State != evidence.Frozen || found[0].For != 0 {
		t.Errorf("found %+v, want it frozen for 0s", found)
	}
}
