package proc

import (
	"strings"
	"testing"
	"time"
)

func TestStatHasTheKernelsFields(t *testing.T) {
	p := Process{PID: 4711, Parent: 12, Name: "containerd-shim-runc-v2", State: 'D', Pages: 10, Threads: 3, Percent: 50}
	up, age := 100*time.Second, 40*time.Second
	line := p.stat(4712, up, age)
	front, back, _ := strings.Cut(line, ") ")
	if front != "4712 (containerd-shim" || !strings.HasSuffix(line, "\n") {
		t.Errorf("stat begins with %q", front)
	}
	fields := strings.Fields(back)
	if len(fields) != 50 {
		t.Fatalf("%d fields, want 52", 2+len(fields))
	}
	for n, want := range map[int]string{ // by the numbers of proc(5)
		3: "D", 4: "12", 5: "4711", 14: "1333", 15: "666", 20: "3", 22: "6000", 24: "10", 39: "0", 52: "0",
	} {
		if got := fields[n-3]; got != want {
			t.Errorf("field %d is %q, want %q", n, got, want)
		}
	}
}

func TestASleepIsNamedByItsInnermostFunction(t *testing.T) {
	if InNFS.wchan != "rpc_wait_bit_killable" {
		t.Errorf("wchan %q", InNFS.wchan)
	}
	for i, line := range strings.Split(strings.TrimSuffix(InNFS.stack, "\n"), "\n") {
		if !strings.HasPrefix(line, "[<0>] ") || i == 0 && !strings.HasPrefix(line, "[<0>] rpc_wait_bit_killable+") {
			t.Errorf("line %d of the stack is %q", i+1, line)
		}
	}
}
