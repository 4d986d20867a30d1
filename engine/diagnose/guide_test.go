package diagnose

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The guide is made of the tables: go test ./engine/diagnose -run Guide -update.
func TestGuideIsFresh(t *testing.T) {
	const path = "../../docs/guide.md"
	want := Guide()
	if *writeDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/guide.md (-want +got):\n%s", diff)
	}
}
