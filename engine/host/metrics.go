package host

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What is read of the kubelet's /metrics. (kubelet 1.25 to 1.37: package
// metrics; all of it is alpha and may be missing.)
const (
	buildInfo      = "kubernetes_build_info"
	relistDuration = "kubelet_pleg_relist_duration_seconds"
	relistInterval = "kubelet_pleg_relist_interval_seconds"
	lastSeen       = "kubelet_pleg_last_seen_seconds"
	discarded      = "kubelet_pleg_discard_events"
	discardedTotal = "kubelet_pleg_discard_events_total" // of newer releases
	streams        = "kubelet_evented_pleg_connection_success_count"
	streamErrors   = "kubelet_evented_pleg_connection_error_count"
)

// Beyond these a figure makes no sense.
const (
	mostCount   = 1 << 48 // nine years of a million a second
	mostSeconds = 9e9     // 285 years, about as many as a time.Duration has room for
	mostAhead   = 24 * time.Hour
	mostBehind  = 10 * 365 * 24 * time.Hour
)

var errNotKubelet = errors.New("not the metrics of a kubelet")

// readMetrics reads the text of /metrics, as it was at the given time. It also
// reports whether the kubelet counts its relists, be it to 0. One figure that
// makes no sense puts all the others in doubt: the error says which.
func readMetrics(r io.Reader, now time.Time) (k evidence.Kubelet, countsRelists bool, err error) {
	families, err := ofKubelet.read(r)
	if err != nil {
		return k, false, err
	}
	f := figures{families: families}
	k = evidence.Kubelet{
		Version:   label(f.first(buildInfo), "git_version"),
		Relist:    f.histogram(relistDuration).timing(),
		Interval:  f.histogram(relistInterval).timing(),
		LastSeen:  f.moment(lastSeen, now),
		Discarded: max(f.counter(discarded), f.counter(discardedTotal)),
		Streams:   f.counter(streams), StreamErrors: f.counter(streamErrors),
	}
	if f.err != nil {
		return evidence.Kubelet{}, false, f.err
	}
	return k, f.first(relistDuration) != nil, nil
}

// figures takes values out of parsed families, as sums. It keeps what it finds wrong with
// them.
type figures struct {
	families map[string]*dto.MetricFamily
	err      error // about the first that makes no sense
}

// first returns the only metric that a family should have, nil if it has none.
func (f *figures) first(name string) *dto.Metric {
	for _, m := range f.families[name].GetMetric() {
		return m
	}
	return nil
}

// upTo returns v, or 0 with a complaint if it is no number from 0 to most.
func (f *figures) upTo(most float64, name string, v float64) float64 {
	if v >= 0 && v <= most { // false for NaN
		return v
	}
	f.complain(name, v)
	return 0
}

func (f *figures) complain(name string, v float64) {
	if f.err == nil {
		f.err = fmt.Errorf("%s makes no sense: it is %v", name, v)
	}
}

// moment returns a time in seconds since 1970, the zero time for 0: never.
func (f *figures) moment(name string, now time.Time) time.Time {
	v := f.first(name).GetGauge().GetValue()
	if v == 0 {
		return time.Time{}
	}
	first, last := now.Add(-mostBehind), now.Add(mostAhead)
	if v >= float64(first.Unix()) && v <= float64(last.Unix()) {
		return time.Unix(int64(v), 0)
	}
	f.complain(name, v)
	return time.Time{}
}

// counter returns the sum of a family.
func (f *figures) counter(name string) (sum uint64) {
	for _, n := range f.counters(name, "") {
		sum += n
	}
	return sum
}

// counters returns the sums by the values of a label.
func (f *figures) counters(name, by string) map[string]uint64 {
	sums := map[string]uint64{}
	for _, m := range f.families[name].GetMetric() {
		sums[label(m, by)] += uint64(f.upTo(mostCount, name, m.GetCounter().GetValue()))
	}
	return sums
}

// histogram returns the sum of a family; nil if there is none.
func (f *figures) histogram(name string) (sum *histogram) {
	for _, m := range f.families[name].GetMetric() {
		if sum == nil {
			sum = &histogram{buckets: map[float64]float64{}}
		}
		f.add(sum, name, m.GetHistogram())
	}
	return sum
}

// add adds the figures of one histogram. The parser keeps a count that is not
// whole, or none at all such as NaN, as a float, beside 0.
func (f *figures) add(h *histogram, name string, d *dto.Histogram) {
	h.count += f.upTo(mostCount, name, float64(d.GetSampleCount())+d.GetSampleCountFloat())
	h.sum = f.upTo(mostSeconds, name, h.sum+f.upTo(mostSeconds, name, d.GetSampleSum()))
	for _, b := range d.GetBucket() {
		if bound := b.GetUpperBound(); !math.IsInf(bound, 1) {
			upTo := float64(b.GetCumulativeCount()) + b.GetCumulativeCountFloat()
			h.buckets[f.upTo(mostSeconds, name, bound)] += f.upTo(mostCount, name, upTo)
		}
	}
}

// label returns a label's value; "" if it is not there.
func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// A histogram is a Prometheus histogram whose figures all make sense. Nil is an
// empty one.
type histogram struct {
	buckets map[float64]float64 // how many values were at most the key, without that of no bound
	count   float64
	sum     float64 // seconds
}

// timing sums h up.
func (h *histogram) timing() evidence.Timing {
	if h == nil {
		return evidence.Timing{}
	}
	t := evidence.Timing{Count: uint64(h.count), Sum: seconds(h.sum)}
	var p50, p99 float64
	p50, _ = h.quantile(0.50)
	p99, t.Beyond = h.quantile(0.99)
	t.P50, t.P99 = seconds(p50), seconds(p99)
	return t
}

// quantile returns the value below which the share q of all values lies, as if
// those of one bucket were spread evenly over it. If it lies in the bucket
// without a bound, beyond is true and the value is the greatest bound there is.
func (h *histogram) quantile(q float64) (value float64, beyond bool) {
	if uint64(h.count) == 0 {
		return 0, false
	}
	rank := q * h.count
	var lower, below float64
	for _, upper := range slices.Sorted(maps.Keys(h.buckets)) {
		upTo := max(h.buckets[upper], below) // fewer than in the bucket before would make no sense
		if upTo >= rank && upTo > below {
			return lower + (upper-lower)*(rank-below)/(upTo-below), false
		}
		lower, below = upper, upTo
	}
	return lower, true
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
