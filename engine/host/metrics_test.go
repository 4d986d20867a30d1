package host

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

func said(m metrics) evidence.Kubelet {
	var e evidence.Kubelet
	m.into(&e)
	return e
}

// nearly compares lengths of time that were calculated: the last digits differ
// from processor to processor.
func nearly(a, b time.Duration) bool { return (a - b).Abs() < time.Microsecond }

func timings(e evidence.Kubelet) (all []evidence.Timing) {
	for _, o := range e.Operations {
		all = append(all, o.Took)
	}
	return all
}

// The two texts have the same figures under the names of their releases.
func TestReadMetricsOfReleases(t *testing.T) {
	tests := []struct {
		file, version string
		discarded     uint64
	}{
		{"kubelet-1.31.txt", "v1.31.9", 12},
		{"kubelet-1.37.txt", "v1.37.2", 3},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			text, err := os.Open(filepath.Join("testdata", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			defer text.Close()
			m, err := readMetrics(text)
			if err != nil {
				t.Fatal(err)
			}
			want := evidence.Kubelet{
				Version: tt.version, Discarded: tt.discarded, LastSeen: time.Unix(1795229011, 0),
				Relist:   evidence.Timing{Count: 8924, Sum: 412250 * time.Millisecond, P50: 11305343, P99: 66712871},
				Interval: evidence.Timing{Count: 8923, Sum: 9310500 * time.Millisecond, P50: 1751853724, P99: 2488670374},
				Operations: []evidence.Operation{
					{Name: "container_status", Count: 3120, Errors: 2, Took: evidence.Timing{Count: 3120, Sum: 121750 * time.Millisecond, P50: 2689655, P99: 30687500}},
					{Name: "list_containers", Count: 8924, Errors: 1, Took: evidence.Timing{Count: 8924, Sum: 402500 * time.Millisecond, P50: 3187142, P99: 51617187}},
					{Name: "list_podsandbox", Count: 8926, Errors: 1, Took: evidence.Timing{Count: 8926, Sum: 388 * time.Second, P50: 2789375, P99: 19388750}},
					{Name: "podsandbox_status", Count: 1501, Errors: 0, Took: evidence.Timing{Count: 1501, Sum: 2500 * time.Millisecond, P50: 2535472, P99: 7246250}},
					{Name: "status", Count: 1790, Errors: 0, Took: evidence.Timing{Count: 1790, Sum: 2250 * time.Millisecond, P50: 2514044, P99: 4977808}},
					{Name: "version", Count: 311, Errors: 0, Took: evidence.Timing{Count: 311, Sum: 250 * time.Millisecond, P50: 2500000, P99: 4950000}},
				},
			}
			if diff := cmp.Diff(want, said(m), cmp.Comparer(nearly)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A kubelet that has just started has all histograms at nothing.
func TestReadMetricsOfNewKubelet(t *testing.T) {
	m, err := readMetrics(strings.NewReader("kubelet_pleg_relist_duration_seconds_bucket{le=\"+Inf\"} 0\nkubelet_pleg_relist_duration_seconds_count 0\nkubelet_pleg_last_seen_seconds 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(evidence.Kubelet{}, said(m)); diff != "" {
		t.Error(diff)
	}
	if !m.hasRelist {
		t.Error("hasRelist = false for a kubelet that counts its relists")
	}
}

func TestReadMetricsOfOthers(t *testing.T) {
	tests := []struct {
		name, text string
		want       error
	}{
		{"empty", "", errNotKubelet},
		{"html", "<!doctype html>\n<html><body>It works!</body></html>\n", errNotKubelet},
		{"another program", "go_goroutines 7\nprocess_cpu_seconds_total 1\n", errNotKubelet},
		{"binary", "\x00\x01\x1f\x8b kubelet_", errNotKubelet},
		{"cut off", "kubelet_pleg_discard_events 0\nkubelet_pleg_last_seen_se", errNotMetrics},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := readMetrics(strings.NewReader(tt.text))
			if !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(evidence.Kubelet{}, said(m)); diff != "" {
				t.Errorf("an answer that cannot be read says something: %s", diff)
			}
		})
	}
}

func TestHistogramTiming(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name string
		h    histogram
		want evidence.Timing
	}{
		{"empty", histogram{}, evidence.Timing{}},
		{"one bucket", histogram{map[float64]float64{1: 10, inf: 10}, 10, 5}, evidence.Timing{Count: 10, Sum: 5 * time.Second, P50: 500 * time.Millisecond, P99: 990 * time.Millisecond}},
		{"between bounds", histogram{map[float64]float64{1: 0, 2: 50, 4: 100, inf: 100}, 100, 1}, evidence.Timing{Count: 100, Sum: time.Second, P50: 2 * time.Second, P99: 3960 * time.Millisecond}},
		{"p99 beyond", histogram{map[float64]float64{1: 90, 10: 98, inf: 100}, 100, 1}, evidence.Timing{Count: 100, Sum: time.Second, P50: 555555555, P99: 10 * time.Second, Beyond: true}},
		{"all beyond", histogram{map[float64]float64{1: 0, 10: 0, inf: 3}, 3, 360}, evidence.Timing{Count: 3, Sum: 6 * time.Minute, P50: 10 * time.Second, P99: 10 * time.Second, Beyond: true}},
		{"no bucket without bound", histogram{map[float64]float64{1: 0, 10: 0}, 3, 360}, evidence.Timing{Count: 3, Sum: 6 * time.Minute, P50: 10 * time.Second, P99: 10 * time.Second, Beyond: true}},
		{"no buckets", histogram{nil, 3, 1}, evidence.Timing{Count: 3, Sum: time.Second, Beyond: true}},
		{"falling counts", histogram{map[float64]float64{1: 50, 2: 40, 4: 100}, 100, 1}, evidence.Timing{Count: 100, Sum: time.Second, P50: time.Second, P99: 3960 * time.Millisecond}},
		{"endless", histogram{map[float64]float64{1: inf}, inf, inf}, evidence.Timing{Count: 1 << 63, Sum: math.MaxInt64}},
		{"no numbers", histogram{map[float64]float64{1: math.NaN()}, math.NaN(), math.NaN()}, evidence.Timing{}},
		{"negative", histogram{map[float64]float64{1: -1}, -1, -1e300}, evidence.Timing{Sum: math.MinInt64}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.h.timing(), cmp.Comparer(nearly)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
