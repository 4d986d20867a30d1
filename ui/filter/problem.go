package filter

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// EventProblem says, in a few words, what is bad about an event, or "" if
// nothing is: the channel was full and the kubelet never saw it, a container
// ended with another code than 0, or its state became unknown.
func EventProblem(e engine.Event) string {
	switch {
	case e.Delivery == pleg.Discarded:
		return "discarded"
	case e.Exited && e.ExitCode != 0:
		return "exited with an error"
	case e.To == pleg.Unknown:
		return "state unknown"
	}
	return ""
}
