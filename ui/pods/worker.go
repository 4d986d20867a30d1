package pods

import (
	"slices"

	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/widget"
)

// worker adds what the pod's worker does, if it has one.
func (s *sheet) worker(d *widget.Doc) {
	v := s.View
	all := &v.Workers
	i := slices.IndexFunc(all.All, func(w podworker.Worker) bool { return w.Pod.UID == s.of.Pod.UID })
	if i < 0 {
		return
	}
	_, st := look.Worker(v.Theme, &all.All[i], v.At)
	d.Field("worker", st, look.WorkerTells(all, &all.All[i], v.At))
}
