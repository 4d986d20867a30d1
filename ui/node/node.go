// Package node is the sheet of the node: whether its kubelet would call it ready, what
// that kubelet says of itself, and what all of it costs.
package node

import "github.com/plegtop/plegtop/ui/pane"

// New returns the sheet.
func New() pane.Pane { return nil }
