package lines

import (
	"bytes"
	"encoding/json"
	goruntime "runtime"
	"testing"
)

func TestVersion(t *testing.T) {
	var out bytes.Buffer
	if err := Version(&out, "1.2.3", false); err != nil || out.String() != "plegtop 1.2.3\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := Version(&out, "1.2.3", true); err != nil {
		t.Fatal(err)
	}
	var o struct {
		Version, Go, Kubelet string
		RecordingFormat      int
	}
	if err := json.Unmarshal(out.Bytes(), &o); err != nil || o.Version != "1.2.3" || o.Go != goruntime.Version() || o.Kubelet == "" || o.RecordingFormat == 0 {
		t.Errorf("%s: %+v, %v", out.String(), o, err)
	}
}
