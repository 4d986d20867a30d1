package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// namedCodes is how many codes of errors a headline names.
const namedCodes = 2

// unhealthy reports whether a kubelet on this node would call PLEG unhealthy now. A kubelet that has long been up had
// its last good list, at the latest, when plegtop began.
func (f *Facts) unhealthy() bool {
	if f.Health.ListedAt.IsZero() {
		return !f.once() && f.Node.PLEG != ""
	}
	return !f.Health.Healthy && !f.Paused
}

// overdue returns the reason for the verdict in words. The kubelet's own words are not used, because they change with
// each millisecond.
func (f *Facts) overdue() string {
	if f.Health.ListedAt.IsZero() {
		return "no list has succeeded yet"
	}
	old := f.Health.ListAge(f.at())
	if left := f.untilUnhealthy(); left > 0 {
		old = f.Threshold - left // the duration of a pause does not count
	}
	return fmt.Sprintf("no relist has listed the pods for %s; the threshold is %s", going(old), span(f.Threshold))
}

// ownListError reports whether a list failed with an error that no other rule covers.
func (f *Facts) ownListError(e *answers.Failure) bool {
	return f.OwnError(e.Err, f.Lasted(e)) && !answers.IsTooLarge(e.Err) && !answers.IsUnreadable(e.Err)
}

// listFails reports whether the list of all pods fails with an error that no other rule covers. While an engine runs,
// one failure is not enough. On a runtime where calls fail now and then, two are not enough.
func (f *Facts) listFails() bool {
	e, b := f.Failure, f.Snapshot.Policy.Bounds()
	if e == nil || !f.ownListError(e) || e.InRow < b.ListFails {
		return false
	}
	return f.Flaky.Failed == 0 && !f.listsFailByTurns() || f.at().Sub(e.First) >= b.FailingLong
}

// failsByTurns reports whether lists fail now and then, but do not fail for long.
func (f *Facts) failsByTurns() bool {
	all := f.Memory.Outages.ListsFailed
	return len(all) >= answers.Outages && f.at().Sub(all[0].At) <= answers.FlakyFor &&
		(f.Failure == nil || f.at().Sub(f.Failure.First) < f.Snapshot.Policy.Bounds().FailingLong)
}

// listsFailByTurns reports whether lists fail now and then, while the runtime is there and gives a reason.
func (f *Facts) listsFailByTurns() bool {
	return f.failsByTurns() && slices.ContainsFunc(f.Memory.Outages.ListsFailed, func(e answers.Failure) bool { return f.ownListError(&e) })
}

// turnsText returns in words that lists fail now and then, with the most frequent codes in alphabetical order: nothing
// in it changes from one second to the next. id is the kind of finding that says more.
func (f *Facts) turnsText() (text string, id ID) {
	text, id = "runtime intermittently unreachable", RuntimeDown
	if f.listsFailByTurns() {
		text, id = "lists fail intermittently", PLEGUnhealthy
	}
	counts := make(map[string]uint64)
	for _, c := range slices.Concat(f.Sums(call.ListPodSandbox).ByCode, f.Sums(call.ListContainers).ByCode) {
		counts[c.Code] += c.Count
	}
	codes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	if codes = codes[:min(namedCodes, len(codes))]; len(codes) > 0 {
		slices.Sort(codes)
		text += ": " + join(codes)
	}
	return text, id
}

// bothSizes matches the two sizes in gRPC's error about a message over its limit.
var bothSizes = regexp.MustCompile(`\((\d{1,18}) vs\.? (\d{1,18})\)`)

// sizesIn returns the size of an answer and its limit; 0 if the error does not name them.
func sizesIn(text string) (got, limit uint64) {
	if m := bothSizes.FindStringSubmatch(text); m != nil {
		got, _ = strconv.ParseUint(m[1], 10, 64) // it has digits only, and not many
		limit, _ = strconv.ParseUint(m[2], 10, 64)
	}
	return got, limit
}
