package engine

import "time"

// An Asker says for what a call was made. Only calls of a relist hold up PLEG.
type Asker uint8

const (
	ByRelist  Asker = iota // for a relist, or an inspection that was asked for
	ByVitals               // Status and Version, every 5 s
	ByProbe                // while a call hangs: whether others are answered
	BySweep                // to look at every sandbox and container
	ByRequest              // for one raw answer
	BySearch               // for what can be seen while the lists fail
)

// A Probe is a call that was made while another hung, to see whether the
// runtime still answers: Version, Status, PodSandboxStatus or ContainerStatus,
// never a list.
type Probe struct {
	Flight
	At   time.Time // when it returned; zero while it is out
	Took time.Duration
	Err  error // nil if it was answered
}
