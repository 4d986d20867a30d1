package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// how tells the test binary, as a program, what its child does.
const how = "CRASH_TEST_HOW"

func TestMain(m *testing.M) {
	if os.Getenv(how) != "" {
		os.Exit(program())
	}
	os.Exit(m.Run())
}

// program is a main with a verdict. It ends with 50 after a crash, and as by the signal when
// it was asked to.
func program() int {
	status, err := Contain(func() int {
		switch h := os.Getenv(how); h {
		case "panic":
			panic("on purpose")
		case "goroutine":
			go func() { panic(errors.New("in a goroutine")) }()
			time.Sleep(time.Minute)
		case "fatal":
			m := map[int]int{}
			for range 8 {
				go func() {
					for {
						m[1]++
					}
				}()
			}
			time.Sleep(time.Minute)
		case "killed":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		case "waits":
			fmt.Println("ready")
			time.Sleep(time.Minute)
		default:
			return int(h[0] - '0')
		}
		return 0
	}, Terminal{})
	if errors.Is(err, ErrCrashed) {
		return Status(50)
	}
	if err != nil {
		return Status(status)
	}
	if IsChild() {
		return Status(status)
	}
	return status
}

func TestCrashIsNoVerdict(t *testing.T) {
	for as, want := range map[string]int{"0": 0, "1": 1, "2": 2, "3": 3, "panic": 50, "goroutine": 50, "fatal": 50, "killed": 50} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), how+"="+as)
		said, _ := cmd.CombinedOutput() // the status tells
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: status %d, want %d; it said %s", as, got, want, said)
		}
	}
}

// A signal to the parent ends the child as well, which is no crash, also where Go
// ends it as if it were one.
func TestSignalsArePassedOn(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGQUIT: 131, syscall.SIGABRT: 134, syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129, syscall.SIGKILL: -1} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), how+"=waits")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ready := make([]byte, 6)
		if _, err := out.Read(ready); err != nil || !strings.HasPrefix(string(ready), "ready") {
			t.Fatalf("it said %q: %v", ready, err)
		}
		_ = cmd.Process.Signal(sig)
		if n, _ := out.Read(ready); n > 0 { // the end of the file: nobody has it open any more
			t.Errorf("%v: it goes on", sig)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: status %d, want %d", sig, got, want)
		}
	}
}

// What makes a child one may be in the environment of a shell: who has another parent than
// that says has nobody who would read its status as a child's.
func TestMarkOfAnotherParent(t *testing.T) {
	for _, parent := range []string{"1", ""} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), how+"=2", mark+"="+parent)
		said, _ := cmd.CombinedOutput() // the status tells
		if got := cmd.ProcessState.ExitCode(); got != 2 {
			t.Errorf("%s=%s: status %d, want 2; it said %s", mark, parent, got, said)
		}
	}
}
