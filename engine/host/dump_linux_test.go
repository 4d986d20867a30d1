package host

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/stacks"
)

const oneGoroutine = "goroutine 7 [select, 3 minutes]:\nmain.wait(0x1)\n\t/src/main.go:7 +0x1d\ncreated by main.main in goroutine 1\n\t/src/main.go:3 +0x2\n\n"

// A recorder keeps the requests to each server of a test.
type recorder struct {
	mu    sync.Mutex
	asked []string
}

func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// wrap returns a handler with that name that keeps each request and lets h answer it.
func (r *recorder) wrap(name string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, name+" "+q.Method+" "+q.RequestURI)
		r.mu.Unlock()
		h.ServeHTTP(w, q)
	})
}

// listenUnix serves on a socket until the test ends.
func listenUnix(t *testing.T, path string, h http.Handler) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	t.Cleanup(func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }()
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// A rig is a node whose runtime is the test's own process, under another name.
type rig struct {
	root, endpoint string
	*recorder
}

func newRig(t *testing.T, comm string) *rig {
	t.Helper()
	root := t.TempDir()
	r := &rig{root, "unix://" + filepath.Join(root, "run/cri.sock"), new(recorder)}
	listenUnix(t, filepath.Join(root, "run/cri.sock"), r.wrap("cri", says(oneGoroutine)))
	writeProcess(t, root, fakeProcess{PID: os.Getpid(), Comm: comm, Args: []string{comm}, Started: testUptime - time.Hour})
	writeFile(t, filepath.Join(root, "proc", strconv.Itoa(os.Getpid()), "comm"), comm+"\n")
	return r
}

func (r *rig) config() Config {
	return Config{
		Root: r.root, Endpoint: r.endpoint,
		Kubelet: Kubelet{Healthz: "http://127.0.0.1:1/healthz", Metrics: "http://127.0.0.1:1/metrics"},
	}
}

// look makes one look as at a healthy node, which must ask for nothing, and then a deep look.
func (r *rig) look(t *testing.T, c Config) *evidence.Deep {
	t.Helper()
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if healthy := n.Look(t.Context(), false); healthy.Deep != nil || len(r.requests()) > 0 {
		t.Errorf("nothing hangs, and there is %+v by %q", healthy.Deep, r.requests())
	}
	var deep *evidence.Deep
	for looks := 0; looks < 3 || deep.Pending(); looks++ { // more on a machine that is busy
		deep = n.Look(t.Context(), true).Deep
	}
	return deep
}

// This test has all requests that are ever sent to a runtime's sockets.
func TestDumpRequests(t *testing.T) {
	for _, tt := range []struct {
		name, comm, file, text string
		change                 func(*Config, string)
		want                   []string
		from, missing          string
	}{
		{
			"containerd", "containerd", "etc/containerd/config.toml", "[debug]\naddress = '/run/debug.sock'\n", nil,
			[]string{"debug GET /debug/pprof/goroutine?debug=2"}, "/run/debug.sock", "",
		},
		{
			"containerd, version 4", "containerd", "etc/containerd/config.toml", "[plugins.'io.containerd.server.v1.debug']\naddress = '/run/debug.sock'\n", nil,
			[]string{"debug GET /debug/pprof/goroutine?debug=2"}, "/run/debug.sock", "",
		},
		{
			"containerd, the default place", "containerd", "x", "", nil,
			[]string{"default GET /debug/pprof/goroutine?debug=2"}, "/run/containerd/debug.sock", "",
		},
		{"CRI-O", "crio", "x", "", nil, []string{"cri GET /debug/goroutines"}, "ROOT/run/cri.sock", ""},
		{
			"one that was named", "containerd", "x", "",
			func(c *Config, root string) { c.Runtime.DebugSocket = root + "/run/debug.sock" },
			[]string{"debug GET /debug/pprof/goroutine?debug=2"}, "ROOT/run/debug.sock", "",
		},
		{
			"one that was named, of CRI-O", "crio", "x", "",
			func(c *Config, root string) { c.Runtime.DebugSocket = "unix://" + root + "/run/debug.sock" },
			[]string{"debug GET /debug/goroutines"}, "ROOT/run/debug.sock", "",
		},
		{
			"one that was named, of CRI-O by its path alone", "other", "x", "",
			func(c *Config, root string) { c.Runtime.DebugSocket = root + "/run/crio/crio.sock" },
			[]string{"crio GET /debug/goroutines"}, "ROOT/run/crio/crio.sock", "",
		},
		{"none, by the flag", "crio", "x", "", func(c *Config, _ string) { c.Runtime.NoDump = true }, nil, "", "--no-dump forbids it"},
		{"Docker", "cri-dockerd", "x", "", nil, nil, "", "cri-dockerd has no dump that can be read"},
		{"a port", "containerd", "etc/containerd/config.toml", "debug.address = '127.0.0.1:7'", nil, nil, "127.0.0.1:7", `"127.0.0.1:7" is not the path of a socket`},
		{
			"memory is short", "crio", "proc/pressure/memory", strings.ReplaceAll(someLine, "avg10=1.50", "avg10=10.00") + fullLine, nil,
			nil, "", "left out, for memory is short: tasks wait for it 10 % of the time",
		},
		{"little memory is left", "crio", "proc/meminfo", "MemAvailable:     102400 kB\n", nil, nil, "", "left out, for memory is short: 100 MiB are available"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.comm)
			listenUnix(t, filepath.Join(r.root, "run/debug.sock"), r.wrap("debug", says(oneGoroutine)))
			listenUnix(t, filepath.Join(r.root, "run/containerd/debug.sock"), r.wrap("default", says(oneGoroutine)))
			listenUnix(t, filepath.Join(r.root, "run/crio/crio.sock"), r.wrap("crio", says(oneGoroutine)))
			writeFile(t, filepath.Join(r.root, "proc/pressure/cpu"), someLine)
			writeFile(t, filepath.Join(r.root, "proc/pressure/io"), someLine+fullLine)
			writeFile(t, filepath.Join(r.root, tt.file), tt.text)
			c := r.config()
			if tt.change != nil {
				tt.change(&c, r.root)
			}
			got := r.look(t, c).Stacks
			if diff := cmp.Diff(tt.want, r.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if from := strings.ReplaceAll(tt.from, "ROOT", r.root); got.From != from || got.Missing != tt.missing || got.Pending {
				t.Errorf("from %q: missing %q, want from %q, %q", got.From, got.Missing, from, tt.missing)
			}
			if ok := got.Total == 1 && got.Program == tt.comm && got.Bytes == int64(len(oneGoroutine)) && time.Since(got.At) < time.Minute; ok != (tt.missing == "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// ask asks a socket of a rig for a dump, and waits at most for within.
func ask(t *testing.T, r *rig, path string, within time.Duration, parse parser) evidence.Stacks {
	t.Helper()
	c := r.config()
	c.Runtime.DebugSocket = path
	return (&Look{Node: &Node{Config: c}}).askDump(t.Context(), c.readStatic(c.runtimeAt()), within, parse)
}

// count is a parser that counts bytes.
func count(r io.Reader) (s evidence.Stacks, err error) {
	n, err := io.Copy(io.Discard, r)
	s.Total = int(n)
	return s, err
}

func TestDumpOfSocketsThatAreIll(t *testing.T) {
	endless := func(w http.ResponseWriter, q *http.Request) {
		for q.Context().Err() == nil {
			_, _ = io.WriteString(w, oneGoroutine)
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond) // so slowly that time runs out before the bytes do
		}
	}
	silent := func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }
	for _, tt := range []struct {
		name             string
		serve            http.HandlerFunc
		within           time.Duration
		missing, partial string
	}{
		{"no answer", silent, 500 * time.Millisecond, "took the connection and gave no answer within 500ms", ""},
		{"no end", endless, 3 * time.Second, "", "cut off after "},
		{"a beginning without a goroutine", func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			silent(w, q)
		}, 500 * time.Millisecond, "cut off after ", ""},
		{"the beginning alone", func(w http.ResponseWriter, q *http.Request) {
			_, _ = io.WriteString(w, oneGoroutine)
			w.(http.Flusher).Flush()
			silent(w, q)
		}, 3 * time.Second, "", "cut off after "},
		{"the middle", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9999")
			_, _ = io.WriteString(w, oneGoroutine)
		}, time.Minute, "", "it ended early: unexpected EOF"},
		{"hostile bytes", says("\x1b]0;\x07\x00\xff" + strings.Repeat("goroutine [\n", 99)), time.Minute, "there is no goroutine", ""},
		{"nothing", says(""), time.Minute, "there is no goroutine", ""},
		{"another program", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such page", http.StatusNotFound) }, time.Minute, "it answers 404 Not Found: no such page", ""},
		{"elsewhere", func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/debug/heap", http.StatusFound) }, time.Minute, "it answers 302", ""},
		{"no HTTP", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "\x00\x00garbage\n")
			_ = conn.Close()
		}, time.Minute, "malformed HTTP", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "containerd")
			path := filepath.Join(r.root, "d.sock")
			listenUnix(t, path, r.wrap("debug", tt.serve))
			got := ask(t, r, path, tt.within, stacks.Read)
			if !strings.Contains(got.Missing, tt.missing) || strings.HasPrefix(got.Missing, unavailable) || !strings.Contains(got.Partial, tt.partial) || got.From != path {
				t.Errorf("missing %q, partial %q of %s; want %q, %q", got.Missing, got.Partial, got.From, tt.missing, tt.partial)
			}
			if (got.Missing == "") != (tt.missing == "") || (got.Partial == "") != (tt.partial == "") || (got.Total > 0) != (tt.missing == "") {
				t.Errorf("got %+v", got)
			}
			if n := len(r.requests()); n != 1 {
				t.Errorf("%d requests: %q", n, r.requests())
			}
		})
	}
}

// Of a text of 200 MB only 64 MiB are read.
func TestDumpIsBounded(t *testing.T) {
	r := newRig(t, "containerd")
	path := filepath.Join(r.root, "d.sock")
	listenUnix(t, path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	got := ask(t, r, path, time.Minute, count)
	if got.Bytes != mostDump || got.Total != mostDump || got.Partial != "only the first 64 MiB were read" || got.Missing != "" {
		t.Errorf("got %+v", got)
	}
}

func TestDumpOfNoSocket(t *testing.T) {
	r := newRig(t, "containerd")
	at := func(name string) string { return filepath.Join(r.root, name) }
	writeFile(t, at("file"), oneGoroutine)
	if l, err := net.Listen("unix", at("left.sock")); err != nil {
		t.Fatal(err)
	} else {
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = l.Close()
	}
	for path, want := range map[string]string{
		at("file"):      "it is no socket",
		r.root:          "it is no socket",
		at("gone"):      "no such file or directory",
		at("left.sock"): "connection refused",
		"d.sock":        `"d.sock" is not the path of a socket`,
		"/dev/null":     "it is no socket",
		"":              "containerd's configuration names no debug socket: set address under [debug] there, or name a socket with --debug-socket",
	} {
		if got := ask(t, r, path, time.Second, stacks.Read); got.Missing != want || got.Total != 0 {
			t.Errorf("%s: missing %q, want %q", path, got.Missing, want)
		}
	}
	writeFile(t, at("etc/containerd/config.toml"), "broken")
	if got := ask(t, r, "", time.Second, stacks.Read).Missing; !strings.HasPrefix(got, "containerd's configuration cannot be read: /etc/containerd/config.toml: toml: ") {
		t.Errorf("a broken configuration: %q", got)
	}
}

// If another process has its socket in the runtime's place, nothing is sent there. A link in a path does not
// lead out of the host's root.
func TestDumpAsksNobodyElse(t *testing.T) {
	r := newRig(t, "containerd")
	path := filepath.Join(r.root, "d.sock")
	listenUnix(t, path, r.wrap("debug", says(oneGoroutine)))
	if _, err := dialSocket("", path, os.Getpid()+1); err == nil || !strings.Contains(err.Error(), "name it with --debug-socket") {
		t.Errorf("error = %v, want that it is another process's", err)
	}
	conn, err := dialSocket(r.root, "/d.sock", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if conn.Close(); len(r.requests()) > 0 {
		t.Errorf("requests %q", r.requests())
	}
	writeLink(t, r.root, "run/containerd/debug.sock", path)
	if got := ask(t, r, "", time.Second, stacks.Read); got.Total > 0 {
		t.Errorf("a link has led out of the root: %+v", got)
	}
}

// One dump is read for a hang, the next one not before 30 s have passed. The longer the hang lasts, the longer
// is the time between two dumps. In between, the last dump is returned.
func TestDumpIsReadSeldom(t *testing.T) {
	r := newRig(t, "crio")
	var d dumper
	l := &Look{Node: &Node{Config: r.config()}}
	began := time.Now()
	look := func(at time.Duration) evidence.Stacks {
		got := d.look(t.Context(), l, began.Add(at))
		if d.out != nil { // the machine is busy
			<-d.out.Done()
			got = d.look(t.Context(), l, began.Add(at))
		}
		return got
	}
	for _, tt := range []struct {
		from, to time.Duration // looks each 5 s
		requests int           // in all
	}{
		{0, 25 * time.Second, 1}, {30 * time.Second, 85 * time.Second, 2}, {90 * time.Second, 205 * time.Second, 3},
		{210 * time.Second, 445 * time.Second, 4}, {450 * time.Second, 745 * time.Second, 5}, {750 * time.Second, 1045 * time.Second, 6}, {1050 * time.Second, 1080 * time.Second, 7},
	} {
		for at := tt.from; at <= tt.to; at += 5 * time.Second {
			if got := look(at); got.Total != 1 || got.Pending || got.Missing != "" {
				t.Fatalf("after %v: %+v", at, got)
			}
		}
		if n := len(r.requests()); n != tt.requests {
			t.Errorf("%d requests in %v, want %d", n, tt.to, tt.requests)
		}
	}
	// Another hang is recognized by the time without a look.
	for _, tt := range []struct {
		at       time.Duration
		requests int
		missing  string
	}{
		{1100 * time.Second, 8, ""},
		{1116 * time.Second, 8, "the last dump was of another hang, and from one to the next it is 30s"},
		{1129 * time.Second, 8, "the last dump was of another hang, and from one to the next it is 30s"},
		{1131 * time.Second, 9, ""}, {1145 * time.Second, 9, ""},
	} {
		got := look(tt.at)
		if n := len(r.requests()); n != tt.requests || !strings.Contains(got.Missing, tt.missing) || (got.Missing == "") != (tt.missing == "") {
			t.Errorf("after %v: %d requests, missing %q, want %d, %q", tt.at, n, got.Missing, tt.requests, tt.missing)
		}
	}
}

// A dump that takes long does not delay a look. It is in a later look.
func TestDumpIsPending(t *testing.T) {
	r := newRig(t, "containerd")
	path, release := filepath.Join(r.root, "d.sock"), make(chan struct{})
	listenUnix(t, path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = io.WriteString(w, oneGoroutine)
	}))
	c := r.config()
	c.Runtime.DebugSocket = path
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	first := n.Look(t.Context(), true).Deep
	if s := first.Stacks; !first.Pending() || s.Missing != "still being read" || !first.Calls.Pending {
		t.Errorf("while it is read: %+v, %+v", s, first.Calls)
	}
	close(release)
	for ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second); ; {
		defer cancel()
		if deep := n.Look(ctx, true).Deep; !deep.Stacks.Pending {
			if deep.Stacks.Total != 1 || deep.Stacks.Missing != "" {
				t.Errorf("then: %+v", deep.Stacks)
			}
			return
		}
	}
}

func TestStacksFile(t *testing.T) {
	pid := os.Getpid()
	of := fmt.Sprintf("tmp/containerd.%d.stacks.log", pid)
	for _, tt := range []struct {
		name, comm string
		files      map[string]time.Duration // their ages
		change     func(t *testing.T, root string)
		want       string
	}{
		{"containerd's", "containerd", map[string]time.Duration{of: time.Minute}, nil, "/" + of},
		{"too old", "containerd", map[string]time.Duration{of: 6 * time.Minute}, nil, ""},
		{"of the future", "containerd", map[string]time.Duration{of: -time.Minute}, nil, ""},
		{"of another process", "containerd", map[string]time.Duration{fmt.Sprintf("tmp/containerd.%d.stacks.log", pid+1): time.Minute}, nil, ""},
		{"of the process before", "containerd", map[string]time.Duration{of: 2 * time.Minute}, func(t *testing.T, root string) {
			writeProcess(t, root, fakeProcess{PID: pid, Comm: "containerd", Args: []string{"containerd"}, Started: testUptime - time.Minute})
		}, ""},
		{"of another user", "containerd", map[string]time.Duration{of: time.Minute}, func(t *testing.T, root string) {
			if os.Getuid() != 0 {
				t.Skip("needs root")
			}
			if err := os.Chown(filepath.Join(root, of), 12345, 0); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"in its own folder", "containerd", map[string]time.Duration{"data/" + filepath.Base(of): time.Minute}, func(t *testing.T, root string) {
			writeFile(t, filepath.Join(root, "etc/containerd/config.toml"), "temp = '/data'")
		}, "/data/" + filepath.Base(of)},
		{"CRI-O's youngest", "crio", map[string]time.Duration{
			"tmp/crio-goroutine-stacks-1.log": 3 * time.Minute, "tmp/crio-goroutine-stacks-2.log": time.Minute, "tmp/crio-goroutine-stacks-3.log": 2 * time.Minute, "tmp/crio-other.log": 0,
		}, nil, "/tmp/crio-goroutine-stacks-2.log"},
		{"none", "crio", nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: pid, Comm: tt.comm, Args: []string{tt.comm}, Started: testUptime - time.Hour})
			writeFile(t, filepath.Join(root, "proc", strconv.Itoa(pid), "comm"), tt.comm+"\n")
			for name, age := range tt.files {
				writeFile(t, filepath.Join(root, name), oneGoroutine)
				at := time.Now().Add(-age)
				if err := os.Chtimes(filepath.Join(root, name), at, at); err != nil {
					t.Fatal(err)
				}
			}
			if tt.change != nil {
				tt.change(t, root)
			}
			got := (&Look{Node: &Node{Config: Config{Root: root, Offline: true}}}).readDump(stacks.Read)
			if found := got.Total == 1; found != (tt.want != "") || found && got.From != tt.want {
				t.Errorf("from %q: %+v, want %q", got.From, got, tt.want)
			}
		})
	}
}

// The file is read if the socket gives nothing.
func TestStacksFileInstead(t *testing.T) {
	r := newRig(t, "containerd")
	name := fmt.Sprintf("/tmp/containerd.%d.stacks.log", os.Getpid())
	writeFile(t, filepath.Join(r.root, name), oneGoroutine)
	if got := r.look(t, r.config()).Stacks; got.From != name || got.Total != 1 || got.At.IsZero() || len(r.requests()) > 0 {
		t.Errorf("got %+v by %q", got, r.requests())
	}
}

// The metrics are found in the configuration, and are asked for after the dump.
func TestRuntimeWords(t *testing.T) {
	r := newRig(t, "containerd")
	listenUnix(t, filepath.Join(r.root, "run/debug.sock"), r.wrap("debug", says(oneGoroutine)))
	metrics := httptest.NewServer(r.wrap("metrics", says(callMetrics(map[string][2]int{"UpdateContainerResources": {4, 3}}))))
	defer metrics.Close()
	address := strings.TrimPrefix(metrics.URL, "http://")
	writeFile(t, filepath.Join(r.root, "etc/containerd/config.toml"), "[debug]\naddress = '/run/debug.sock'\n[metrics]\naddress = '"+address+"'\n")
	got := r.look(t, r.config()).Calls
	if got.From != metrics.URL+"/v1/metrics" || got.Missing != "" || len(got.InFlight) != 1 {
		t.Fatalf("got %+v", got)
	}
	if f := got.InFlight[0]; f.Method != "UpdateContainerResources" || f.Count != 1 || f.For == 0 {
		t.Errorf("in flight %+v", f)
	}
	const after = "metrics GET /v1/metrics"
	if diff := cmp.Diff([]string{"debug GET /debug/pprof/goroutine?debug=2", after}, slices.Compact(slices.Clone(r.requests()))); diff != "" || len(r.requests()) < 3 {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestNoRuntimeMetrics(t *testing.T) {
	for _, tt := range []struct{ comm, config, want string }{
		{"containerd", "", "containerd's configuration names no metrics: set address under [metrics] there, such as 127.0.0.1:1338"},
		{"containerd", "metrics.address = '10.0.0.9:1338'", "containerd's metrics are not on loopback: name them with --runtime-metrics http://10.0.0.9:1338/v1/metrics"},
		{"containerd", "broken", "containerd's configuration cannot be read: /etc/containerd/config.toml: toml: expected '=' after key; name its metrics with --runtime-metrics http://127.0.0.1:1338/v1/metrics"},
		{"crio", "", "CRI-O's metrics do not tell which calls have begun"},
		{"cri-dockerd", "", "it is not known where the runtime has metrics; name them with --runtime-metrics http://127.0.0.1:1338/v1/metrics"},
	} {
		r := newRig(t, tt.comm)
		writeFile(t, filepath.Join(r.root, "etc/containerd/config.toml"), tt.config)
		c := r.config()
		c.Runtime.NoDump = true
		if got := r.look(t, c).Calls; got.Missing != tt.want || got.From != "" || got.InFlight != nil || len(r.requests()) > 0 {
			t.Errorf("%s, %q: %+v by %q, want %q", tt.comm, tt.config, got, r.requests(), tt.want)
		}
	}
}
