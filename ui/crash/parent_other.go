//go:build !linux

package crash

import "syscall"

func endsWithParent() *syscall.SysProcAttr { return nil }
