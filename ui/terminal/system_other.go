//go:build !linux

package terminal

import (
	"os"
	"syscall"
)

// dropUnread does nothing: only Linux has a second, non-blocking file for the
// terminal to call it with.
func dropUnread(*os.File) {}

// canStop is false where SIGTSTP, once caught, does nothing any more.
const canStop = false

func asDefault(_ syscall.Signal, f func()) { f() }
