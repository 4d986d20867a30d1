//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlagsInDocs holds the list of flags in docs/flags.md to what --help says.
func TestFlagsInDocs(t *testing.T) {
	t.Parallel()
	help, err := exec.Command(plegtop(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, flags, ok := strings.Cut(string(help), "what it was built from\n\n")
	if !ok {
		t.Fatalf("--help lists no flags:\n%s", help)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "flags.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- flags -->\n```text\n")
	got, _, ok := strings.Cut(rest, "```\n<!-- /flags -->")
	if !ok {
		t.Fatal("docs/flags.md has no list of flags between its markers")
	}
	if diff := cmp.Diff(flags, got); diff != "" {
		t.Errorf("docs/flags.md is stale, copy from plegtop --help (-want +got):\n%s", diff)
	}
}
