// Package recording records what an engine goes by, as the command line says: in memory beside
// the screen and watch, to a file, or, as a view of its own, to a file alone.
package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/osfile"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/ui/options"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/rewind"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

const (
	ending = ".plegrec"
	// closing is how long the end of plegtop waits for the disk.
	closing = time.Second
)

// A Tape is the recording of one engine. It is safe for concurrent use.
type Tape struct {
	recorder *record.Recorder // nil where nothing is recorded

	folder string // of what is saved
	node   string // in its name
}

// Open returns what records an engine of a source as o says, and begins its file. Version is
// that of plegtop. The file of [options.Record] is in the present folder where none is named.
func Open(o options.Options, src pane.Source, version string) (*Tape, error) {
	ignoreFull()
	t := &Tape{folder: ".", node: src.Node}
	if o.View == options.Record && o.Record == "" {
		o.Record = filepath.Join(t.folder, text.FileBase(t.node, time.Now().UTC().Format("20060102"))) + ending
	}
	if o.Ring == 0 && o.Record == "" {
		return t, nil
	}
	t.recorder = record.NewRecorder(record.Options{
		Ring: cmp.Or(o.Ring, -1),
		Head: record.Head{Plegtop: version, Node: src.Node, Source: src.Kind, Endpoint: src.Endpoint, Scenario: src.Scenario},
	})
	if o.Record == "" {
		return t, nil
	}
	return t, t.recorder.WriteTo(o.Record, o.RecordMax)
}

// For has the tape take down what an engine of that configuration goes by.
func (t *Tape) For(c *engine.Config) {
	if t.recorder != nil {
		c.Tape = t.recorder
	}
}

// Close writes what waits for the disk. It returns why the file could not be written to its end.
func (t *Tape) Close() error {
	if t.recorder == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return t.recorder.Close(ctx)
}

// errOff says that there is nothing in memory that could be saved.
var errOff = errors.New("nothing is kept in memory (--ring 0)")

// Save writes what is in memory to a new file that only its owner can read, and says what came
// of it.
func (t *Tape) Save() (said string, err error) {
	if t.recorder == nil {
		return "", errOff
	}
	kept := t.recorder.Recording()
	if first, _ := kept.Span(); first.IsZero() {
		return "", errOff
	}
	var size int64
	path, err := osfile.New(filepath.Join(t.folder, text.FileBase(t.node, time.Now().UTC().Format("20060102T150405Z"))), ending, func(w io.Writer) (err error) {
		size, err = kept.WriteTo(w)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("save the last minutes: %w", err)
	}
	return fmt.Sprintf("saved the last %s to %s (%s)", text.Age(t.recorder.State().Span), path, text.Bytes(uint64(size))), nil
}

// Film returns the film of what is in memory now. The tape must record.
func (t *Tape) Film() (*rewind.Film, error) { return rewind.New(t.recorder.Recording()) }

// OnSignal saves what is in memory whenever SIGUSR2 comes, until ctx ends, and says what came of
// it. May be called of the tape of nothing.
func (t *Tape) OnSignal(ctx context.Context, say func(string)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, saveSignal)
	guard.Go(func() {
		for { // once it is caught it stays so: the end of plegtop takes a while, and is to be its own
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			said, err := t.Save()
			if err != nil {
				said = "not saved: " + err.Error()
			}
			say(said)
		}
	})
}

// Watched returns a feed of the same updates, and has say told once that the recording has ended: for
// views without a footer, which says so on the screen.
func Watched(f diagnose.Updates, say func(string)) diagnose.Updates {
	return &watched{Updates: f, say: say}
}

type watched struct {
	diagnose.Updates
	say   func(string)
	ended bool // and that was said
}

func (w *watched) Next(ctx context.Context) (diagnose.Update, error) {
	u, err := w.Updates.Next(ctx)
	if err == nil && u.Snapshot.Recording.Ended != "" && !w.ended {
		w.ended = true
		w.say(say.RecordingEnded(u.Snapshot.Recording))
	}
	return u, err
}

// Run is the view that only records: it says where to, on w, and reads what happens until the
// feed ends. It fails where the recording ends before.
func (t *Tape) Run(ctx context.Context, w io.Writer, node string, f diagnose.Updates) error {
	file := t.recorder.State().File
	if _, err := fmt.Fprintln(w, text.Clean("plegtop: recording "+node+" to "+file+"; "+howToEnd)); err != nil {
		return fmt.Errorf("record: say where: %w", err)
	}
	for {
		u, err := f.Next(ctx)
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, engine.ErrStopped):
			return nil
		case err != nil:
			return fmt.Errorf("record: %w", err)
		case u.Snapshot.Recording.Ended != "":
			return fmt.Errorf("record to %s: %s: make room or name another file, and start it again", file, u.Snapshot.Recording.Ended)
		}
	}
}
