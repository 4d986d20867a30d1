package lines

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// TestFiguresThatCannotBe holds that what JSON has no words for is left out of a
// check and said, and that all else is as it would be without it.
func TestFiguresThatCannotBe(t *testing.T) {
	far := time.UnixMilli(1.795e15) // milliseconds that were taken for seconds
	for name, tt := range map[string]struct {
		spoil func(*evidence.Report)
		want  string
	}{
		"none":                  {func(*evidence.Report) {}, ""},
		"a metric out of range": {func(r *evidence.Report) { r.Kubelet.LastSeen = far }, "host.kubelet.lastSeen"},
		"before the year 0":     {func(r *evidence.Report) { r.Kubelet.LastSeen = time.Date(-3, 1, 1, 0, 0, 0, 0, time.UTC) }, "host.kubelet.lastSeen"},
		"NaN":                   {func(r *evidence.Report) { r.Usage[0].CPU = evidence.Cores(math.NaN()) }, ""},
		"infinite":              {func(r *evidence.Report) { r.Usage[0].CPU = evidence.Cores(math.Inf(1)) }, "host.usage[0].cores"},
		"in a part":             {func(r *evidence.Report) { r.Pressure.IO.Some60 = math.NaN() }, "host.pressure"},
	} {
		u := healthyCheck()
		tt.spoil(u.Snapshot.Evidence)
		object := checkOutput(t, u, CheckOptions{JSON: true, Source: "cri"})
		var back struct {
			Calls []any
			Host  struct{ Kubelet struct{ Version string } }
			Notes []string
		}
		if err := json.Unmarshal(object, &back); err != nil || valid(object) != nil {
			t.Fatalf("%s: %v, %v", name, err, valid(object))
		}
		got, _, _ := strings.Cut(strings.Join(back.Notes, " "), " ")
		if got != tt.want || len(back.Calls) == 0 || back.Host.Kubelet.Version == "" {
			t.Errorf("%s: left out %q, want %q of %s", name, got, tt.want, object)
		}
	}
}
