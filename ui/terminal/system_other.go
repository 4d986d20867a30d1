//go:build !linux

package terminal

import (
	"os"
	"syscall"
)

// reopen opens nothing: only Linux has a second file for a terminal that does not block.
func reopen(*os.File) *os.File { return nil }

// rescue does nothing: there is no such file.
func rescue(*os.File) {}

// canStop is false where SIGTSTP, once caught, does nothing any more.
const canStop = false

func asDefault(_ syscall.Signal, f func()) { f() }
