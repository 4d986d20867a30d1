package host

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// tree writes files, named by their path, into a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const (
	someLine = "some avg10=1.50 avg60=2.25 avg300=3.00 total=4\n"
	fullLine = "full avg10=0.50 avg60=0.25 avg300=0.00 total=2\n"
)

func TestReadPressure(t *testing.T) {
	both := evidence.Stall{Some10: 1.5, Some60: 2.25, Full10: 0.5, Full60: 0.25}
	some := evidence.Stall{Some10: 1.5, Some60: 2.25}
	tests := []struct {
		name            string
		cpu, io, memory string
		want            evidence.Pressure
		err             string
	}{
		{"now", someLine + fullLine, someLine + fullLine, someLine + fullLine, evidence.Pressure{CPU: both, IO: both, Memory: both}, ""},
		{"no full for the CPU before Linux 5.13", someLine, someLine + fullLine, someLine + fullLine, evidence.Pressure{CPU: some, IO: both, Memory: both}, ""},
		{"not shares", "some avg10=NaN avg60=-1 avg300=0 total=0\n", "some avg10=+Inf avg60=250 avg300=0 total=0\n", "", evidence.Pressure{IO: evidence.Stall{Some10: 100, Some60: 100}}, ""},
		{"garbage", "some of it\n", "", "", evidence.Pressure{}, "/proc/pressure/cpu: input does not match format"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"proc/pressure/cpu": tt.cpu, "proc/pressure/io": tt.io, "proc/pressure/memory": tt.memory})
			got, err := readPressure(root)
			if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("error %v, want %q; (-want +got):\n%s", err, tt.err, diff)
			}
		})
	}
}

func TestReadPressureMissing(t *testing.T) {
	if _, err := readPressure(t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "no /proc: ") {
		t.Errorf("without /proc: %v", err)
	}
	if _, err := readPressure(tree(t, map[string]string{"proc/stat": ""})); err == nil || !strings.Contains(err.Error(), "CONFIG_PSI") {
		t.Errorf("without PSI: %v", err)
	}
	off := &os.PathError{Op: "read", Path: "/proc/pressure/cpu", Err: syscall.EOPNOTSUPP}
	if got := noPressure("cpu", off).Error(); !strings.Contains(got, "psi=1") {
		t.Errorf("with PSI switched off: %q", got)
	}
	denied := &os.PathError{Op: "open", Path: "/proc/pressure/cpu", Err: syscall.EACCES}
	if got := noPressure("cpu", denied).Error(); got != "/proc/pressure/cpu: permission denied" {
		t.Errorf("without permission: %q", got)
	}
}
