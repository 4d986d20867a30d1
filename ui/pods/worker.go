package pods

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/widget"
)

// worker adds what the pod's worker does, if it has one.
func (s *sheet) worker(d *widget.Doc) {
	v := s.View
	if w := v.Workers.Of(s.of.Pod.UID); w != nil {
		_, st := say.Worker(v.Theme, w, diagnose.WorkerHeld(v.Snapshot, w))
		d.Field("worker", st, say.WorkerTells(&v.Workers, w, v.At))
	}
}
