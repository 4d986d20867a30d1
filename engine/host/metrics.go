package host

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What is read of the kubelet's /metrics. (kubelet 1.25 to 1.37: package
// metrics; all of it is alpha and may be missing.)
const (
	buildInfo      = "kubernetes_build_info"
	relistDuration = "kubelet_pleg_relist_duration_seconds"
	relistInterval = "kubelet_pleg_relist_interval_seconds"
	lastSeen       = "kubelet_pleg_last_seen_seconds"
	discarded      = "kubelet_pleg_discard_events" // _total is added by newer releases
	operations     = "kubelet_runtime_operations"  // _total, _errors_total, _duration_seconds
)

var errNotKubelet = errors.New("not the metrics of a kubelet")

// metrics is what the kubelet's /metrics held.
type metrics struct {
	version          string
	relist, interval histogram
	hasRelist        bool // the kubelet counts its relists, be it to 0
	lastSeen         float64
	discarded        float64
	operations       map[string]*operation
}

// An operation is one kind of call to the runtime.
type operation struct {
	count, errors float64
	took          histogram
}

// readMetrics reads the text of /metrics.
func readMetrics(r io.Reader) (metrics, error) {
	m := metrics{operations: map[string]*operation{}}
	found := false
	err := readSamples(r, []string{"kubelet_", buildInfo + "{"}, func(s sample) {
		found = true
		m.add(s)
	})
	if err == nil && !found {
		err = errNotKubelet
	}
	if err != nil {
		return metrics{}, err
	}
	return m, nil
}

func (m *metrics) add(s sample) {
	switch s.name {
	case buildInfo:
		m.version = s.labels["git_version"]
	case lastSeen:
		m.lastSeen = s.value
	case discarded, discarded + "_total":
		m.discarded = max(m.discarded, s.value)
	default:
		m.addSeries(s)
	}
}

// addSeries adds what has several lines to it.
func (m *metrics) addSeries(s sample) {
	upTo := bound(s)
	if suffix, ok := strings.CutPrefix(s.name, relistDuration); ok {
		m.relist.add(suffix, upTo, s.value)
		m.hasRelist = true
	} else if suffix, ok := strings.CutPrefix(s.name, relistInterval); ok {
		m.interval.add(suffix, upTo, s.value)
	} else if suffix, ok := strings.CutPrefix(s.name, operations); ok {
		m.addOperation(suffix, upTo, s)
	}
}

func (m *metrics) addOperation(suffix string, upTo float64, s sample) {
	switch suffix {
	case "_total":
		m.operation(s).count += s.value
	case "_errors_total":
		m.operation(s).errors += s.value
	default:
		if of, ok := strings.CutPrefix(suffix, "_duration_seconds"); ok {
			m.operation(s).took.add(of, upTo, s.value)
		}
	}
}

func (m *metrics) operation(s sample) *operation {
	name := s.labels["operation_type"]
	if m.operations[name] == nil {
		m.operations[name] = &operation{}
	}
	return m.operations[name]
}

// bound returns the bound of a histogram's bucket; that of a bucket which says
// none is infinite, so that nothing is made of it.
func bound(s sample) float64 {
	upTo, err := strconv.ParseFloat(s.labels["le"], 64)
	if err != nil || math.IsNaN(upTo) {
		return math.Inf(1)
	}
	return upTo
}

// into puts what was read where it belongs.
func (m *metrics) into(k *evidence.Kubelet) {
	k.Version = m.version
	k.Relist, k.Interval = m.relist.timing(), m.interval.timing()
	k.Discarded = whole(m.discarded)
	if m.lastSeen > 0 && m.lastSeen < math.MaxInt32*1000 {
		k.LastSeen = time.Unix(int64(m.lastSeen), 0)
	}
	for _, name := range slices.Sorted(maps.Keys(m.operations)) {
		o := m.operations[name]
		k.Operations = append(k.Operations, evidence.Operation{
			Name: name, Count: whole(cmp.Or(o.count, o.took.count)), Errors: whole(o.errors), Took: o.took.timing(),
		})
	}
}
