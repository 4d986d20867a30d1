package pleg

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// What the caller of a [Core] can do wrong. The core is unchanged by a call
// that returns one of them.
var (
	ErrBusy       = errors.New("a relist is under way")
	ErrIdle       = errors.New("no relist is under way")
	ErrUnsettled  = errors.New("a pod still needs an inspection")
	ErrNotPending = errors.New("the pod's inspection is not awaited")
	ErrUnknownPod = errors.New("the pod was never listed")
	ErrRelease    = errors.New("this kubelet release relists no pod alone")
)

// A Core holds one record for each pod and decides, from what was listed and
// inspected, which events there are. The package comment says how a relist
// goes. A Core must not be used from two goroutines at once.
type Core struct {
	rules     rules
	threshold time.Duration

	records records
	asked   map[UID]struct{} // reinspections of pods that have no record
	cache   *Cache
	gauges  Gauges

	listedAt time.Time
	lastSeen time.Time // the kubelet's metric pleg_last_seen_seconds: listedAt in whole seconds, as of the last call of Healthy; zero for one that was never set

	relist   relist
	differ   differ
	exits    Lookup // in the status of the pod whose record advances
	released []Event

	// The event channel, as a count.
	unread, capacity int
	attended         bool // by a reader that takes its turn after each pod
}

// New returns a core that has seen nothing yet, or the error of
// [Config.Validate].
func New(cfg Config) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Core{
		rules:     rulesOf(cfg.Release),
		threshold: cfg.Threshold,
		records:   records{byUID: map[UID]*record{}},
		asked:     map[UID]struct{}{},
		cache:     NewCache(false),
		capacity:  cfg.Capacity,
	}, nil
}

// Follow goes on as a kubelet of another release does that has taken this one's
// place; what was seen stays. It returns the error of [Config.Validate], or
// [ErrBusy] if a relist has not ended.
func (c *Core) Follow(r Release) error {
	if err := (Config{Release: r}).Validate(); err != nil {
		return err
	}
	if c.relist.scope != idle {
		return fmt.Errorf("follow kubelet %v: %w", r, ErrBusy)
	}
	c.rules = rulesOf(r)
	if c.rules.retryPhase {
		c.takeOver()
	}
	return nil
}

// takeOver has a second pass inspect what a release without one has left due: the pods as they
// were listed last.
func (c *Core) takeOver() {
	for _, r := range c.records.order {
		if !r.due || r.stale != nil {
			continue
		}
		if r.due = r.current != nil; r.due {
			r.stale = r.current.Clone()
		}
	}
}

// Cache returns the pod cache that the core writes. It is for reading: what
// others write there is used as if the core had.
func (c *Core) Cache() *Cache { return c.cache }

// Begin begins a relist of all pods, once both lists have succeeded: pods is
// what they showed. The core keeps pointers into pods, so the caller must not
// touch the slice again. at is the START of the relist, before the lists, and
// becomes the time that [Core.Healthy] tests, although inspections are still to
// come. Of two pods with one UID the last counts. It returns [ErrBusy] if a
// relist has not ended.
func (c *Core) Begin(at time.Time, pods []Pod) error {
	if c.relist.scope != idle {
		return fmt.Errorf("begin relist: %w", ErrBusy)
	}
	c.relist.scope, c.relist.at = everything, at
	c.listedAt = at
	c.gauges.count(pods)
	for _, r := range c.records.order {
		r.list(nil)
	}
	for i := range pods {
		c.recordOf(pods[i].PodRef).list(&pods[i])
	}
	c.records.sort()
	for _, r := range c.records.order {
		c.compare(r)
	}
	c.relist.walk = c.records.order
	c.released = slices.Grow(c.released, len(c.relist.changes))
	return nil
}

// BeginPod begins a relist of one pod, as 1.36 and later make it on demand,
// once listing that pod has succeeded. It moves neither the time that
// [Core.Healthy] tests nor the gauges nor the cache's global time. It returns
// [ErrBusy] if a relist has not ended and [ErrRelease] for older releases.
func (c *Core) BeginPod(at time.Time, pod Pod) error {
	if !c.rules.onDemand {
		return fmt.Errorf("relist pod %v: %w", pod.PodRef, ErrRelease)
	}
	if c.relist.scope != idle {
		return fmt.Errorf("relist pod %v: %w", pod.PodRef, ErrBusy)
	}
	c.relist.scope, c.relist.at = onePod, at
	r := c.recordOf(pod.PodRef)
	r.list(&pod)
	c.records.sort()
	c.compare(r)
	c.relist.only(r)
	c.relist.observed = pod.ListedAt
	return nil
}

// BeginInspect begins a single inspection of a known pod, outside any relist:
// only the cache is written; record, events and pending reinspections stay as
// they are. It is what 1.28 to 1.31 do when a pod's resources are changed in
// place, and it is offered for every release. It returns [ErrUnknownPod] for a
// pod without a record and [ErrBusy] if a relist has not ended.
func (c *Core) BeginInspect(uid UID) error {
	if c.relist.scope != idle {
		return fmt.Errorf("inspect pod %s: %w", uid, ErrBusy)
	}
	r, ok := c.records.byUID[uid]
	if !ok || r.seen() == nil {
		return fmt.Errorf("inspect pod %s: %w", uid, ErrUnknownPod)
	}
	c.relist.scope = inspection
	c.relist.only(r)
	return nil
}

// RequestReinspect asks for one inspection of a pod though nothing changed. It
// is made in the pod's next turn, in this relist if that is still to come; for
// a pod never listed the request waits for as long as it takes. Releases before
// 1.36 cannot be asked: there it does nothing, and [Core.BeginInspect] serves
// instead.
func (c *Core) RequestReinspect(uid UID) {
	if !c.rules.onDemand {
		return
	}
	if r, ok := c.records.byUID[uid]; ok {
		r.due = true
		return
	}
	c.asked[uid] = struct{}{}
}

// End ends the relist: the cache's global time moves and whoever waits for it
// is served. It returns [ErrUnsettled], and the relist goes on, while a pod
// still needs an inspection, and [ErrIdle] if no relist was begun.
func (c *Core) End() error {
	if c.relist.scope == idle {
		return fmt.Errorf("end relist: %w", ErrIdle)
	}
	if next, more := c.Next(); more {
		return fmt.Errorf("end relist: pod %v: %w", next.Pod.PodRef, ErrUnsettled)
	}
	switch c.relist.scope {
	case everything:
		c.cache.UpdateTime(c.relist.at)
	case onePod:
		c.cache.Observe(c.relist.one[0].UID, c.relist.observed)
	}
	c.records.sweep()
	c.relist.end()
	if len(c.released) == 0 {
		c.released = nil // the room that Begin made is taken, or was not needed
	}
	return nil
}

// Released returns the events decided since the last call, in order, with the
// filtered and the discarded ones, and nil if there are none. The slice is the
// caller's; its capacity is no more than its length.
func (c *Core) Released() []Event {
	n := len(c.released)
	if n == 0 {
		return nil
	}
	events := c.released[:n:n]
	c.released = c.released[n:] // the rest of the room is for the rest of this relist
	if c.relist.scope == idle {
		c.released = nil
	}
	return events
}

// recordOf returns the record of a listed pod, and makes it if need be.
func (c *Core) recordOf(pod PodRef) *record {
	if r, ok := c.records.byUID[pod.UID]; ok {
		return r
	}
	r := c.records.add(pod)
	_, r.due = c.asked[pod.UID]
	delete(c.asked, pod.UID)
	return r
}

// compare finds the changes of a record, which wait for its turn.
func (c *Core) compare(r *record) {
	l := &c.relist
	r.first, r.end = len(l.changes), len(l.changes)
	var equal bool
	if equal, r.same = alike(r.old, r.current, &r.places); !equal {
		l.changes = c.differ.diff(l.changes, r.old, r.current)
		r.end = len(l.changes)
	}
}

var errNeverListed = errors.New("pleg has yet to be successful")

// Healthy returns nil if the kubelet would call its PLEG healthy at now, or an
// error with the kubelet's exact text. What counts is the start of the last
// relist whose lists succeeded; a list age that equals the threshold is still
// healthy. As in the kubelet, the call moves pleg_last_seen_seconds.
func (c *Core) Healthy(now time.Time) error {
	if c.listedAt.IsZero() {
		return errNeverListed
	}
	c.lastSeen = time.Unix(c.listedAt.Unix(), 0)
	return c.Overdue(now.Sub(c.listedAt))
}

// Overdue returns what the kubelet says of a last good list of that age; nil up to the
// threshold.
func (c *Core) Overdue(age time.Duration) error {
	if age > c.threshold {
		return fmt.Errorf("pleg was last seen active %v ago; threshold is %v", age, c.threshold)
	}
	return nil
}

// Threshold returns the age of the last good list above which PLEG is unhealthy.
func (c *Core) Threshold() time.Duration { return c.threshold }

// OnDemand reports whether one pod can be relisted alone (see [Core.BeginPod]).
func (c *Core) OnDemand() bool { return c.rules.onDemand }

// ListedAt returns the start of the last relist of all pods whose lists
// succeeded, and zero before the first.
func (c *Core) ListedAt() time.Time { return c.listedAt }

// Gauges are the kubelet's metrics of what runs, as of the last relist of all
// pods.
type Gauges struct {
	RunningPods int // running_pods: with a running sandbox

	// Containers is running_containers by state. A state that no container has
	// any more keeps its last figure, as in the kubelet.
	Containers [Unknown + 1]int
}

// count counts a list. The kubelet counts lines: a pod that is listed twice
// counts twice.
func (g *Gauges) count(pods []Pod) {
	var containers [Unknown + 1]int
	g.RunningPods = 0
	for i := range pods {
		for j := range pods[i].Containers {
			containers[min(pods[i].Containers[j].State.listed(), Unknown)]++
		}
		if pods[i].running() {
			g.RunningPods++
		}
	}
	for s, n := range containers {
		if n > 0 {
			g.Containers[s] = n
		}
	}
}

func (p *Pod) running() bool {
	return slices.ContainsFunc(p.Sandboxes, func(s Sandbox) bool { return s.State == Running })
}
