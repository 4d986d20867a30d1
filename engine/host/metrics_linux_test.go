package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// recordedAt is the time at which the texts were recorded.
var recordedAt = time.Unix(1795229011, 0)

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
			got, counts, err := readMetrics(text, recordedAt.Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			want := evidence.Kubelet{
				Version: tt.version, Discarded: tt.discarded, LastSeen: recordedAt,
				Relist:   evidence.Timing{Count: 8924, Sum: 412250 * time.Millisecond},
				Interval: evidence.Timing{Count: 8923, Sum: 9310500 * time.Millisecond},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if !counts {
				t.Error("it counts its relists")
			}
		})
	}
}

func TestReadMetricsOf(t *testing.T) {
	relisted := func(d time.Duration) evidence.Timing { return evidence.Timing{Count: 1, Sum: d} }
	tests := []struct {
		name, text string
		want       evidence.Kubelet
		counts     bool
		err        error
	}{
		{
			"a kubelet that has just started", "kubelet_pleg_relist_duration_seconds_count 0\nkubelet_pleg_last_seen_seconds 0\n",
			evidence.Kubelet{}, true, nil,
		},
		{"a kubelet without PLEG", "kubelet_node_name{node=\"a\"} 1\n", evidence.Kubelet{}, false, nil},
		{"no newline at the end", "kubelet_pleg_discard_events 3", evidence.Kubelet{Discarded: 3}, false, nil},
		{"carriage returns", "kubelet_pleg_discard_events 3\r\nkubelet_a 1\r\n", evidence.Kubelet{Discarded: 3}, false, nil},
		{"a time of its own", "kubelet_pleg_discard_events 3 1795229011000\n", evidence.Kubelet{Discarded: 3}, false, nil},
		{"a label of any text", `kubernetes_build_info{x="q\"b\\n},{",git_version="v1.33.4"} 1`, evidence.Kubelet{Version: "v1.33.4"}, false, nil},
		{
			"types that are not the kubelet's", "# TYPE kubelet_pleg_relist_duration_seconds gauge\n# TYPE kubelet_pleg_discard_events nonsense\nkubelet_pleg_relist_duration_seconds_count 1\nkubelet_pleg_relist_duration_seconds_sum 7\nkubelet_pleg_discard_events 3\n",
			evidence.Kubelet{Discarded: 3, Relist: relisted(7 * time.Second)}, true, nil,
		},
		{"broken lines of others", "b{ 1\n\n<html>\n# TYPE b nonsense\nkubelet_b{\nkubelet_pleg_discard_events 3", evidence.Kubelet{Discarded: 3}, false, nil},

		{"empty", "", evidence.Kubelet{}, false, errNotKubelet},
		{"html", "<!doctype html>\n<html><body>It works!</body></html>\n", evidence.Kubelet{}, false, errNotKubelet},
		{"another program", "go_goroutines 7\nprocess_cpu_seconds_total 1\n", evidence.Kubelet{}, false, errNotKubelet},
		{"binary", "\x00\x01\x1f\x8b kubelet_", evidence.Kubelet{}, false, errNotKubelet},
		{"cut off", "kubelet_pleg_discard_events 0\nkubelet_pleg_last_seen_seconds", evidence.Kubelet{}, false, errNotMetrics},
		{"no number", "kubelet_pleg_discard_events b", evidence.Kubelet{}, false, errNotMetrics},
		{"open quote", `kubernetes_build_info{git_version="1} 3`, evidence.Kubelet{}, false, errNotMetrics},
		{"endless line", "a" + strings.Repeat("x", longestLine), evidence.Kubelet{}, false, errNotMetrics},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, counts, err := readMetrics(strings.NewReader(tt.text), recordedAt)
			if !errors.Is(err, tt.err) || counts != tt.counts {
				t.Errorf("counts its relists: %v, error = %v, want %v, %v", counts, err, tt.counts, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// If the text of a kubelet, or of a program in its place, makes no sense, the error says so, and nothing of the
// text is used.
func TestKubeletMetricsMakeNoSense(t *testing.T) {
	lines := func(n int, format string) func(io.Writer) {
		return func(w io.Writer) {
			var err error
			for i := 0; i < n && err == nil; i++ { // until nobody reads on
				_, err = fmt.Fprintf(w, format, i)
			}
		}
	}
	text := func(s string) func(io.Writer) { return func(w io.Writer) { _, _ = io.WriteString(w, s) } }
	seen := func(v any) func(io.Writer) { return text(fmt.Sprintf("kubelet_pleg_last_seen_seconds %v\n", v)) }
	const nonsense = "not available: %s makes no sense: it is %s"
	tests := []struct {
		name string
		body func(io.Writer)
		want string
	}{
		{"milliseconds", seen("1.795e12"), fmt.Sprintf(nonsense, lastSeen, "1.795e+12")},
		{"far future", seen(time.Now().Add(48 * time.Hour).Unix()), "not available: " + lastSeen + " makes no sense: it is "},
		{"far past", seen(7), fmt.Sprintf(nonsense, lastSeen, "7")},
		{"a time that is none", seen("NaN"), fmt.Sprintf(nonsense, lastSeen, "NaN")},
		{"a time without end", seen("+Inf"), fmt.Sprintf(nonsense, lastSeen, "+Inf")},
		{"a negative time", seen("-1.795e9"), fmt.Sprintf(nonsense, lastSeen, "-1.795e+09")},
		{"the largest time", seen("1.7e308"), fmt.Sprintf(nonsense, lastSeen, "1.7e+308")},
		{"no count", text("kubelet_pleg_discard_events NaN\n"), fmt.Sprintf(nonsense, discarded, "NaN")},
		{"a negative count", text("kubelet_pleg_discard_events_total -1\n"), fmt.Sprintf(nonsense, discardedTotal, "-1")},
		{"an endless count", text("kubelet_pleg_discard_events +Inf\n"), fmt.Sprintf(nonsense, discarded, "+Inf")},
		{"a huge count", text("kubelet_pleg_discard_events 1e300\n"), fmt.Sprintf(nonsense, discarded, "1e+300")},
		{"a sum that is none", text("kubelet_pleg_relist_duration_seconds_sum NaN\n"), fmt.Sprintf(nonsense, relistDuration+"_sum", "NaN")},
		{"a negative sum", text("kubelet_pleg_relist_duration_seconds_sum -3\n"), fmt.Sprintf(nonsense, relistDuration+"_sum", "-3")},
		{"an endless sum", text("kubelet_pleg_relist_duration_seconds_sum +Inf\n"), fmt.Sprintf(nonsense, relistDuration+"_sum", "+Inf")},
		{"no number of values", text("kubelet_pleg_relist_interval_seconds_count NaN\n"), fmt.Sprintf(nonsense, relistInterval+"_count", "NaN")},
		{"endless values", text("kubelet_pleg_relist_interval_seconds_count +Inf\n"), fmt.Sprintf(nonsense, relistInterval+"_count", "+Inf")},
		{"negative values", text("kubelet_pleg_relist_interval_seconds_count -1\n"), fmt.Sprintf(nonsense, relistInterval+"_count", "-1")},
		{"50 MB", lines(50, "# "+strings.Repeat("x", 1_000_000)+"%d\n"), "not available: the answer is longer than 8 MiB"},
		{"50 MB in a line", text("kubelet_a " + strings.Repeat("1", 50_000_000)), "not available: " + errNotMetrics.Error()},
		{"a million series", lines(1_000_000, "kubelet_pleg_discard_events{x=\"%d\"} 1\n"), "not available: more than 512 KiB of what is looked for: no such program says so much"},
		{
			"labels without end", func(w io.Writer) {
				text("kubernetes_build_info{")(w)
				lines(longestLine/1000, "l%d=\""+strings.Repeat("x", 1000)+"\",")(w)
				text("} 1\n")(w)
			}, "not available: " + errNotMetrics.Error(),
		},
		{
			"a thousand labels", func(w io.Writer) {
				text("kubernetes_build_info{")(w)
				lines(1000, "l%d=\"\",")(w)
				text("} 1\n")(w)
			}, "not available: a line of " + buildInfo + " is longer than 1 KiB",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintln(w, "kubernetes_build_info{git_version=\"v1.33.4\"} 1")
				tt.body(w)
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := askOnce(t, Kubelet{Healthz: server.URL, Metrics: server.URL})
			runtime.ReadMemStats(&after)
			if a := got.Metrics; !strings.HasPrefix(a.Err, tt.want) || a.OK || a.TimedOut || !a.Asked {
				t.Errorf("metrics = %+v, want the error %q", a, tt.want)
			}
			got.Ping, got.Metrics = evidence.Answer{}, evidence.Answer{}
			if diff := cmp.Diff(evidence.Kubelet{}, got); diff != "" {
				t.Errorf("it says something all the same: %s", diff)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 { // the server's share included
				t.Errorf("it took %d MiB of memory", took>>20)
			}
		})
	}
}

func FuzzReadMetrics(f *testing.F) {
	f.Add("kubelet_pleg_relist_duration_seconds_bucket{le=\"0.1\"} 3\nkubelet_pleg_relist_duration_seconds_count 4\n")
	f.Add("kubernetes_build_info{git_version=\"v1.33.4\"} 1\nkubelet_pleg_last_seen_seconds -1\nkubelet_pleg_discard_events +Inf")
	f.Add("kubelet_pleg_relist_interval_seconds_bucket{le=\"NaN\"} -3\nkubelet_pleg_relist_interval_seconds_count +Inf")
	f.Fuzz(func(t *testing.T, text string) {
		e, _, err := readMetrics(strings.NewReader(text), recordedAt)
		if err != nil {
			return
		}
		for _, timing := range []evidence.Timing{e.Relist, e.Interval} {
			if timing.Sum < 0 {
				t.Errorf("%+v makes no sense", timing)
			}
		}
		if far := e.LastSeen.Sub(recordedAt); !e.LastSeen.IsZero() && (far < -mostBehind || far > mostAhead) {
			t.Errorf("last seen at %v", e.LastSeen)
		}
		if _, err := json.Marshal(e); err != nil {
			t.Errorf("what it says is no JSON: %v", err)
		}
	})
}
