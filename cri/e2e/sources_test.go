//go:build linux

package e2e

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A source is an HTTP server that stands between plegtop and one of the runtime's, passes
// every request on unchanged, and keeps what was asked.
type source struct {
	mu    sync.Mutex
	asked []string // guarded by mu; such as "GET /v1/metrics"
}

func (s *source) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// between serves at listener what dial reaches.
func between(t *testing.T, listener net.Listener, network, address string) *source {
	t.Helper()
	s := &source{}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "runtime"}) },
		Transport: &http.Transport{DialContext: dial},
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		proxy.ServeHTTP(w, r)
	})}
	go server.Serve(listener) // returns when the server is closed
	t.Cleanup(func() { server.Close() })
	return s
}

// What the runtime's own debugging has to say is asked for where something hangs, once, and by no
// other request; on a healthy node it is left alone.
func TestOnlyTheDumpIsAskedFor(t *testing.T) {
	node := newestContainerd(t)
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "d"))
	must(t, err)
	debug := between(t, unix, "unix", filepath.Join(node.folder, "debug.sock"))
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	metrics := between(t, tcp, "tcp", node.metrics())
	runtime := record(t, node.socket)
	flags := []string{"--runtime-metrics", "http://" + tcp.Addr().String() + "/v1/metrics"}
	args := append(slices.Clone(flags), "--debug-socket", unix.Addr().String())

	node.startPod("calm", "sleep")
	if v := check(t, runtime.socket, args...); v.exit != 0 {
		t.Errorf("exit code %d of a healthy node:\n%s", v.exit, v.text)
	}
	if asked := append(debug.requests(), metrics.requests()...); len(asked) > 0 {
		t.Errorf("on a healthy node plegtop asks for %q", asked)
	}

	h := node.update("holder")
	check(t, node.socket, args...).holder(t, h)
	if diff := cmp.Diff([]string{"GET /debug/pprof/goroutine?debug=2"}, debug.requests()); diff != "" {
		t.Errorf("requests at the debug socket (-want +got):\n%s", diff)
	}
	asked := metrics.requests()
	if len(asked) == 0 || slices.ContainsFunc(asked, func(r string) bool { return r != "GET /v1/metrics" }) {
		t.Errorf("requests at the metrics: %q", asked)
	}
	check(t, node.socket, append(flags, "--no-dump")...).holder(t, h)
	if n := len(debug.requests()); n != 1 {
		t.Errorf("%d requests at the debug socket, one of them although --no-dump forbids it", n)
	}
	checkReadOnly(t, runtime.requests())
}

// metrics returns where containerd serves them, by its configuration.
func (p *private) metrics() string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.folder, "config.toml"))
	must(p.t, err)
	return regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).FindString(string(text))
}
