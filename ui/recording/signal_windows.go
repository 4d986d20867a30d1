package recording

import "syscall"

// saveSignal is none, and never comes.
const saveSignal = syscall.Signal(-1)

const howToEnd = "ctrl-c ends it"

func ignoreFull() {}
