package host

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkWholeLook is one look at this machine, beside a server that plays the
// kubelet.
func BenchmarkWholeLook(b *testing.B) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	n, err := New(Config{RuntimeRoot: b.TempDir(), Kubelet: Kubelet{Healthz: server.URL, Metrics: server.URL}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n.Look(b.Context(), false)
	}
}
