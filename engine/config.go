package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
)

// The bounds of [Config.Period] and [Engine.SetPeriod]. The lower one keeps a
// busy finger from loading the node; the kubelet itself uses 1 s, and 5 minutes
// with the event stream on.
const (
	MinPeriod = 100 * time.Millisecond
	MaxPeriod = 10 * time.Minute
)

// Config says what an [Engine] relists and how. Every zero value but that of
// Runtime stands for the kubelet's own setting.
type Config struct {
	Runtime   Runtime
	Look      Look          // at the node, beside the runtime; nil if nobody looks
	Release   pleg.Release  // whose relist; default [pleg.Newest]
	Follow    bool          // the node's kubelet, when Look tells that it is of another release
	Period    time.Duration // from the end of one relist to the start of the next; default 1 s
	Threshold time.Duration // age of the last good list from which on PLEG is unhealthy; default 3 min
	Timeout   time.Duration // of each call; default 2 min
	Capacity  int           // of the kubelet's event channel; default 1000
	Events    int           // kept for readers that are behind; default 10,000

	Mode    pleg.Mode // what the relist makes of the runtime's event stream
	Streams []Stream  // event sources that can be switched on
	// Workers asks a kubelet that can be asked what its pod workers do, as that of a demo; nil means that the
	// machine models workers that would be woken. It is called from one goroutine, and must return at once.
	Workers func() podworker.Workers

	Other string // the endpoint of another runtime that answered while this one, which the node names, was down; empty for none

	Tape Tape // takes down what the engine goes by; nil for none

	// Clock is that of a simulated runtime, whose time need not be the real one; nil
	// means real time.
	Clock Clock
}

// Validate returns an error that names the first setting that cannot work.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Runtime == nil:
		return errors.New("engine: no runtime")
	case c.Mode > pleg.Evented:
		return fmt.Errorf("mode %d: want generic or evented", c.Mode)
	case c.Release < pleg.Oldest || c.Release > pleg.Newest:
		return fmt.Errorf("kubelet version %v: want %v to %v", c.Release, pleg.Oldest, pleg.Newest)
	case c.Period < MinPeriod || c.Period > MaxPeriod:
		return fmt.Errorf("relist period %v: want %v to %v", c.Period, MinPeriod, MaxPeriod)
	case c.Threshold < 0:
		return fmt.Errorf("relist threshold %v: want more than 0", c.Threshold)
	case c.Timeout < 0:
		return fmt.Errorf("timeout %v: want more than 0", c.Timeout)
	case c.Capacity < 0:
		return fmt.Errorf("event channel capacity %d: want more than 0", c.Capacity)
	case c.Events < 0:
		return fmt.Errorf("kept events %d: want more than 0", c.Events)
	}
	return validate(c.Streams)
}

// validate returns an error that names the first event source that cannot work.
func validate(streams []Stream) error {
	var had [sources.Sources]bool
	for _, s := range streams {
		switch {
		case s.Source == sources.FromRelist || s.Source >= sources.Sources:
			return fmt.Errorf("event source %v: want cri or cgroup", s.Source)
		case had[s.Source]:
			return fmt.Errorf("event source %v: given twice", s.Source)
		case s.Run == nil && s.Refuse == "":
			return fmt.Errorf("event source %v: has no stream", s.Source)
		}
		had[s.Source] = true
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Release = cmp.Or(c.Release, pleg.Newest)
	c.Period = cmp.Or(c.Period, time.Second)
	c.Threshold = cmp.Or(c.Threshold, pleg.DefaultThreshold)
	c.Timeout = cmp.Or(c.Timeout, 2*time.Minute)
	c.Capacity = cmp.Or(c.Capacity, pleg.DefaultCapacity)
	c.Events = cmp.Or(c.Events, 10_000)
	c.Clock = cmp.Or[Clock](c.Clock, &realTime{})
	return c
}

// A Runtime is what the engine asks of a container runtime: one method, one
// CRI call, and nothing that changes the node. Every method returns by the
// deadline of its context; an error has a [call.Kind] in its chain.
// It is called from several goroutines at once.
//
// The engine puts a [call.Trace] into each context for the transport to fill,
// before the method returns: with the bytes, and with what of the answer had to
// be left out or changed. What a failed call returns beside its error is not read.
type Runtime interface {
	Version(ctx context.Context) (pleg.Version, error)
	Status(ctx context.Context) ([]pleg.Condition, error)

	// ListPodSandbox and ListContainers list everything for an empty uid, and
	// one pod, by its label, otherwise. A row that did not change is the same pointer
	// as in the last list of everything. A list with exactly the rows of that list may be
	// the same slice, with the order of that list, whatever order the runtime has now.
	// The engine changes none.
	ListPodSandbox(ctx context.Context, uid pleg.UID) ([]*pleg.ListedSandbox, error)
	ListContainers(ctx context.Context, uid pleg.UID) ([]*pleg.ListedContainer, error)

	PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error)
	ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error)

	// Raw returns the runtime's answer to PodSandboxStatus or ContainerStatus
	// as JSON, never the verbose one: that carries environment variables. Its texts
	// are as the runtime wrote them: whoever shows them cleans them.
	Raw(ctx context.Context, op call.Operation, id string) ([]byte, error)
}

// start returns what a model of this configuration begins with.
func (c Config) start(at time.Time, x Examination, once bool) Start {
	s := Start{
		At: at, Once: once, CallTime: call.ProbeTimeout, Release: c.Release, Follow: c.Follow,
		Period: c.Period, Threshold: c.Threshold, Timeout: c.Timeout, Capacity: c.Capacity, Events: c.Events,
		Mode: c.Mode, Other: c.Other, Looks: c.Look != nil, Workers: c.Workers != nil,
	}
	if once {
		s.CallTime, s.Deadline = cmp.Or(x.Timeout, call.ProbeTimeout), cmp.Or(x.Deadline, call.OnceFor)
	}
	for _, stream := range c.Streams {
		s.Streams = append(s.Streams, sources.Stream{Source: stream.Source, On: stream.On, Forced: stream.Forced, Refuse: stream.Refuse})
	}
	return s
}

// sources returns what the event sources begin with.
func (s Start) sources() sources.Config {
	return sources.Config{Streams: s.Streams, Mode: s.Mode, Release: s.Release, Once: s.Once}
}
