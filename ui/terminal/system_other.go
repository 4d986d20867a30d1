//go:build !linux

package terminal

import (
	"os"
	"syscall"
)

func dropOutput(*os.File) {}

// canStop is false where SIGTSTP, once caught, does nothing any more.
const canStop = false

func asDefault(_ syscall.Signal, f func()) { f() }
