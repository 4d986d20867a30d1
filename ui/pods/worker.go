package pods

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/widget"
)

// worker adds what the pod's worker does, if it has one.
func (s *sheet) worker(d *widget.Doc) {
	v := s.View
	if w := v.Workers.Of(s.of.Pod.UID); w != nil {
		_, st := look.Worker(v.Theme, w, diagnose.WorkerHeld(v.Snapshot, w))
		d.Field("worker", st, look.WorkerTells(&v.Workers, w, v.At))
	}
}
