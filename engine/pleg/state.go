package pleg

// A State is what a container or sandbox was last seen to be, in the
// kubelet's words. The zero value is [Absent].
//
// A sandbox is Running when the runtime calls it ready and Exited when it does
// not, so that the diff can treat it as one more container, as the kubelet does.
type State uint8

const (
	Absent  State = iota // not in the list
	Created              // made, never started; the diff does not tell it from Unknown
	Running
	Exited
	Unknown // the runtime said so, or named a state that we do not know
)

var stateNames = [...]string{"absent", "created", "running", "exited", "unknown"}

// String returns the kubelet's lower-case word for s.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Unknown]
}
