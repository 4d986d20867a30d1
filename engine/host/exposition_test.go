package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var cmpSamples = cmp.Options{cmp.AllowUnexported(sample{}), cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b sample) bool { return a.name < b.name })}

func TestReadSamples(t *testing.T) {
	labels := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	tests := []struct {
		name, text string
		want       []sample
		err        error
	}{
		{"nothing", "", nil, nil},
		{"no labels", "a_b 3\n", []sample{{"a_b", nil, 3}}, nil},
		{"no newline at the end", "a 3", []sample{{"a", nil, 3}}, nil},
		{"carriage return", "a 3\r\n", []sample{{"a", nil, 3}}, nil},
		{"labels", `a{x="1",y="q\"b\\n},{"} 3`, []sample{{"a", labels("x", "1", "y", "q\"b\\n},{"), 3}}, nil},
		{"a counter", "# HELP a b\n# TYPE a counter\na 1e9", []sample{{"a", nil, 1e9}}, nil},
		{"a histogram", "# TYPE a histogram\na_bucket{le=\"0.5\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 7\na_count 2\n", []sample{
			{"a_bucket", labels("le", "0.5"), 1}, {"a_bucket", labels("le", "+Inf"), 2}, {"a_sum", nil, 7}, {"a_count", nil, 2},
		}, nil},
		{"a histogram without its type", "a_bucket{le=\"0.5\"} 1\na_sum 7\n", []sample{{"a_bucket", labels("le", "0.5"), 1}, {"a_sum", nil, 7}}, nil},
		{"broken lines of others", "b{ 1\n\n<html>\n# TYPE b nonsense\na 1", []sample{{"a", nil, 1}}, nil},

		{"no value", "a", nil, errNotMetrics},
		{"no number", "a b", nil, errNotMetrics},
		{"open quote", `a{x="1} 3`, nil, errNotMetrics},
		{"endless line", "a" + strings.Repeat("x", maxLine), nil, errNotMetrics},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []sample
			err := readSamples(strings.NewReader(tt.text), []string{"a"}, func(s sample) { got = append(got, s) })
			if !errors.Is(err, tt.err) {
				t.Fatalf("error = %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got, cmpSamples); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzReadMetrics(f *testing.F) {
	f.Add("kubelet_pleg_relist_duration_seconds_bucket{le=\"0.1\"} 3\nkubelet_pleg_relist_duration_seconds_count 4\n")
	f.Add("kubelet_runtime_operations_total{operation_type=\"a\\n\"} 1e300\nkubelet_runtime_operations_duration_seconds_sum NaN\n")
	f.Add("kubernetes_build_info{git_version=\"v1.33.4\"} 1\nkubelet_pleg_last_seen_seconds -1\nkubelet_pleg_discard_events +Inf")
	f.Add("kubelet_pleg_relist_interval_seconds_bucket{le=\"NaN\"} -3\nkubelet_pleg_relist_interval_seconds_count +Inf")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readMetrics(strings.NewReader(text))
		if err != nil {
			return
		}
		e := said(m)
		for _, timing := range append(timings(e), e.Relist, e.Interval) {
			if timing.Count == 0 && (timing.P50 != 0 || timing.P99 != 0 || timing.Beyond) {
				t.Errorf("%+v says more than nothing about no values", timing)
			}
		}
		if e.LastSeen.Unix() < 1 && !e.LastSeen.IsZero() {
			t.Errorf("last seen at %v", e.LastSeen)
		}
	})
}
