package lines

import (
	"bytes"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/replay/replaytest"
)

// What is said of each recording in the folder, from its beginning to its end and at its worst
// moment, is what its goldens say.
func TestIncidents(t *testing.T) {
	for _, in := range replaytest.Incidents(t, "../../engine/replay/testdata") {
		t.Run(in.Name, func(t *testing.T) {
			base := in.Path[:len(in.Path)-len(".plegrec")]
			var watched, checked bytes.Buffer
			if err := opened(t, in.Path, "").Watch(t.Context(), &watched, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, base+".watch.golden", watched.Bytes())
			if _, err := opened(t, in.Path, in.Worst.Format(time.RFC3339Nano)).Check(t.Context(), &checked, CheckOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, base+".check.golden", checked.Bytes())
		})
	}
}
