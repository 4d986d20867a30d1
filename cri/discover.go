package cri

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Search says where to look for the runtime. The zero value looks where a
// kubelet or crictl on this machine would.
type Search struct {
	Endpoint string              // from the command line; empty if not given
	HostRoot string              // where the host's root is mounted; empty for our own
	Getenv   func(string) string // nil means os.Getenv
	Timeout  time.Duration       // for each endpoint to answer; 0 means 1 s

	// Running returns the sockets that processes of the node were started with: those of
	// its kubelet, by its flags or its configuration, and others such as a shim's -address,
	// the likeliest first. It is asked unless the endpoint was named; nil for nobody.
	Running func(context.Context) (kubelets, others []string)
}

// A Candidate is an endpoint that a search looked at, and what came of it.
type Candidate struct {
	Endpoint string // for [Dial], below the host's root if one was given; as it was written where that can't be used; empty for a file that can't be read
	Source   string // what named it, such as "/etc/crictl.yaml"
	Outcome  Outcome
	Reason   string // for people, fit for a terminal; empty if it answered
	Other    string // of one that is down: the endpoint of another that answers; empty for none

	path    string
	named   bool // by a person, a file or a process of the node, not only known as a usual place
	belongs bool // a runtime belongs there: it is named, or has left traces on the node
	kubelet bool // the kubelet was told it
}

// An Outcome is what a search found at one endpoint.
type Outcome uint8

const (
	Answers  Outcome = iota // CRI v1
	Silent                  // there, but it refuses, fails, or does not answer in time
	Absent                  // not there
	Denied                  // there, but not for us
	Foreign                 // there, but no CRI server listens: a file, or another program
	Outdated                // a server of CRI before v1
	Unusable                // the endpoint, or the file that should name it, makes no sense
)

var outcomeNames = [...]string{"answers", "silent", "absent", "denied", "foreign", "outdated", "unusable"}

// String returns a lower-case word for o.
func (o Outcome) String() string { return pleg.Word(o, outcomeNames[:]) }

// Discover returns the endpoint of the runtime that the node is meant to have. One that
// the command line or CONTAINER_RUNTIME_ENDPOINT names is the only candidate. Otherwise the
// candidates come, in this order, from the kubelet's flags and configuration, crictl's
// configuration, the sockets that runtimes use unless told otherwise, and what
// [Search.Running] tells.
//
// What the kubelet was told holds, also where something else answers that crictl's
// configuration names: the kubelet does not go there. What a living one was told holds before
// the files of a kubelet, which may be left from one that was there before.
// The first that is named, by a file or a process, and answers CRI v1 or is there and silent
// is taken: a hung CRI-O is what is to be looked at, not a containerd that happens to run
// beside it. A runtime that was stopped takes its socket with it, or leaves something else in
// its place: where all that are named are down it is the first of these, with the one that
// answers in its place as Other. Only where nobody names any, the first that answers is
// taken, then the first that is silent, then the first of which the state is on the node.
// What is down is not taken where there is one that we may not look at.
//
// Endpoints are asked side by side, each with one Version call. If none
// will do the error is a *[NotFoundError]; if ctx ends first, that of ctx.
func Discover(ctx context.Context, s Search) (Candidate, error) {
	if s.Getenv == nil {
		s.Getenv = os.Getenv
	}
	s.Timeout = cmp.Or(s.Timeout, time.Second)
	tried := s.candidates()
	n, err := s.tryAll(ctx, tried)
	if err == nil && s.Running != nil && len(tried) > 1 {
		kubelets, others := s.Running(ctx)
		if n < len(tried) { // what a file names; the rest was not waited for
			tried, others = tried[:n+1], nil
		}
		for i := range tried {
			tried[i].kubelet = tried[i].kubelet && len(kubelets) == 0
		}
		n = len(tried)
		tried = s.addRunning(s.addRunning(tried, kubelets, true), others, false)
		_, err = s.tryAll(ctx, tried[n:])
	}
	if err != nil {
		return Candidate{}, err
	}
	return choose(tried)
}

// choose returns the one that is taken of all that were tried.
func choose(tried []Candidate) (Candidate, error) {
	first := func(is func(Candidate) bool) *Candidate {
		if i := slices.IndexFunc(tried, is); i >= 0 {
			return &tried[i]
		}
		return nil
	}
	barred := func(c Candidate) bool { return c.Outcome == Denied || c.Outcome == Outdated && c.named }
	mayBeDown := first(barred) == nil
	meant := first(func(c Candidate) bool { return c.kubelet && c.isDown() })
	answers := first(func(c Candidate) bool { return c.Outcome == Answers })
	taken := first(func(c Candidate) bool { return c.kubelet && c.decides() })
	if taken == nil && (meant == nil || !mayBeDown) {
		taken = first(Candidate.decides)
		meant = first(func(c Candidate) bool { return c.named && (c.isDown() || barred(c)) })
	}
	switch {
	case taken != nil:
	case meant != nil && mayBeDown:
		if taken = meant; answers != nil {
			taken.Other = answers.Endpoint
		}
	case meant == nil && answers != nil:
		taken = answers
	default:
		taken = first(func(c Candidate) bool { return c.Outcome == Silent })
		if taken == nil && mayBeDown {
			taken = first(Candidate.isDown)
		}
	}
	if taken == nil {
		return Candidate{}, &NotFoundError{Tried: tried}
	}
	return *taken, nil
}

// tryAll finds out what is at the candidates, and returns the place of the first that
// decides, or their number. What comes after that one is left as it is.
func (s Search) tryAll(ctx context.Context, all []Candidate) (int, error) {
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	tried := make([]chan Candidate, len(all))
	for i, c := range all {
		tried[i] = make(chan Candidate, 1)
		guard.Go(func() {
			s.try(bounded, &c)
			tried[i] <- c
		})
	}
	for i := range all {
		select {
		case all[i] = <-tried[i]:
		case <-time.After(s.Timeout + handover): // not even the file system answers
			all[i].Outcome, all[i].Reason = Silent, "there, but looking at it hangs"
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if all[i].decides() {
			return i, nil
		}
	}
	return len(all), nil
}

// handover is what a call may take to return after its deadline.
const handover = 200 * time.Millisecond

// addRunning adds the sockets that processes name; to one that is known already, that
// a runtime belongs there, and that the kubelet was told it.
func (s Search) addRunning(tried []Candidate, running []string, kubelet bool) []Candidate {
	for _, socket := range running {
		c := s.named("a process of the node was started with it", socket)
		c.kubelet = kubelet
		i := slices.IndexFunc(tried, func(o Candidate) bool { return o.path != "" && resolveIn("/", o.path) == resolveIn("/", c.path) })
		if i < 0 {
			tried = append(tried, c)
		} else {
			tried[i].named, tried[i].belongs, tried[i].kubelet = true, true, tried[i].kubelet || kubelet
		}
	}
	return tried
}

// isDown reports whether a runtime belongs at c and is not there.
func (c Candidate) isDown() bool {
	return c.belongs && (c.Outcome == Absent || c.Outcome == Foreign)
}

// decides reports whether nothing after c has to be tried.
func (c Candidate) decides() bool {
	return c.named && (c.Outcome == Answers || c.Outcome == Silent)
}

// A NotFoundError says that a search found no runtime to talk to, nor one to
// wait for. Its text is safe to print and has several lines: one for each
// candidate, with its source and the reason, and last what to try instead.
type NotFoundError struct {
	Tried []Candidate // in the order of the search
}

// Error returns the text.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString("no container runtime found:\n")
	for _, c := range e.Tried {
		b.WriteString("  ")
		if c.Endpoint != "" {
			b.WriteString(printable(c.Endpoint) + " ")
		}
		b.WriteString("(" + printable(c.Source) + "): " + c.Reason + "\n")
	}
	b.WriteString("try: plegtop --demo")
	return b.String()
}
