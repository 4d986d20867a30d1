package recording

import (
	"os/signal"
	"syscall"
)

// saveSignal has a tape saved.
const saveSignal = syscall.SIGUSR2

const howToEnd = "SIGTERM or ctrl-c ends it, SIGUSR2 saves the last minutes beside it"

// ignoreFull has a file that may not grow be an error of the write: else Go ends the program.
func ignoreFull() { signal.Ignore(syscall.SIGXFSZ) }
