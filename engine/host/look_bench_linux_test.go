package host

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkWholeLook makes one look at this machine, with a server that plays the kubelet: once as at a healthy
// node, and once as at a node where something hangs.
func BenchmarkWholeLook(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for name, deep := range map[string]bool{"healthy": false, "deep": true} {
		b.Run(name, func(b *testing.B) {
			n, err := New(Config{RuntimeRoot: b.TempDir(), Kubelet: Kubelet{Healthz: server.URL, Metrics: server.URL}})
			if err != nil {
				b.Fatal(err)
			}
			before := processorTime(b)
			for b.Loop() {
				n.Look(b.Context(), deep)
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
