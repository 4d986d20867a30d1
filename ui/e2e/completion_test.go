//go:build linux

package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// Bash completes words by asking the program.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	program := plegtop(t)
	for line, want := range map[string]string{
		" che":                "check",
		" --demo=hung-insp":   "hung-inspect", // what is left of the equals sign stays
		" explain list-":      "list-too-big list-hung",
		" --theme li":         "light",
		" --kubelet-version=": "1.25 1.26 1.27 1.28 1.29 1.30 1.31 1.32 1.33 1.34 1.35 1.36 1.37",
	} {
		cmd := exec.Command(bash, "-c", `
			source <("$1" completion bash)
			COMP_LINE=$1$2 COMP_POINT=$((${#1} + ${#2})) COMP_WORDS=("$1" "${2##*[ =]}") COMP_CWORD=1
			_plegtop
			echo "${COMPREPLY[*]}"`, "bash", program, line)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
}
