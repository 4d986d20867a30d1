// Package osfile has what operating systems do differently with files, locks, links and owners, and a
// new file that replaces none.
package osfile

import "errors"

// ErrLocked says that another process has locked a file.
var ErrLocked = errors.New("another process has locked it")
