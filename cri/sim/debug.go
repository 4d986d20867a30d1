package sim

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
)

// Where containerd is configured, and where its debug socket is by that.
const (
	configPath = "/etc/containerd/config.toml"
	debugPath  = "/run/containerd/debug.sock"
)

// A debugger is what the runtime serves beside the CRI, read only: a dump of its goroutines
// on a socket below the node's folder, and metrics on a port of the loopback interface.
type debugger struct {
	http   http.Server
	config string // of containerd, which says where both are
}

// newDebugger begins to serve. What cannot be listened on, such as a path that is too
// long for a socket, is not in the configuration.
func (s *Server) newDebugger() *debugger {
	d := &debugger{config: "version = 3\n"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/goroutine", s.serveDump)
	mux.HandleFunc("GET /v1/metrics", s.serveMetrics)
	d.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer guard.Catch()
		if s.admitHTTP(w, r) {
			mux.ServeHTTP(w, r)
		}
	})
	path := s.root + debugPath
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil && len(path) <= longestPath {
		d.listen("debug", "unix", path, debugPath)
	}
	d.listen("metrics", "tcp", "127.0.0.1:0", "")
	return d
}

// listen adds a listener; the configuration has it by what the node calls its address.
func (d *debugger) listen(section, network, address, name string) {
	l, err := net.Listen(network, address)
	if err != nil {
		return
	}
	if name == "" {
		name = l.Addr().String()
	}
	d.config += fmt.Sprintf("[%s]\n  address = %q\n", section, name)
	guard.Go(func() { _ = d.http.Serve(l) }) // ends with close
}

// close ends it. Its socket goes with the folder.
func (d *debugger) close() {
	if d != nil {
		_ = d.http.Close()
	}
}

// longestURI bounds what is remembered of a request: anybody on the machine can make one.
const longestURI = 200

// admitHTTP notes a request and reports whether there is a runtime to answer it. Where
// that is gone it cuts the connection.
func (s *Server) admitHTTP(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	s.requests = remember(s.requests, fmt.Sprintf("%.10s %s %.*s", r.Method, address.Network(), longestURI, r.RequestURI))
	away := s.scene.away
	s.mu.Unlock()
	if away {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
	return !away
}

// Requests returns the last 10,000 that were asked for beside the CRI, oldest first, each as
// "GET unix /path": with its method, its network and the first 200 characters of its URI.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return newest(s.requests)
}

// serveDump answers with what the goroutines do now.
func (s *Server) serveDump(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("debug") != "2" {
		http.Error(w, "only debug=2", http.StatusNotFound)
		return
	}
	s.mu.Lock()
	text := s.scene.goroutines(s.held)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text))
}

// serveMetrics answers with how many calls have begun and ended.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	begun, open := maps.Clone(s.begun), map[string]int{}
	others := s.scene.others()
	for _, c := range others {
		begun[c.Method]++
	}
	for _, c := range slices.Concat(others, s.held) {
		open[c.Method]++
	}
	s.mu.Unlock()
	var b strings.Builder
	for _, method := range slices.Sorted(maps.Keys(begun)) {
		n := begun[method]
		labels := fmt.Sprintf("grpc_method=%q,grpc_service=\"runtime.v1.RuntimeService\",grpc_type=\"unary\"", method)
		fmt.Fprintf(&b, "grpc_server_handled_total{grpc_code=\"OK\",%s} %d\n", labels, n-open[method])
		fmt.Fprintf(&b, "grpc_server_started_total{%s} %d\n", labels, n)
	}
	_, _ = w.Write([]byte(b.String()))
}

// frames has what the stacks of containerd 2.4.2 are made of: parts, each under its name,
// with a function, its arguments and where it stands in a line.
//
//go:embed goroutines.txt
var frames string

// part returns the lines of one part of frames.
func part(name string) string {
	_, rest, _ := strings.Cut(frames, "\n# "+name+"\n")
	lines, _, _ := strings.Cut(rest, "\n#")
	return strings.TrimSuffix(lines, "\n")
}

// A dump is text in the form in which Go writes the stacks of all goroutines.
type dump struct {
	strings.Builder
	now time.Time
	n   int // the last goroutine's number
}

// add writes one goroutine that has waited since then. In the parts that it stands in,
// words in capitals stand for what is given in pairs.
func (d *dump) add(state string, since time.Time, parts []string, words ...string) {
	d.n += 7
	if waited := d.now.Sub(since); waited >= time.Minute {
		state += fmt.Sprintf(", %d minutes", int(waited.Minutes()))
	}
	fmt.Fprintf(d, "goroutine %d [%s]:\n", d.n, state)
	replace := strings.NewReplacer(append(words, "CTX", address("context", fmt.Sprint(d.n)), "PARENT", fmt.Sprint(d.n-3))...)
	for _, name := range parts {
		for line := range strings.SplitSeq(part(name), "\n") {
			function, place, _ := strings.Cut(line, " @")
			fmt.Fprintf(d, "%s\n\t/go/src/%s\n", replace.Replace(function), place)
		}
	}
	d.WriteByte('\n')
}

// address returns where in memory something of a container is: the same for all who
// have it in their hands.
func address(what, of string) string {
	h := fnv.New32a()
	h.Write([]byte(what + of))
	return fmt.Sprintf("0xc%09x", uint64(h.Sum32())<<3)
}

// goroutines returns a dump of the runtime's goroutines, of which each that answers a call
// waits with it. Held are the calls that wait beside those of other clients.
func (sn *scene) goroutines(held []Call) string {
	d := &dump{now: sn.clock, n: 200}
	d.add("running", sn.clock, []string{"dump"})
	for _, c := range sn.containers {
		if c.runs() {
			d.add("select", time.Unix(0, c.status.StartedAt), []string{"task", "begun by Wait"}, "VERB", "Wait")
		}
	}
	for _, c := range slices.Concat(sn.others(), held) {
		d.answering(sn, c)
	}
	return d.String()
}

// answering writes the goroutine that answers a call which does not end.
func (d *dump) answering(sn *scene, c Call) {
	state, parts, about := "chan receive", []string{"waits"}, c.ID
	for _, e := range sn.helpers {
		switch {
		case e.call == c.Method && c.Method == "RunPodSandbox":
			state, parts = "syscall", []string{"plugin"}
		case e.call == c.Method:
			state, parts = "select", []string{"task", e.call}
		case e.locks && (c.Method == "ListContainers" || c.Method == "ContainerStatus" && c.ID == e.of.status.Id):
			state, parts, about = "sync.RWMutex.RLock", []string{"lock", c.Method}, e.of.status.Id
		default:
			continue
		}
		break
	}
	d.add(state, c.At, append(parts, "handler"), "METHOD", c.Method, "VERB", verbs[c.Method],
		"LOCK", address("status", about), "CONTAINER", address("metadata", about))
}

// verbs are what the shims are asked for by the calls that helpers hold up.
var verbs = map[string]string{"UpdateContainerResources": "Update", "StopContainer": "Kill", "StartContainer": "Create"}
