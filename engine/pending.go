package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/survey"
)

// A callSpec is a call that somebody wants, and how it is to be made. The zero value of
// the latter is the kubelet's way.
type callSpec struct {
	call.Flight
	timeout time.Duration
	survey  *survey.Survey // that it belongs to; nil for none
	tag     uint64         // the place of its target in the survey, or the number of a request
	raw     bool           // wants the answer as JSON

	tries     int  // how often it may be made if it fails at once; 0 counts as 1
	bounded   bool // is not waited for beyond its deadline, even if the runtime ignores that
	yields    bool // gives way to its like: has failed, unmade, once that has been out for the timeout
	endsEarly bool // is given up early while nothing else is answered
}

// A pending call is one that is wanted and has not come to its end: it waits for
// its turn, or it is out, or it is out and nobody waits for it any more.
type pending struct {
	callSpec
	id        CallID // 0 until it is made
	wanted    time.Time
	notYet    time.Time // when it may be made again; zero for at once
	failed    error     // what the last try brought; nil before a second one is due
	made      int       // how often it was made
	abandoned bool      // its asker has gone on without it
	why       error     // why we ended it; nil while we did not
	endedAt   time.Time // when we did
}

// An answer is what came of a call that was wanted. Its Flight is the call as it was made, or the
// one that was in its way.
type answer struct {
	callSpec
	to    call.Asker // who wanted it
	at    time.Time  // when it came to its end
	took  time.Duration
	tries int
	value Answer
	found pleg.Anomalies
	err   error

	unmade  bool // was given up before it was made
	dropped bool // nobody wants it any more
}

// hung reports whether a call was given up after its time.
func (a *answer) hung(limit time.Duration) bool { return answers.TimedOut(a.err, a.took, limit) }

func (a *answer) outcome() answers.Outcome {
	return answers.Outcome{Flight: a.Flight, At: a.at, Took: a.took, Err: a.err}
}
