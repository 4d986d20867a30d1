package pleg

import (
	"fmt"
	"strconv"
	"strings"
)

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
