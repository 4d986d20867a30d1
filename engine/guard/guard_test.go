package guard

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// how tells the test binary, as a program, in what way it ends.
const how = "GUARD_TEST_HOW"

func TestMain(m *testing.M) {
	if as := os.Getenv(how); as != "" {
		program(as)
	}
	os.Exit(m.Run())
}

func program(as string) {
	defer Catch()
	defer Before(func() { os.Stdout.WriteString("gave the terminal back\n") })()
	defer Before(func() { panic("another one") })()
	Before(func() { os.Stdout.WriteString("never") })() // removed at once
	switch as {
	case "goroutine":
		Go(func() { panic("boom \x1b[31m") })
		select {}
	case "two":
		for range 2 {
			Go(func() { panic("boom \x1b[31m") })
		}
		select {}
	case "signal":
		Dumps()
		os.Stdout.WriteString("ready\n")
		select {}
	}
	defer Catch() // while all is as it was
	panic("boom \x1b[31m")
}

// A panic ends the program with the status that says nothing of the node, after what is to be
// done before, and with its trace.
func TestPanicEndsTheProgram(t *testing.T) {
	for _, as := range []string{"main", "goroutine", "two"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), how+"="+as)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, _ := cmd.Output() // the status tells
		if got := cmd.ProcessState.ExitCode(); got != Status {
			t.Errorf("%s: status %d, want %d", as, got, Status)
		}
		if got := string(out); got != "gave the terminal back\n" {
			t.Errorf("%s: standard output %q", as, got)
		}
		said := stderr.String()
		if !strings.HasPrefix(said, "plegtop: panic: boom ?[31m\n\n") || strings.Count(said, "panic: boom") != 1 || !strings.Contains(said, "guard_test.go") {
			t.Errorf("%s: standard error %q", as, said)
		}
	}
}

// Go would end the program with the status of a critical finding.
func TestDumpHasAStatusOfItsOwn(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGQUIT: 131, syscall.SIGABRT: 134} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), how+"=signal")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(sig)
		_ = cmd.Wait() // its status tells
		if got := cmd.ProcessState.ExitCode(); got != want || !strings.Contains(stderr.String(), "\ngoroutine 1 [") {
			t.Errorf("%v: status %d, want %d; standard error %q", sig, got, want, stderr.String())
		}
	}
}

// The end of either ends the other, and the errors of both are returned.
func TestBeside(t *testing.T) {
	one, other := errors.New("one"), errors.New("other")
	ends := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	waits := func(ctx context.Context) error {
		<-ctx.Done()
		return other
	}
	for _, err := range []error{Beside(t.Context(), ends(one), waits), Beside(t.Context(), waits, ends(one))} {
		if !errors.Is(err, one) || !errors.Is(err, other) {
			t.Error(err)
		}
	}
	if err := Beside(t.Context(), ends(nil), ends(nil)); err != nil {
		t.Error(err)
	}
}
