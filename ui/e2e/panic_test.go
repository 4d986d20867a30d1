//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// boomPart panics in the model once a relist is over, in the lane that has just observed something, or in
// a goroutine of the engine's.
const boomPart = `package engine

import (
	"os"

	"github.com/plegtop/plegtop/engine/guard"
)

func boom(m *Model) {
	switch {
	case !m.relistedOnce() && !m.closed:
	case os.Getenv("BOOM") != "":
		guard.Go(func() { panic("boom in a goroutine") })
	default:
		panic("boom in the engine")
	}
}
`

// withBoom builds the program with a model that calls boom.
func withBoom(t *testing.T) string {
	t.Helper()
	const model = "../../engine/model.go"
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	const pass = "func (m *Model) pass() {\n"
	before, after, ok := strings.Cut(string(text), pass)
	if !ok {
		t.Fatal("the model has no pass")
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
		model:                  write("model.go", before+pass+"\tboom(m)\n"+after),
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

// A panic of the engine ends every view alike: the terminal is given back, then the panic's value and
// its stack are printed, and the status is 3, which is no verdict.
func TestPanicOfTheEngine(t *testing.T) {
	t.Parallel()
	program := withBoom(t)
	for environ, want := range map[string]string{"BOOM=": "plegtop: panic: boom in the engine\n\n", "BOOM=1": "plegtop: panic: boom in a goroutine\n\n"} {
		r := start(t, 80, 24, []string{environ}, program, "--demo")
		r.over(t, 3)
		if said := r.stderr.String(); !strings.HasPrefix(said, want) || !strings.Contains(said, "boom.go") {
			t.Errorf("the screen: standard error %q, want %q and the stack", said, want)
		}
		for _, view := range []string{"watch", "check"} {
			cmd := exec.Command(program, "--demo", view, "-o", "json")
			cmd.Env = append(os.Environ(), environ)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, _ := cmd.Output() // the status tells
			if got := cmd.ProcessState.ExitCode(); got != 3 || !strings.Contains(stderr.String(), want) {
				t.Errorf("%s ends with %d and says %q, want 3 and %q", view, got, stderr.String(), want)
			}
			if view == "check" && environ == "BOOM=" && !strings.Contains(string(out), "CANNOT TELL") {
				t.Errorf("check says %q", out)
			}
		}
	}
}
