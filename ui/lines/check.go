package lines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// CheckOptions say how [Check] writes, and what it cannot know from the
// result. Without JSON and NPD it is text for people.
type CheckOptions struct {
	JSON bool // one object in one line
	NPD  bool // one line for node-problem-detector; wins over JSON

	Colour bool        // for text: only where it goes to a terminal
	Width  int         // for text: the terminal's, at which lines are wrapped; 0 for a pipe, where none is
	Theme  theme.Theme // for text: its symbols, and its colours if Colour; the zero value is the default theme

	Namespaces     []string // findings about pods of others are left out; empty for all
	Node           string   // its name; may be empty
	Source         string   // "cri", "demo" or "replay"
	Endpoint       string   // of the runtime
	KubeletVersion string   // whose relist it is, as "1.36" or the node's own "v1.36.2"; empty for the snapshot's
}

// kubelet returns the release of the kubelet whose relist was made.
func (o CheckOptions) kubelet(s *engine.Snapshot) string {
	if o.KubeletVersion == "" {
		return s.Release.String()
	}
	return o.KubeletVersion
}

// Check looks at the runtime and its node once, writes what is wrong to w in a
// single write and returns its exit code, [ExitCannotTell] with an error. look is a
// call of [engine.Examine] and must return when its context ends. A KubeletVersion
// that o leaves open is the node's own, where that is known. When ctx ends, a write
// that is stuck is left behind after a second.
func Check(ctx context.Context, w io.Writer, look func(context.Context) (*engine.Snapshot, error), o CheckOptions) (code int, err error) {
	s, err := look(ctx)
	if err != nil {
		return ExitCannotTell, err
	}
	return o.verdict(ctx, w, diagnose.Once(s, o.Endpoint))
}

// ErrPanicked is why a check has no verdict after a panic.
var ErrPanicked = errors.New("plegtop panicked, and this says nothing of the node: please report what it printed")

// Examining returns a look for [Check], which says on p how far it is. A look that is canceled
// fails: what it saw until then is no verdict.
func Examining(c engine.Config, x engine.Examination, p *Progress) func(context.Context) (*engine.Snapshot, error) {
	x.Progress = p.Show
	return func(ctx context.Context) (*engine.Snapshot, error) {
		ctx, stop := context.WithTimeout(ctx, x.Deadline)
		defer stop()
		defer p.Clear()
		s, err := engine.Examine(ctx, c, x)
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, fmt.Errorf("check ended before it had seen everything: %w", context.Cause(ctx))
		}
		return s, err
	}
}

// verdict writes what is wrong to w in a single write, and returns the exit code of it.
func (o CheckOptions) verdict(ctx context.Context, w io.Writer, u diagnose.Update) (code int, err error) {
	b, code := o.Answer(u)
	if err := writeLast(ctx, w, b); err != nil {
		return ExitCannotTell, fmt.Errorf("write the check: %w", err)
	}
	return code, nil
}

// Answer returns what check writes of u, which an engine that runs may have seen as well, and the
// exit code of it. The text holds no control byte but the line feed, and escape sequences only for
// colour; the JSON is of [CheckSchema].
func (o CheckOptions) Answer(u diagnose.Update) (answer []byte, code int) {
	if s := u.Snapshot; o.KubeletVersion == "" && s.Evidence != nil {
		o.KubeletVersion = s.Evidence.Kubelet.Version
	}
	u = u.Within(o.Namespaces)
	u.Headline = say.Checked(u.Headline, u.Snapshot)
	switch code = ExitCode(u); {
	case o.NPD:
		line, code := npd(u)
		return npdLine(nil, line), code
	case o.JSON:
		return jsonline.Append(nil, newCheckObject(u, o)), code
	}
	return appendText(nil, u, o), code
}

// writeLast writes b to w. When ctx ends a write that is stuck is left behind after a second.
func writeLast(ctx context.Context, w io.Writer, b []byte) error {
	writing, cancel := outlasting(ctx, lastWrite)
	defer cancel()
	return writeUntil(writing, w, b)
}

// WriteUnknown writes to w why a check could not look at all, with what it would have looked
// at, and returns the exit code that goes with it. Text for people has nothing to say
// of that: the error is told on standard error.
func WriteUnknown(w io.Writer, why error, s *engine.Snapshot, o CheckOptions) (code int, err error) {
	switch {
	case o.NPD:
		_, err = w.Write(npdLine(nil, "unknown: "+why.Error()))
		return NPDUnknown, err
	case o.JSON:
		said := text.Clean(strings.Join(strings.Fields(why.Error()), " "))
		c := newCheckObject(diagnose.Update{Update: engine.Update{Snapshot: s}, Headline: diagnose.Headline{Word: "CANNOT TELL", Severity: diagnose.Warning, Text: said}}, o)
		c.Error, c.PLEG.Verdict = said, "nothing was looked at"
		_, err = w.Write(jsonline.Append(nil, c))
	}
	return ExitCannotTell, err
}

// How long a feed may be read, and a write may go on, after their context has ended: the
// engine ends in between.
const (
	lastRead  = 700 * time.Millisecond
	lastWrite = time.Second
)

// outlasting returns a context that ends some time after ctx, or when it is canceled.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-late.Done():
		case <-time.After(by):
			cancel()
		}
	})
	return late, func() {
		stop()
		cancel()
	}
}

// writeUntil writes b to w. A pipe that nobody reads may never take it: then the error
// is that of ctx, at its end.
func writeUntil(ctx context.Context, w io.Writer, b []byte) error {
	written := make(chan error, 1)
	guard.Go(func() {
		_, err := w.Write(b)
		written <- err
	})
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// The exit codes of check. A check that could not look at all ends with
// [ExitCannotTell], or [NPDUnknown].
const (
	ExitOK         = 0 // nothing worse than info
	ExitWarning    = 1
	ExitCritical   = 2
	ExitCannotTell = 3 // no runtime belongs here, no permission, an older CRI, wrong flags, a crash

	NPDOK      = 0
	NPDProblem = 1
	NPDUnknown = 2
)

// ExitCode returns the exit code of a check that shows u: by the worst finding, or
// by the headline where that is worse, as it is when the deadline left no time to
// find anything. PLEG that is shown as not healthy, with nothing that tells why, is
// never well.
func ExitCode(u diagnose.Update) int {
	switch max(u.Headline.Severity, diagnose.Worst(u.Findings)) {
	case diagnose.Critical:
		return ExitCritical
	case diagnose.Warning:
		return ExitWarning
	}
	return theme.When(!u.Snapshot.Health.Healthy, ExitCannotTell, ExitOK)
}
