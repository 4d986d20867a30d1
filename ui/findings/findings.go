// Package findings is the pane of what is wrong, causes before their effects, and the
// sheet of one finding with what to do next.
package findings

import "github.com/plegtop/plegtop/ui/pane"

// New returns the pane.
func New() pane.Pane { return nil }

// Sheet returns the sheet of the finding that s is about; nil if it is about none.
func Sheet(v *pane.View, s pane.Subject) pane.Pane { return nil }
