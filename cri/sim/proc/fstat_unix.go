//go:build unix

package proc

import "syscall"

// fstat is the number of the system call that waits for a file's server.
const fstat = syscall.SYS_FSTAT
