package lines

import (
	"fmt"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// progressAfter is how long a check may take before it has to say how far it has
// come. A healthy node is done by then, and nothing flickers.
const progressAfter = 500 * time.Millisecond

// A Progress is one line on a terminal that says how far a check or a bench has come. It
// belongs to one goroutine at a time, and cares for no error: it is not the
// result.
type Progress struct {
	w     io.Writer
	width int
	drawn string
}

// NewProgress returns a progress on the terminal w of that width. It writes
// nothing at all if width is 0, which stands for what is no terminal.
func NewProgress(w io.Writer, width int) *Progress { return &Progress{w: w, width: width} }

// Show draws the line anew, if there is another to draw. It may be called as
// often as there is a snapshot.
func (p *Progress) Show(s *engine.Snapshot) {
	if s.At.Sub(s.Started) >= progressAfter {
		p.Line(progress(s))
	}
}

// Line draws said, if there is another one to draw.
func (p *Progress) Line(said string) {
	if p.width <= 0 {
		return
	}
	// The last column stays free: a terminal that has just filled it may go on
	// to the next line.
	line := text.PlainASCII(text.Fit(said, p.width-1, "~"))
	if line != p.drawn {
		p.drawn = line
		fmt.Fprintf(p.w, "\r%s", line)
	}
}

// Clear takes the line away again, before other output.
func (p *Progress) Clear() {
	if p.drawn != "" {
		fmt.Fprintf(p.w, "\r%*s\r", p.width-1, "")
		p.drawn = ""
	}
}

// progress says what the check waits for.
func progress(s *engine.Snapshot) string {
	line := "check"
	if w := s.Sweep; w != nil && w.Total > 0 {
		line += fmt.Sprintf(" %d/%d", w.Done, w.Total)
		if n := len(w.Hung); n > 0 {
			line += fmt.Sprintf(", %d hung", n)
		}
		if n := len(w.Failed); n > 0 {
			line += fmt.Sprintf(", %d failed", n)
		}
	}
	if len(s.InFlight) == 0 {
		return line
	}
	f := s.InFlight[0]
	return fmt.Sprintf("%s  %s %s", line, flight(f), text.Took(f.Elapsed(s.At)))
}

// flight names a call that is out.
func flight(f call.Flight) string {
	if !f.Op.AboutObject() {
		return f.Op.String()
	}
	return say.Words(f.Op.String(), f.Object().Path())
}
