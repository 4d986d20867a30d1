package proc

import "golang.org/x/sys/unix"

// statAt is the system call that asks for a file by its path, as this platform names it.
const statAt = unix.SYS_FSTATAT64
