//go:build !linux

package crash

import (
	"os"
	"syscall"
)

func endsWithParent() *syscall.SysProcAttr { return nil }

func asksWithParent() *syscall.SysProcAttr { return nil }

// Aside returns nothing: whoever starts a process has to end it.
func Aside() *syscall.SysProcAttr { return nil }

// stopWith does nothing: there is no child where /proc/self/exe is none.
func stopWith(*os.Process, chan os.Signal, func()) {}
