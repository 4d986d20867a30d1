package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlagsInREADME holds the README's list of flags to what --help says.
func TestFlagsInREADME(t *testing.T) {
	t.Parallel()
	help, err := exec.Command(plegtop(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, flags, ok := strings.Cut(string(help), "the version of plegtop\n\n")
	if !ok {
		t.Fatalf("--help lists no flags:\n%s", help)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "<!-- flags -->\n```text\n")
	got, _, ok := strings.Cut(rest, "```\n<!-- /flags -->")
	if !ok {
		t.Fatal("README.md has no list of flags between its markers")
	}
	if diff := cmp.Diff(flags, got); diff != "" {
		t.Errorf("README.md is stale, copy from plegtop --help (-want +got):\n%s", diff)
	}
}
