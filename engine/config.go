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

// The bounds of [Config.Period] and [Engine.SetPeriod]. The lower bound protects the node from a
// person who presses a key too often. The kubelet itself uses 1 s, and 5 minutes with the event
// stream on.
const (
	MinPeriod = 100 * time.Millisecond
	MaxPeriod = 10 * time.Minute
)

// Config says what an [Engine] relists and how. A zero field stands for the kubelet's own setting;
// only Runtime must be set.
type Config struct {
	Runtime   Runtime
	Look      Look          // looks at the node itself; nil for no looks
	Release   pleg.Release  // plegtop relists as this kubelet does; default [pleg.Newest]
	Follow    bool          // follow the node's kubelet if Look finds another release
	Period    time.Duration // from the end of one relist to the start of the next; default 1 s
	Threshold time.Duration // age of the last good list above which PLEG is unhealthy; default 3 min
	Timeout   time.Duration // of each call; default 2 min
	Capacity  int           // of the kubelet's event channel; default 1000
	Events    int           // kept for readers that are behind; default 10,000

	Mode    pleg.Mode // whether the relist uses the runtime's event stream
	Streams []Stream  // event sources that can be switched on
	// Workers asks the kubelet what its pod workers do; the kubelet of a demo can be asked. If it
	// is nil, the model works out which workers would be woken. It is called from one goroutine,
	// and must return at once.
	Workers func() podworker.Workers

	// Other is the endpoint of another runtime, which answered while this one was down; empty for
	// none. The node names this one.
	Other string

	Tape Tape // records all that the engine observes; nil for none

	// Clock is the clock of a simulated runtime, whose time may differ from real time; nil means
	// real time.
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

// A Runtime makes the calls of the engine to a container runtime. Each method is one CRI call, and
// none changes the node. Every method returns by the deadline of its context. An error has a
// [call.Kind] in its chain. The engine calls it from several goroutines at once.
//
// The engine puts a [call.Trace] into each context. The transport fills it before the method
// returns: how many bytes there were, and what it left out of the answer or changed. If a call
// fails, only its error is read.
type Runtime interface {
	Version(ctx context.Context) (pleg.Version, error)
	Status(ctx context.Context) ([]pleg.Condition, error)

	// ListPodSandbox and ListContainers list everything if uid is empty, else one pod by its label.
	// A row that did not change is the same pointer as in the last list of everything. If the rows
	// are exactly those of that list, the result may be the same slice in its old order, whatever
	// order the runtime has now. The engine changes no list.
	ListPodSandbox(ctx context.Context, uid pleg.UID) ([]*pleg.ListedSandbox, error)
	ListContainers(ctx context.Context, uid pleg.UID) ([]*pleg.ListedContainer, error)

	PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error)
	ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error)

	// Raw returns the runtime's answer to PodSandboxStatus or ContainerStatus as JSON. It never
	// returns the verbose answer, which carries environment variables. Texts are not cleaned: the
	// code that shows them must do that.
	Raw(ctx context.Context, op call.Operation, id string) ([]byte, error)
}

// start returns the Start of a model with this configuration.
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

// sources returns the configuration of the event sources.
func (s Start) sources() sources.Config {
	return sources.Config{Streams: s.Streams, Mode: s.Mode, Release: s.Release, Once: s.Once}
}
