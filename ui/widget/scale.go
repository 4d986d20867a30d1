package widget

import (
	"bytes"
	"time"

	"github.com/plegtop/plegtop/ui/text"
)

// marks are the distances that marks on a scale may have.
var marks = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
}

// apart returns the least distance of marks with so many cells between two.
func (a *Axis) apart(w, cells int) time.Duration {
	least := time.Duration(cells) * a.PerCell(w)
	for _, d := range marks {
		if d >= least {
			return d
		}
	}
	return a.Width
}

// Ago returns how long ago cells of w are, where that is a round time: a mark begins at
// its cell. It is plain ASCII and does not change while the axis moves.
func (a *Axis) Ago(w int) string {
	line := blank(w)
	apart := a.apart(w, 10)
	place(line, w-len("now"), "now")
	for ago := apart; ago < a.Width; ago += apart {
		place(line, w-1-int(ago/a.PerCell(w)), "-"+text.Age(ago))
	}
	return string(line)
}

// Clock is [Axis.Ago] with times of day.
func (a *Axis) Clock(w int) string {
	line := blank(w)
	apart := a.apart(w, 14)
	layout := "15:04"
	if apart < time.Minute {
		layout = "15:04:05"
	}
	_, end := a.Cell(w, w-1)
	for at := floor(end, apart); ; at = at.Add(-apart) {
		i := a.Index(w, at)
		if i < 0 {
			return string(line)
		}
		place(line, i, at.Local().Format(layout))
	}
}

func blank(w int) []byte { return bytes.Repeat([]byte(" "), max(w, 0)) }

// place writes a mark, or leaves it out where there is no room.
func place(line []byte, at int, mark string) {
	if at >= 0 && at+len(mark) <= len(line) {
		copy(line[at:], mark)
	}
}
