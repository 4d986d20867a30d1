package ui

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/director"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/rewind"
	"github.com/plegtop/plegtop/ui/theme"
)

// Controls are the requests that the screen makes of the engine, as [engine.Engine] has
// them. All are safe for concurrent use. All but Raw return at once, and what came of
// them is in a later snapshot. None changes anything on a node.
type Controls interface {
	Pause()                    // makes no call until Resume but those asked for
	Resume()                   // does at once what was due meanwhile
	RelistNow()                // one relist, also while paused
	Reinspect(uid pleg.UID)    // inspects one pod though nothing changed; none of which there is no record
	Sweep()                    // asks for every sandbox and container, or the snapshot says why not
	CancelSweep()              // ends the sweep under way, if there is one
	SetPeriod(d time.Duration) // from the end of one relist to the start of the next

	// SetStreams opens these event sources and closes all others. The snapshots say what
	// became of each, and why one was refused.
	SetStreams(on ...sources.Source)

	// Raw asks the runtime for all it says about one pod, as indented JSON. It
	// blocks until the answer is there, or fails, or ctx has ended.
	Raw(ctx context.Context, uid pleg.UID) ([]byte, error)
}

// Config is all that the screen needs. Keys must be set, and Feed and Controls or Film; the
// zero value of everything else is a good choice.
type Config struct {
	Context  context.Context  // ends waiting commands; Background if nil
	Feed     diagnose.Updates // its Next runs in a command, one at a time
	Controls Controls
	Keys     keymap.Map
	Source   pane.Source
	Director director.Director // of a demo; nil on a node
	Captions bool              // of the demo's script, from the start
	Past     Past              // to rewind to; nil where nothing is kept of it

	Film *rewind.Film // to be shown in the place of a Feed; nil else
	At   time.Time    // where it begins, standing still; zero for its beginning, from where it is played

	Theme   theme.Theme // the default theme if it has no name
	Follow  bool        // the theme becomes the one for the terminal's background once that is told
	ASCII   bool        // nothing outside ASCII reaches the terminal
	NoColor bool        // the mono theme in the place of Theme

	Namespaces []string // shown at the start; empty for all
	Filter     string   // in force at the start; one that does not parse is shown with its error
	Panes      pane.Settings
	EventsKept int // how many events the screen keeps; 10,000 if 0

	// SaveTape saves what is kept of the last minutes, and says where they went. It runs in a
	// command. Nil: nothing is kept.
	SaveTape func() (said string, err error)

	Notes <-chan string // what others have the footer say; nil for nothing

	every keymap.Map // Keys with those that make no sense here
}

func (c Config) withDefaults() Config {
	if c.Context == nil {
		c.Context = context.Background()
	}
	if c.Theme.Name == "" {
		c.Theme = theme.Default()
	}
	if c.NoColor {
		c.Theme, _ = theme.Named("mono")
		c.Follow = false
	}
	if c.ASCII {
		c.Theme = c.Theme.Plain()
	}
	if c.EventsKept <= 0 {
		c.EventsKept = 10_000
	}
	c.every = c.Keys
	if c.Director == nil {
		c.Keys = c.Keys.Without(keymap.Demo)
	}
	return c
}
