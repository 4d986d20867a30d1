package stacks

import "strings"

// A sign is a function that tells what a goroutine that is in it does.
type sign struct {
	name  string // ends with it, or begins a part of it if it ends with "*"
	does  string
	calls bool // others must answer it; else something further out may say it better
}

// signs in the order of their weight.
var signs = []sign{
	{"libcni.(*CNIConfig).Add*", "CNI add", true},
	{"libcni.(*CNIConfig).add*", "CNI add", true},
	{"libcni.(*CNIConfig).Del*", "CNI del", true},
	{"libcni.(*CNIConfig).del*", "CNI del", true},
	{"libcni.(*CNIConfig).Check*", "CNI check", true},
	{"libcni.(*CNIConfig).check*", "CNI check", true},
	{"libcni.(*CNIConfig).GetStatus*", "CNI status", true},
	{"libcni.(*CNIConfig).GC*", "CNI gc", true},
	{"sys/unix.Unmount", "unmount", true},
	{"syscall.Unmount", "unmount", true},
	{"sys/unix.Mount", "mount", true},
	{"syscall.Mount", "mount", true},
	{"os.(*File).Sync", "fsync", true},
	{"sys/unix.Fsync", "fsync", true},
	{"syscall.Fsync", "fsync", true},
	{"syscall.Fdatasync", "fsync", true},
	{"sys/unix.Fdatasync", "fsync", true},
	{"os.RemoveAll", "removal of files", true},
	{"os.OpenFile", "open of a file", true},
	{"os.Stat", "stat of a file", true},
	{"os.Lstat", "stat of a file", true},
	{"os/exec.(*Cmd).Wait", "exec of a program", true},
	{"os.(*Process).Wait", "exec of a program", true},
	{"os.StartProcess", "exec of a program", true},
	{"fifo.(*fifo).Read", "read of a pipe", true},
	{"os.(*File).Read", "read of a file", true},
	{"os.(*File).Write", "write of a file", true},
	{"net.(*conn).Read", "read of a socket", false},
	{"net.(*conn).Write", "write to a socket", false},
	{"time.Sleep", "sleep", false},
}

// byState is what a goroutine does of which no function tells it.
var byState = map[string]string{
	"select": "wait for a channel", "chan receive": "wait for a channel", "chan send": "wait for a channel",
	"semacquire": "wait for other goroutines", "sync.WaitGroup.Wait": "wait for other goroutines", "sync.Cond.Wait": "wait for other goroutines",
	"IO wait": "input or output", "syscall": "system call", "sleep": "sleep",
}

// doing says what the goroutines of a group wait for, and whether it is a call that others
// must answer.
func (d *dump) doing(of *group) (does string, calls bool) {
	if !of.told {
		of.does, of.calls = d.tell(of)
		of.told = true
	}
	return of.does, of.calls
}

func (d *dump) tell(of *group) (does string, calls bool) {
	if of.lockers > 0 {
		return "another lock", false
	}
	protocol, weight := "", len(signs)
	for _, id := range of.frames {
		f := &d.functions[id]
		switch {
		case f.is(asksTTRPC):
			protocol = "ttrpc"
		case f.is(asksGRPC):
			protocol = "grpc"
		case protocol != "" && strings.HasSuffix(f.owner, "Client)"):
			return protocol + " " + serviceOf(f) + "." + f.method, true
		}
		weight = min(weight, f.sign)
	}
	switch {
	case protocol != "":
		return protocol + " call", true
	case weight == len(signs):
		return byState[of.state], false
	case of.state == "IO wait" && strings.HasSuffix(signs[weight].does, "of a file"):
		return strings.TrimSuffix(signs[weight].does, "file") + "pipe", true // files are never waited for so
	}
	return signs[weight].does, signs[weight].calls
}

// doingFor says what a goroutine waits for, itself or by one that it has started.
func (d *dump) doingFor(k *kept) string {
	does, calls := d.doing(&d.groups[k.group])
	if calls || k.lock >= 0 {
		return does
	}
	for i := range d.kept {
		if by := &d.kept[i]; by.parent == k.number {
			if asks, calls := d.doing(&d.groups[by.group]); calls && d.isOpen(&d.groups[by.group]) {
				return asks
			}
		}
	}
	return does
}

// isOpen reports whether the goroutines of a group answer a call of the CRI, or have asked another
// program for something: not for its end, for which one waits as long as it runs.
func (d *dump) isOpen(of *group) bool {
	if of.lockers > 0 {
		return false
	}
	does, calls := d.doing(of)
	asks := strings.HasPrefix(does, "ttrpc ") || strings.HasPrefix(does, "grpc ") || strings.HasPrefix(does, "CNI ") || strings.HasPrefix(does, "exec ")
	idle := strings.HasSuffix(does, ".Wait") || strings.HasSuffix(does, ".WaitSandbox") || strings.HasSuffix(does, ".Subscribe")
	return of.call != "" || calls && asks && !idle
}

// signOf is the place of what a function's name tells, len(signs) if it tells nothing.
func signOf(name string) int {
	for i, s := range signs {
		begin, open := strings.CutSuffix(s.name, "*")
		switch at := strings.LastIndex(name, begin); {
		case at < 0 || at > 0 && name[at-1] != '/':
		case open || at+len(begin) == len(name):
			return i
		}
	}
	return len(signs)
}

// serviceOf is the service of a client that protoc has made: "Task" of (*ttrpctaskClient).
func serviceOf(f *function) string {
	_, name, _ := strings.Cut(strings.TrimSuffix(f.owner, "Client)"), "(*")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "ttrpc"), "grpc")
	if name == "" {
		return "client"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
