package lines

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is said of each recording in the folder, from its beginning to its end and at its worst
// moment, is what its goldens say.
func TestIncidents(t *testing.T) {
	const folder = "../../engine/record/testdata"
	worst, err := os.ReadFile(filepath.Join(folder, "worst.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(worst)) {
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		t.Run(name, func(t *testing.T) {
			base := filepath.Join(folder, name)
			var watched, checked bytes.Buffer
			if _, err := opened(t, base+".plegrec", "").Watch(t.Context(), &watched, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, base+".watch.golden", watched.Bytes())
			if _, err := opened(t, base+".plegrec", at).Check(t.Context(), &checked, CheckOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, base+".check.golden", checked.Bytes())
		})
	}
}
