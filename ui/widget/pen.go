// Package widget has what panes are made of: tables, scrolling texts, strips of time,
// and what one types into. It knows nothing of Kubernetes. Nothing in it is safe for
// concurrent use.
package widget

import (
	"time"

	"github.com/plegtop/plegtop/ui/theme"
)

// A Pen is what is drawn with.
type Pen struct {
	*theme.Theme
	At time.Time // as of which ages are measured
}

// An Axis is the scale of time that all strips share: its newest cell is at the right.
// Its end moves on in steps, so that a strip is not drawn anew for each snapshot.
type Axis struct {
	End   time.Time
	Width time.Duration // of all cells together
}
