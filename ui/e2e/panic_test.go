//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// boomPart is a part of the engine's machine that panics once two relists are over: in a
// goroutine that nobody guards if it is told so, as one of a library may.
const boomPart = `package engine

import "os"

type boom struct{ passive }

func (boom) advance(m *machine) {
	switch {
	case m.relists.count < 2:
	case os.Getenv("BOOM") != "":
		go panic("boom in a goroutine")
	default:
		panic("boom in the engine")
	}
}
`

// withBoom builds the program with that part in it.
func withBoom(t *testing.T) string {
	t.Helper()
	const list = "../../engine/parts.go"
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "\t\t{part: &m.calls}")
	if !ok {
		t.Fatal("there is no list of parts")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	changed := map[string]string{
		list:                   write("parts.go", before+"\t\t{part: boom{}},\n\t\t{part: &m.calls}"+after),
		"../../engine/boom.go": write("boom.go", boomPart),
	}
	overlay, err := json.Marshal(map[string]any{"Replace": changed})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "plegtop")
	if out, err := exec.Command("go", "build", "-overlay", write("overlay.json", string(overlay)), "-o", program, "../..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// A panic of the engine ends the program as any other does: the terminal is given back, then
// its words and its stack are printed, and the status is that of a crash.
func TestPanicOfTheEngine(t *testing.T) {
	t.Parallel()
	program := withBoom(t)
	r := start(t, 80, 24, nil, program, "--demo")
	r.over(t, 2)
	if said := r.stderr.String(); !strings.HasPrefix(said, "plegtop: panic: boom in the engine\n\n") || !strings.Contains(said, "boom.go") {
		t.Errorf("standard error: %q", said)
	}
	r = start(t, 80, 24, []string{"BOOM=1"}, program, "--demo")
	r.over(t, 2)
	if said := r.stderr.String(); !strings.HasPrefix(said, "panic: boom in a goroutine\n\n") || !strings.Contains(said, "\nplegtop: plegtop crashed") {
		t.Errorf("standard error: %q", said)
	}
	watch := exec.Command(program, "--demo", "watch")
	said, _ := watch.CombinedOutput() // the status tells
	if got := watch.ProcessState.ExitCode(); got != 2 || !strings.Contains(string(said), "boom in the engine") {
		t.Errorf("watch ends with %d and says %q", got, said)
	}
}
