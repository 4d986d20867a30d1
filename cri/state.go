package cri

import "google.golang.org/grpc/connectivity"

// A State is how a client's connection stands.
type State uint8

const (
	Idle       State = iota // no call was made yet, or the connection has just ended
	Connecting              // in its first try, or in another one after a failure
	Ready
	Failing // the last try failed; the next one waits for its back-off
	Closed
)

var stateNames = [...]string{"idle", "connecting", "ready", "failing", "closed"}

// String returns a lower-case word for s.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// State returns how the connection stands now. It does not block.
func (c *Client) State() State {
	switch c.conn.GetState() {
	case connectivity.Connecting:
		return Connecting
	case connectivity.Ready:
		return Ready
	case connectivity.TransientFailure:
		return Failing
	case connectivity.Shutdown:
		return Closed
	}
	return Idle
}
