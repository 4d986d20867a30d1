package host

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// callMetrics returns the text of containerd's metrics, with the calls begun and ended of each method. The
// ended calls have two codes.
func callMetrics(counts map[string][2]int) string {
	var b strings.Builder
	for method, n := range counts {
		labels := fmt.Sprintf(`grpc_method=%q,grpc_service="runtime.v1.RuntimeService",grpc_type="unary"`, method)
		fmt.Fprintf(&b, "grpc_server_started_total{%s} %d\n", labels, n[0])
		fmt.Fprintf(&b, "grpc_server_handled_total{grpc_code=\"OK\",%s} %d\ngrpc_server_handled_total{grpc_code=\"Unknown\",%s} %d\n", labels, n[1]-n[1]/3, labels, n[1]/3)
	}
	return b.String()
}

func TestReadCalls(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]int
		begun      uint64
		err        string
	}{
		{"one in flight", callMetrics(map[string][2]int{"UpdateContainerResources": {8, 7}, "Version": {9, 9}}), map[string]int{"UpdateContainerResources": 1}, 17, ""},
		{"the stream that stays", callMetrics(map[string][2]int{"GetContainerEvents": {2, 0}, "StreamContainers": {3, 1}}), map[string]int{"StreamContainers": 2}, 5, ""},
		{"more ended than begun, as it was counted between", callMetrics(map[string][2]int{"Version": {8, 9}}), map[string]int{}, 8, ""},
		{"another service", `grpc_server_started_total{grpc_method="Get",grpc_service="containerd.services.images.v1.Images",grpc_type="unary"} 3` + "\n", map[string]int{}, 0, ""},
		{"none ended", `grpc_server_started_total{grpc_method="Status",grpc_service="runtime.v1.RuntimeService"} 3`, map[string]int{"Status": 3}, 3, ""},
		{"CRI-O's", "crio_operations_total 3\n", nil, 0, "they count no calls that have begun"},
		{"no figure", `grpc_server_started_total{grpc_method="Status",grpc_service="runtime.v1.RuntimeService"} NaN`, nil, 0, "makes no sense"},
		{"less than none", `grpc_server_started_total{grpc_method="Status",grpc_service="runtime.v1.RuntimeService"} -3`, nil, 0, "makes no sense"},
		{"without end", strings.Repeat(callMetrics(map[string][2]int{"Status": {3, 2}}), 10_000), nil, 0, "more than 512 KiB"},
		{"nothing", "", nil, 0, "they count no calls that have begun"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, begun, err := readCalls(strings.NewReader(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || begun != tt.begun || err != nil {
				t.Errorf("%d begun, error %v, in flight (-want +got):\n%s", begun, err, diff)
			}
		})
	}
}

// The time for which so many calls have been in flight counts from the first look after which no look has shown
// fewer.
func TestCallWatch(t *testing.T) {
	var w callWatch
	began := time.Now()
	for _, tt := range []struct {
		at     int // seconds
		count  int
		begun  uint64
		want   int // seconds for that many
		reason string
	}{
		{0, 1, 10, 0, "the first look"},
		{5, 1, 11, 5, "as many"},
		{10, 3, 13, 0, "more"},
		{15, 4, 14, 0, "and more"},
		{20, 2, 14, 10, "at least two since there were three"},
		{25, 1, 14, 25, "at least one since the beginning"},
		{30, 1, 2, 0, "of a runtime that has begun again"},
		{35, 1, 2, 5, "as many"},
		{40, 0, 2, 0, "none"},
		{45, 1, 3, 0, "another one"},
		{99, 1, 3, 0, "after a time without a look"},
	} {
		counts := map[string]int{}
		if tt.count > 0 {
			counts["Status"] = tt.count
		}
		got := w.look(counts, tt.begun, began.Add(time.Duration(tt.at)*time.Second))
		var want []evidence.InFlight
		if tt.count > 0 {
			want = []evidence.InFlight{{Method: "Status", Count: tt.count, For: time.Duration(tt.want) * time.Second}}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d s, %s (-want +got):\n%s", tt.at, tt.reason, diff)
		}
	}
	w = callWatch{}
	for i := range 1000 {
		got := w.look(map[string]int{"Status": i + 1}, uint64(i), began.Add(time.Duration(i)*time.Second))
		if len(got) != 1 || got[0].For != 0 {
			t.Fatalf("%+v with %d levels", got, len(w.levels["Status"]))
		}
	}
	if got := w.look(map[string]int{"Status": 1}, 1000, began.Add(1000*time.Second)); got[0].For != 1000*time.Second {
		t.Errorf("one for %v, want all the time", got[0].For)
	}
}

func TestMetricsURL(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:1338": "http://127.0.0.1:1338/v1/metrics",
		"127.1.2.3:1338": "http://127.1.2.3:1338/v1/metrics",
		"localhost:1338": "http://127.0.0.1:1338/v1/metrics",
		"[::1]:1338":     "http://[::1]:1338/v1/metrics",
		"0.0.0.0:1338":   "http://127.0.0.1:1338/v1/metrics",
		"[::]:1338":      "http://[::1]:1338/v1/metrics",
		":1338":          "http://127.0.0.1:1338/v1/metrics",
		"10.0.0.9:1338":  "containerd's metrics are not on loopback: name them with --runtime-metrics http://10.0.0.9:1338/v1/metrics",
		"node-7:1338":    "containerd's metrics are not on loopback: name them with --runtime-metrics http://node-7:1338/v1/metrics",
		"nonsense":       `containerd's metrics are at "nonsense", which is no address: address nonsense: missing port in address`,
	} {
		u, err := metricsAt(address)
		got := fmt.Sprint(err)
		if err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestRuntimeRefused(t *testing.T) {
	_, err := New(Config{Offline: true, Runtime: Runtime{DebugSocket: "d.sock"}})
	if want := "--debug-socket d.sock: want its whole path, such as /run/containerd/debug.sock"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	for text, want := range map[string]string{
		"127.0.0.1:1338":        `--runtime-metrics "127.0.0.1:1338": want a URL such as http://127.0.0.1:1338/v1/metrics`,
		"http://a:b@host/v1":    "--runtime-metrics: leave the password out of the URL",
		"unix:///run/x.sock":    `--runtime-metrics "unix:///run/x.sock": want a URL such as http://127.0.0.1:1338/v1/metrics`,
		"http://127.0.0.1:9/v1": "<nil>",
	} {
		_, err := New(Config{Offline: true, Runtime: Runtime{Metrics: text}})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slow[int]
		release := make(chan int)
		begin := func() {
			if s.look(time.Now()); s.isDue(time.Now()) {
				s.out = reads.Start(&s.reads, "", func() (int, error) { return <-release, nil })
			}
		}
		for i, want := range []string{"still being read", "still being read", "no answer for 11s", "no answer for 16s"} {
			begin()
			began := time.Now()
			_, why := s.get(t.Context())
			if took := time.Since(began); why.Missing != want || why.Pending != (i < 2) || took > slowWait {
				t.Errorf("look %d: %+v after %v; want %q", i, why, took, want)
			}
			time.Sleep([]time.Duration{time.Second, 10 * time.Second, 5 * time.Second, time.Second}[i])
		}
		release <- 7
		synctest.Wait()
		begin()
		if got, why := s.get(t.Context()); got != 7 || why.Missing != "" {
			t.Errorf("got %d, %+v", got, why)
		}
		begin()
		if got, why := s.get(t.Context()); got != 7 || why.Missing != "" || why.Pending {
			t.Errorf("while the next is read: %d, %+v, want the last", got, why)
		}
		time.Sleep(hangOver + time.Second)
		begin()
		if got, why := s.get(t.Context()); got != 0 || why.Missing == "" {
			t.Errorf("of another hang: %d, %+v", got, why)
		}
		close(release)
	})
}
