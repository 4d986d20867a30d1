package panetest

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// Working gives a node's snapshot a worker for each of its pods that acts, one in each state,
// of which two are held up.
func Working(s *engine.Snapshot) *engine.Snapshot {
	all := podworker.Workers{Acting: true, Expecting: true}
	for i, p := range s.Pods {
		w := &podworker.Worker{
			Pod: p.PodRef, Since: Ago(time.Duration(7*i) * time.Second), WakeUps: uint64(3 + i*i%7), Syncs: uint64(4 + i*i%7), Saved: uint64(i % 4),
			Last: Happened(0, 0, pleg.Started, p, p.Seen().Containers[0].Name, pleg.Created, pleg.Running).Event, LastAt: Ago(time.Duration(11*i) * time.Second),
		}
		switch i {
		case 1:
			w.State, w.Since = podworker.Syncing, Ago(400*time.Millisecond)
		case 2:
			w.State, w.Since, w.After, w.Queued = podworker.WaitsForStatus, Ago(47*time.Second), Ago(47*time.Second), 2
		case 4:
			w.State, w.Since, w.Queued, w.Expired, w.Spared = podworker.WaitsForExpected, Ago(4*time.Second), 1, 1, true
			w.Expected = []podworker.Expectation{
				{Kind: pleg.Started, Container: "payments", Until: Noon.Add(26 * time.Second)},
				{Kind: pleg.Started, Until: Noon.Add(29 * time.Second)},
			}
		case 6:
			w.State, w.Since, w.After = podworker.WaitsForStatus, Ago(700*time.Millisecond), Ago(700*time.Millisecond)
		}
		all.WakeUps, all.Saved, all.Expired, all.Syncs = all.WakeUps+w.WakeUps, all.Saved+w.Saved, all.Expired+w.Expired, all.Syncs+w.Syncs
		all.All = append(all.All, w)
	}
	s.Workers = all
	return s
}
