// Package calls is the pane of the calls to the runtime: how those of each operation
// went, and which are out.
package calls

import "github.com/plegtop/plegtop/ui/pane"

// New returns the pane.
func New() pane.Pane { return nil }
