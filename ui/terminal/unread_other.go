//go:build !linux

package terminal

import "os"

// dropUnread does nothing: only Linux has a second, non-blocking file for the
// terminal to call it with.
func dropUnread(*os.File) {}
