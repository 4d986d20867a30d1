package ui

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Feed is where updates come from; a [diagnose.Live] is one. Next waits for the
// newest update and returns an error when there will be no more. It runs in a
// command, one at a time.
type Feed interface {
	Next(ctx context.Context) (diagnose.Update, error)
}

// Controls are the requests that the screen makes of the engine. All but Raw
// return at once. None changes anything on a node.
type Controls interface {
	Pause()
	Resume()
	RelistNow()
	Reinspect(uid pleg.UID)
	Sweep() // asks for every sandbox and container, or the next snapshot says why not
	CancelSweep()
	SetPeriod(d time.Duration)

	// Raw asks the runtime for all it says about one pod, as indented JSON. It
	// blocks until the answer is there or ctx has ended.
	Raw(ctx context.Context, uid pleg.UID) ([]byte, error)
}

// A Source says where the snapshots come from.
type Source struct {
	Kind     string // "cri", or "demo" for the embedded runtime
	Node     string // the node's name
	Endpoint string // of the runtime, as it was found
}

// A Fault is something that a demo can do to its runtime. On and Set are called
// from the goroutine of the program and must return at once.
type Fault struct {
	Name    string
	Summary string // what it does, in a few words
	On      func() bool
	Set     func(on bool)
}

// Config is all that the screen needs. Feed, Controls and Keys must be set; the
// zero value of everything else is a good choice.
type Config struct {
	Context  context.Context // ends waiting commands; Background if nil
	Feed     Feed
	Controls Controls
	Keys     keymap.Map
	Source   Source

	Theme   theme.Theme // the default theme if it has no name
	ASCII   bool        // nothing outside ASCII reaches the terminal
	NoColor bool        // the mono theme in the place of Theme

	Namespaces []string // shown at the start; empty for all
	Filter     string   // in force at the start; one that does not parse is shown with its error
	Problems   bool     // show pods with a problem only
	Sort       string   // a column's head in lower case, such as "age" or "restarts"; empty for namespace
	Descending bool
	Time       string // format of event times: "clock" (if empty), "age" or "full"
	EventsKept int    // how many events the screen keeps; 10,000 if 0

	Faults []Fault // demo only

	// Save writes data to a file of that name, or one like it, and returns where
	// it went. It runs in a command. Nil: events cannot be saved.
	Save func(name string, data []byte) (path string, err error)

	// AppendEvent and AppendGap append one line of NDJSON for what Save is given.
	AppendEvent func(dst []byte, e engine.Event) []byte
	AppendGap   func(dst []byte, at time.Time, lost uint64) []byte
}

// demo reports whether there is no real node behind the screen.
func (s Source) demo() bool { return s.Kind == "demo" }

func (c Config) withDefaults() Config {
	if c.Context == nil {
		c.Context = context.Background()
	}
	if c.Theme.Name == "" {
		c.Theme = theme.Default()
	}
	if c.NoColor {
		c.Theme, _ = theme.Named("mono")
	}
	if c.ASCII {
		c.Theme = c.Theme.Plain()
	}
	if c.EventsKept <= 0 {
		c.EventsKept = 10_000
	}
	c.Keys = c.Keys.WithPanes([]string{"pods", "events", "calls", "findings"})
	if len(c.Faults) == 0 {
		c.Keys = c.Keys.Without(keymap.Faults, keymap.Director)
	}
	return c
}
