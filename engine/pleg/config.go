package pleg

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What every kubelet from 1.25 on is built with. None of it can be configured
// on a node.
const (
	DefaultCapacity  = 1000            // events that the channel holds
	DefaultThreshold = 3 * time.Minute // list age above which PLEG is unhealthy
)

// StreamAttempts is how often a kubelet 1.37 opens the runtime's event stream before it
// gives the stream up.
const StreamAttempts = 5

// NoCapacity as [Config.Capacity] makes a channel that takes no event at all.
const NoCapacity = -1

// Config says how a [Core] decides. The zero value is the newest kubelet with
// its own figures.
type Config struct {
	Release   Release       // whose relist; 0 means Newest
	Capacity  int           // of the event channel; 0 means DefaultCapacity, negative means none
	Threshold time.Duration // of Healthy; 0 means DefaultThreshold
}

// Validate reports a release whose relist is not known, or a threshold that no relist
// could keep.
func (c Config) Validate() error {
	if c.Release != 0 && (c.Release < Oldest || c.Release > Newest) {
		return fmt.Errorf("kubelet release %v: want %v to %v", c.Release, Oldest, Newest)
	}
	if c.Threshold < 0 {
		return fmt.Errorf("relist threshold %v: want more than 0", c.Threshold)
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Release = cmp.Or(c.Release, Newest)
	c.Capacity = cmp.Or(c.Capacity, DefaultCapacity)
	c.Threshold = cmp.Or(c.Threshold, DefaultThreshold)
	c.Capacity = max(c.Capacity, 0)
	return c
}

// A Release is a minor release of Kubernetes 1: Release(36) is 1.36.
type Release uint8

// The releases whose relist is known. [Newest] is taken for a node's release
// where nothing better is known.
const (
	Oldest Release = 25
	Newest Release = 37
)

// ParseRelease reads "1.36", "v1.36.2" or "v1.30.4-eks-abc". It returns an
// error that names the range for any other text and any other release.
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

// Twice reports whether a kubelet of this release inspects a pod that has changed, and whose
// inspection keeps failing, twice in each relist.
func (r Release) Twice() bool { return rulesOf(r).retryPhase }

// The rules are all that differs between the relists of the releases.
type rules struct {
	// retryPhase: a pod whose inspection failed is inspected again in a second
	// pass over all pods, from the record of the relist that failed, without
	// events and without advancing the record; a pod that changes and keeps
	// failing is inspected twice in each relist. Otherwise a retry is part of
	// the pod's one turn.
	retryPhase bool

	// listAgain: an inspection begins by listing the pod again, by its label.
	// Otherwise the listed pod says what to inspect.
	listAgain bool

	// listTime: a status counts as old as the list that named the pod.
	// Otherwise it counts from the start of its inspection.
	listTime bool

	// onDemand: one pod can be relisted alone, and a reinspection can be asked
	// for. An inspection that was due and found no change makes a PodSync.
	onDemand bool
}

var (
	twoPhase = rules{retryPhase: true, listAgain: true} // 1.25 to 1.31
	onePass  = rules{listAgain: true}                   // 1.32 to 1.35, but for watch conditions, which come from within a kubelet
	perPod   = rules{listTime: true, onDemand: true}    // from 1.36
)

// rulesOf returns the rules of a release.
func rulesOf(r Release) rules {
	switch {
	case r < 32:
		return twoPhase
	case r < 36:
		return onePass
	default:
		return perPod
	}
}
