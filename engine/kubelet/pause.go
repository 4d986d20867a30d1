package kubelet

import "time"

// SetPaused begins or ends a pause. A pause is no fault of the runtime: nothing is judged while
// it lasts. At its end all clocks move by its length, and so go on from where they stood.
func (k *Kubelet) SetPaused(at time.Time, paused bool) {
	k.passTo(at)
	if paused == k.Paused() {
		return
	}
	if paused {
		k.PausedAt = at
		return
	}
	length := at.Sub(k.PausedAt)
	k.PausedAt = time.Time{}
	for _, clock := range []*time.Time{&k.Listed, &k.Relisting, &k.Loop.Synced, &k.Says.LoopHeld, &k.Poster.Asked, &k.Poster.NextAt} {
		if !clock.IsZero() {
			*clock = clock.Add(length)
		}
	}
	// A relist or Status that was asked for in the pause was answered in it: no clock is past its
	// end.
	k.Listed, k.Relisting, k.Loop.Synced = sooner(k.Listed, at), sooner(k.Relisting, at), sooner(k.Loop.Synced, at)
}

// Paused reports whether a pause lasts.
func (k *Kubelet) Paused() bool { return !k.PausedAt.IsZero() }

// now returns the moment by the kubelet's clocks: they stand still in a pause.
func (k *Kubelet) now() time.Time { return sooner(k.PausedAt, k.At) }
