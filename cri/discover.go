package cri

import (
	"context"
	"os"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Search says where to look for the runtime. The zero value looks where a
// kubelet or crictl on this machine would.
type Search struct {
	Endpoint string              // from the command line; empty if not given
	HostRoot string              // where the host's root is mounted; empty for our own
	Getenv   func(string) string // nil means os.Getenv
	Timeout  time.Duration       // for each endpoint to answer; 0 means 1 s
}

// Found is the endpoint that a search chose.
type Found struct {
	Endpoint string // for [Dial]: a unix:// URL, below the host's root if one was given
	Source   string // what named it, such as "/etc/crictl.yaml"
	Answered bool   // false: it is there, but refused or did not answer in time
	Reason   string // why not; empty if Answered
	Version  pleg.Version
	Tried    []Candidate // in the order of the search, the chosen one among them
}

// A Candidate is an endpoint that a search looked at, and what came of it.
type Candidate struct {
	Endpoint string // unix:// URL; as it was written where that can't be used; empty for a file that can't be read
	Source   string
	Outcome  Outcome
	Reason   string // for people, fit for a terminal; empty if it answered

	path    string
	named   bool // by a person or a file of the node, not only known as a usual place
	version pleg.Version
}

// An Outcome is what a search found at one endpoint.
type Outcome uint8

const (
	Answers  Outcome = iota // CRI v1
	Silent                  // there, but it refuses, fails, or does not answer in time
	Absent                  // not there
	Denied                  // there, but not for us
	Foreign                 // there, but not a CRI v1 server
	Unusable                // the endpoint, or the file that should name it, makes no sense
)

var outcomeNames = [...]string{"answers", "silent", "absent", "denied", "foreign", "unusable"}

// String returns a lower-case word for o.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "unknown"
}

// Discover returns the first endpoint that answers CRI v1, else the first that
// is there and silent, so that a view can start and wait for it. An endpoint
// that the command line or CONTAINER_RUNTIME_ENDPOINT names is the only
// candidate. Otherwise the candidates come, in this order, from crictl's
// configuration, the kubelet's flags and configuration, and the sockets that
// runtimes use unless told otherwise. One that the node's files name is taken
// also when it is silent, whatever else answers: a hung CRI-O is what is to be
// looked at, not a containerd that happens to run beside it.
//
// Where all sockets are gone it is the first that somebody has named.
//
// Endpoints are tried one after the other, each with one Version call. If none
// will do the error is a *[NotFoundError]; if ctx ends first, that of ctx.
func Discover(ctx context.Context, s Search) (*Found, error) {
	if s.Getenv == nil {
		s.Getenv = os.Getenv
	}
	if s.Timeout == 0 {
		s.Timeout = time.Second
	}
	tried := s.candidates()
	for i := range tried {
		s.try(ctx, &tried[i])
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if tried[i].decides() {
			return found(tried[i], tried[:i+1]), nil
		}
	}
	for _, c := range tried {
		if c.Outcome == Silent {
			return found(c, tried), nil
		}
	}
	if gone, only := onlyGone(tried); only {
		return found(gone, tried), nil
	}
	return nil, &NotFoundError{Tried: tried}
}

// onlyGone returns the first socket that somebody has named, if all that is wrong
// anywhere is that nothing is there: a runtime that was stopped takes its socket with
// it, and is down.
func onlyGone(tried []Candidate) (gone Candidate, only bool) {
	for _, c := range tried {
		if c.Outcome != Absent {
			return gone, false
		}
		if c.named && !only {
			gone, only = c, true
		}
	}
	return gone, only
}

// decides reports whether nothing after c has to be tried.
func (c Candidate) decides() bool {
	return c.Outcome == Answers || c.Outcome == Silent && c.named
}

func found(c Candidate, tried []Candidate) *Found {
	return &Found{
		Endpoint: c.Endpoint,
		Source:   c.Source,
		Answered: c.Outcome == Answers,
		Reason:   c.Reason,
		Version:  c.version,
		Tried:    tried,
	}
}
