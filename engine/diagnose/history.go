package diagnose

import "github.com/plegtop/plegtop/engine"

// A History is what a diagnosis needs to know of the time before the present
// snapshot. Its memory is bounded. It belongs to one goroutine.
type History struct{}

// NewHistory returns a history of nothing.
func NewHistory() *History { return &History{} }

// Add takes in an update. Updates come in order.
func (h *History) Add(u engine.Update) {}
