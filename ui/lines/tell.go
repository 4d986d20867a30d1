package lines

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
)

// settling is how long a finding must be gone, or milder, before it is told so:
// what comes and goes from one relist to the next is one finding, not many.
const settling = 5 * time.Second

// A turn is what happened to a finding.
type turn struct {
	state   string // "began", "changed" or "ended"
	finding diagnose.Finding
	was     diagnose.Severity // before it changed
	lasted  time.Duration     // from its beginning to when it was last seen
}

// A findingKey tells findings apart: figures in their texts change all the time.
type findingKey struct {
	id      diagnose.ID
	subject diagnose.Subject
}

// A told finding is one whose beginning was told and whose end was not.
type told struct {
	finding diagnose.Finding // as it was last seen
	told    diagnose.Severity
	began   time.Time
	seen    time.Time
	held    time.Time // when it was last as bad as what was told
	gone    time.Time // since when it is not there; zero while it is
}

// A teller turns the findings of one moment after the other into what is worth
// a line: beginnings, endings, and changes of severity. Something that gets
// worse is told at once, something that gets better when it has stayed so. The
// zero value has told nothing.
type teller struct {
	known []*told // in the order of their beginnings
}

// tell returns the turns since the last call, as of at.
func (t *teller) tell(at time.Time, now []diagnose.Finding) []turn {
	var turns []turn
	for _, f := range now {
		turns = append(turns, t.see(at, f)...)
	}
	t.known = slices.DeleteFunc(t.known, func(k *told) bool {
		if !k.over(at) {
			return false
		}
		turns = append(turns, turn{state: "ended", finding: k.finding, lasted: k.seen.Sub(k.began)})
		return true
	})
	return turns
}

// over reports whether k has been gone for long enough, as of at.
func (k *told) over(at time.Time) bool {
	switch {
	case k.seen.Equal(at):
		k.gone = time.Time{}
		return false
	case k.gone.IsZero():
		k.gone = at
	}
	return at.Sub(k.gone) >= settling
}

// see takes in that f is there, and returns what to say about it.
func (t *teller) see(at time.Time, f diagnose.Finding) []turn {
	i := slices.IndexFunc(t.known, func(k *told) bool { return key(k.finding) == key(f) })
	if i < 0 {
		t.known = append(t.known, &told{finding: f, told: f.Severity, began: at, seen: at, held: at})
		return []turn{{state: "began", finding: f}}
	}
	k := t.known[i]
	k.finding, k.seen = f, at
	if f.Severity == k.told {
		k.held = at
	}
	if f.Severity > k.told || f.Severity < k.told && at.Sub(k.held) >= settling {
		was := k.told
		k.told, k.held = f.Severity, at
		return []turn{{state: "changed", finding: f, was: was, lasted: at.Sub(k.began)}}
	}
	return nil
}

func key(f diagnose.Finding) findingKey { return findingKey{f.ID, f.Subject} }
