package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A standIn is the API server of a cluster behind `kubectl proxy`, as far as it is asked.
type standIn struct {
	pods   []string          // their nodes: pod i is plegtop-i
	nodes  []string          // nil: they may not be listed
	check  func(i int) reply // what pod i says
	phase  map[int]string    // of pods that are not Running
	unread string            // in each pod
	status func(i int) int   // of the pod's own answer; nil for 200

	mu          sync.Mutex
	lists       []string // what was listed
	asked       []int    // how often each pod was
	now, atOnce int
}

// A reply is an answer to /check.
type reply struct {
	code int // of the API server's own, with body as its message; 0 for the pod's
	body string
	hang bool   // until the client gives up
	wait func() // before it
	to   string // where it leads; empty for nowhere
}

var checkPath = regexp.MustCompile(`^/api/v1/namespaces/kube-system/pods/plegtop-(\d+):9469/proxy/check$`)

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host != "localhost" || r.Method != http.MethodGet { // kubectl proxy refuses all others
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if of := checkPath.FindStringSubmatch(r.URL.Path); of != nil {
		i, _ := strconv.Atoi(of[1])
		s.answer(w, r, i)
		return
	}
	s.mu.Lock()
	s.lists = append(s.lists, r.URL.RequestURI())
	s.mu.Unlock()
	q := r.URL.Query()
	switch r.URL.Path {
	case "/api/v1/pods", "/api/v1/namespaces/kube-system/pods":
		if q.Get("labelSelector") != Label {
			refuse(w, http.StatusBadRequest, "no label")
			return
		}
		s.list(w, r, len(s.pods), func(i int) any { return s.pod(i) })
	case "/api/v1/nodes":
		if s.nodes == nil {
			refuse(w, http.StatusForbidden, `nodes is forbidden: User "somebody" cannot list resource "nodes"`)
			return
		}
		s.list(w, r, len(s.nodes), func(i int) any { return object{"metadata": object{"name": s.nodes[i]}} })
	default:
		refuse(w, http.StatusNotFound, "the server could not find the requested resource")
	}
}

type object = map[string]any

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(object{"kind": "Status", "code": code, "message": message})
}

// pod returns pod i, with some of what nobody reads.
func (s *standIn) pod(i int) object {
	phase := s.phase[i]
	if phase == "" {
		phase = "Running"
	}
	state := object{"running": object{}}
	if phase == "Crashed" { // it is Running meanwhile
		phase, state = "Running", object{"terminated": object{"reason": "Error", "exitCode": 3}}
	}
	return object{
		"metadata": object{"namespace": "kube-system", "name": fmt.Sprintf("plegtop-%d", i), "managedFields": []object{{"manager": "kubelet", "fieldsV1": s.unread}}},
		"spec":     object{"nodeName": s.pods[i], "containers": []object{{"name": "plegtop", "image": "plegtop"}}},
		"status":   object{"phase": phase, "containerStatuses": []object{{"name": "plegtop", "state": state}}},
	}
}

// list writes one page of a list.
func (s *standIn) list(w http.ResponseWriter, r *http.Request, n int, item func(i int) any) {
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	node := r.URL.Query().Get("fieldSelector")
	l := object{"items": []any{}, "metadata": object{}}
	to := min(n, from+limit)
	items := []any{}
	for i := from; i < to; i++ {
		if node == "" || node == "spec.nodeName="+s.pods[i] {
			items = append(items, item(i))
		}
	}
	if to < n {
		l["metadata"] = object{"continue": strconv.Itoa(to)}
	}
	l["items"] = items
	json.NewEncoder(w).Encode(l)
}

// answer answers for pod i.
func (s *standIn) answer(w http.ResponseWriter, r *http.Request, i int) {
	s.mu.Lock()
	if s.asked == nil {
		s.asked = make([]int, len(s.pods))
	}
	s.asked[i]++
	s.now++
	s.atOnce = max(s.atOnce, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	is := s.check(i)
	if is.wait != nil {
		is.wait()
	}
	if is.hang {
		<-r.Context().Done()
		return
	}
	if is.code != 0 {
		refuse(w, is.code, is.body)
		return
	}
	if is.to != "" {
		http.Redirect(w, r, is.to, http.StatusFound)
		return
	}
	if s.status != nil {
		w.WriteHeader(s.status(i))
	}
	fmt.Fprint(w, is.body)
}

// serve serves the API on a socket until the test ends, and returns a fleet that asks it.
func (s *standIn) serve(t testing.TB, around func(http.RoundTripper) http.RoundTripper) *fleet {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "api")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	client := (&proxy{socket: socket}).client()
	t.Cleanup(client.CloseIdleConnections)
	if around != nil {
		client.Transport = around(client.Transport)
	}
	return &fleet{api: api{client}, patience: time.Hour} // only the test says who has none
}

// inBubble asks the API in the goroutine that asks, so that time may be counted.
type inBubble struct{ http.Handler }

func (b inBubble) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	if err := context.Cause(r.Context()); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// said returns an answer that plegtop gave once.
func said(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "check", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// named returns n names of nodes.
func named(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("node-%d", i)
	}
	return all
}
