package pleg

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Errors for wrong calls of a [Core]. A call that returns one of these has changed nothing.
var (
	ErrBusy       = errors.New("a relist is under way")
	ErrIdle       = errors.New("no relist is under way")
	ErrUnsettled  = errors.New("a pod still needs an inspection")
	ErrNotPending = errors.New("this pod is not the one to be inspected")
	ErrUnknownPod = errors.New("the pod was never listed")
	ErrRelease    = errors.New("this kubelet release relists no pod alone")
)

// A Core has one record for each pod. It decides from lists and inspections which events there
// are. The package comment says how a relist goes.
type Core struct {
	rules     rules
	threshold time.Duration
	capacity  int
	state     Checkpoint
	order     []UID // of the records; nil after one came or went
	batch     int   // how many events Released returned last: as many are likely next
}

// A Checkpoint is all that a [Core] knows, as plain values for an encoder that keeps times to the
// nanosecond.
type Checkpoint struct {
	Records   map[UID]*Record
	Requested map[UID]bool // reinspections of pods that have no record
	Cache     *Cache
	Gauges    Gauges
	ListedAt  time.Time // the start of the last good relist of all pods
	Relist    Relist    // under way; zero between two relists
	Released  []Event   // that nobody has taken yet
	Unread    int       // events in the channel
	Attended  bool      // the channel has a reader that keeps up
}

// New returns a core that has seen nothing yet, or the error of [Config.Validate].
func New(cfg Config) (*Core, error) {
	return Restore(cfg, Checkpoint{Records: map[UID]*Record{}, Requested: map[UID]bool{}, Cache: NewCache(false)})
}

// Restore returns a core that goes on from the checkpoint. The core owns the checkpoint from now
// on. cfg has the release that the core followed last. The next list may show each pod as a new
// pointer. Restore returns the error of [Config.Validate], or an error for a damaged checkpoint.
func Restore(cfg Config, s Checkpoint) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Core{
		rules:     rulesOf(cfg.Release),
		threshold: cmp.Or(cfg.Threshold, DefaultThreshold),
		capacity:  max(cmp.Or(cfg.Capacity, DefaultCapacity), 0),
		state:     s,
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("restore pleg: %w", err)
	}
	c.takeOver()
	return c, nil
}

// check returns an error for a state that no core can have.
func (c *Core) check() error {
	l, cache := &c.state.Relist, c.state.Cache
	if c.state.Records == nil || c.state.Requested == nil || cache == nil || cache.Entries == nil || cache.Waiting == nil {
		return errors.New("the checkpoint is incomplete")
	}
	for uid, r := range c.state.Records {
		if r == nil || r.UID != uid {
			return fmt.Errorf("the record of pod %s is damaged", uid)
		}
	}
	for _, uid := range append(slices.Clone(l.Queue), l.Pending) {
		if r := c.state.Records[uid]; uid != "" && (r == nil || uid == l.Pending && c.subject(r) == nil) {
			return fmt.Errorf("the turn of pod %s can't come", uid)
		}
	}
	return nil
}

// Checkpoint returns all that the core knows, also in the middle of a relist. It shares memory
// with the core: encode it before the core moves.
func (c *Core) Checkpoint() Checkpoint { return c.state }

// Follow makes the core act as a kubelet of another release from now on. The state stays. It
// returns the error of [Config.Validate], or [ErrBusy] if a relist has not ended.
func (c *Core) Follow(r Release) error {
	if err := (Config{Release: r}).Validate(); err != nil {
		return err
	}
	if c.state.Relist.Scope != idle {
		return fmt.Errorf("follow kubelet %v: %w", r, ErrBusy)
	}
	c.rules = rulesOf(r)
	c.takeOver()
	return nil
}

// takeOver prepares the second pass of a new release. The pods that the old release left for a
// reinspection are inspected there as they were listed last.
func (c *Core) takeOver() {
	for _, r := range c.state.Records {
		if c.rules.retryPhase && r.Reinspect && r.Stale == nil {
			r.Stale = r.Current
			r.Reinspect = r.Stale != nil
		}
	}
}

// uids returns the UIDs of all records in their order. The slice never changes.
func (c *Core) uids() []UID {
	if c.order == nil {
		c.order = slices.Sorted(maps.Keys(c.state.Records))
	}
	return c.order
}

// Cache returns the pod cache that the core writes. Others only read it and wait.
func (c *Core) Cache() *Cache { return c.state.Cache }

var errNeverListed = errors.New("pleg has yet to be successful")

// Healthy returns nil if the kubelet would call its PLEG healthy at now, or an error with the
// kubelet's exact text. It goes by the start of the last relist whose lists succeeded.
func (c *Core) Healthy(now time.Time) error {
	if c.state.ListedAt.IsZero() {
		return errNeverListed
	}
	return Overdue(now.Sub(c.state.ListedAt), c.threshold)
}

// Overdue returns the kubelet's error for a last good list of that age. It returns nil up to the
// threshold: an age that equals it is healthy.
func Overdue(age, threshold time.Duration) error {
	if age > threshold {
		return fmt.Errorf("pleg was last seen active %v ago; threshold is %v", age, threshold)
	}
	return nil
}

// Threshold returns the age of the last good list above which PLEG is unhealthy.
func (c *Core) Threshold() time.Duration { return c.threshold }

// OnDemand reports whether one pod can be relisted alone (see [Core.BeginPod]).
func (c *Core) OnDemand() bool { return c.rules.onDemand }

// ListedAt returns the start of the last relist of all pods whose lists succeeded. It is zero
// before the first.
func (c *Core) ListedAt() time.Time { return c.state.ListedAt }

// Gauges are the kubelet's metrics running_pods (with a running sandbox) and running_containers, as
// of the last relist of all pods. A state that no container has any more keeps its last figure, as
// in the kubelet.
type Gauges struct {
	RunningPods int
	Containers  [Unknown + 1]int // by state
}

// count counts a list. The kubelet counts rows: a pod that is listed twice counts twice.
func (g *Gauges) count(pods []*Pod) {
	var containers [Unknown + 1]int
	g.RunningPods = 0
	for _, p := range pods {
		for _, x := range p.Containers {
			containers[x.State.listed()]++
		}
		if slices.ContainsFunc(p.Sandboxes, func(s Sandbox) bool { return s.State == Running }) {
			g.RunningPods++
		}
	}
	for s, n := range containers {
		if n > 0 {
			g.Containers[s] = n
		}
	}
}
