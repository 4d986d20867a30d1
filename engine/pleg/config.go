package pleg

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Every kubelet from 1.25 on is built with these. A node cannot configure them.
const (
	DefaultCapacity  = 1000            // events that the channel holds
	DefaultThreshold = 3 * time.Minute // list age above which PLEG is unhealthy
)

// Config is how a [Core] decides. The zero value is the newest kubelet with its own constants.
type Config struct {
	Release   Release       // of the kubelet to follow; 0 means Newest
	Capacity  int           // of the event channel; 0 means DefaultCapacity, negative means none
	Threshold time.Duration // of Healthy; 0 means DefaultThreshold
}

// Validate returns an error for a release before [Oldest] or after [Newest], and for a negative
// threshold.
func (c Config) Validate() error {
	if c.Release != 0 && (c.Release < Oldest || c.Release > Newest) {
		return fmt.Errorf("kubelet release %v: want %v to %v", c.Release, Oldest, Newest)
	}
	if c.Threshold < 0 {
		return fmt.Errorf("relist threshold %v: want more than 0", c.Threshold)
	}
	return nil
}

// A Release is a minor release of Kubernetes 1: Release(36) is 1.36.
type Release uint8

// The oldest and the newest release of the kubelet that [Core] can follow. [Newest] is used where a
// node's release is not known.
const (
	Oldest Release = 25
	Newest Release = 37
)

// ParseRelease reads "1.36", "v1.36.2" or "v1.30.4-eks-abc". For any other text and any other
// release it returns an error that names the range.
func ParseRelease(s string) (Release, error) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	minor = strings.TrimRight(minor, "+") // some clouds report "1.30+"
	n, err := strconv.ParseUint(minor, 10, 8)
	if major != "1" || err != nil || Release(n) < Oldest || Release(n) > Newest {
		return 0, fmt.Errorf("kubelet version %q: want %v to %v", s, Oldest, Newest)
	}
	return Release(n), nil
}

// String returns the release as people write it: "1.36".
func (r Release) String() string { return fmt.Sprintf("1.%d", uint8(r)) }

// The rules are all that differs between the relists of the releases.
type rules struct {
	// retryPhase: after a failed inspection, a second pass over all pods inspects the pod again, as
	// the list showed it at the failure. The second pass makes no events and does not advance the
	// record. Without retryPhase, a retry is part of the pod's turn.
	retryPhase bool

	// listAgain: an inspection begins by listing the pod by its label. Otherwise the listed pod
	// gives the ids to inspect.
	listAgain bool

	// listTime: a status is as old as the list that named the pod. Otherwise it is as old as the
	// start of its inspection.
	listTime bool

	// onDemand: one pod can be relisted alone, and a reinspection can be requested. A
	// reinspection that found no change makes a PodSync.
	onDemand bool
}

// rulesOf returns the rules of a release. The rules of 1.32 to 1.35 leave out watch conditions,
// which come from within a kubelet.
func rulesOf(r Release) rules {
	switch r = cmp.Or(r, Newest); {
	case r < 32:
		return rules{retryPhase: true, listAgain: true}
	case r < 36:
		return rules{listAgain: true}
	default:
		return rules{listTime: true, onDemand: true}
	}
}
