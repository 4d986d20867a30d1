package host

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// serve answers on a loopback port until the test ends.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// serveTLS is serve with a certificate of the authority.
func (a *authority) serveTLS(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = a.serving(t)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// recorded returns a recorded text, in which the kubelet was last seen at the given time.
func recorded(t *testing.T, name string, seen time.Time) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(text, []byte("1.795229011e+09"), fmt.Append(nil, seen.Unix()))
}

// A kubeletNode is a node that has nothing but its kubelet.
type kubeletNode struct {
	*kubelet
	*Node
}

func newKubeletNode(k *kubelet) *kubeletNode {
	all := k.parts()
	return &kubeletNode{k, &Node{parts: []part{all[0], all[len(all)-1]}}} // the ping and the metrics
}

func (n *kubeletNode) look(ctx context.Context) evidence.Kubelet { return n.Look(ctx, false).Kubelet }

// askOnce makes a kubelet with the settings k and asks it both questions.
func askOnce(t *testing.T, k Kubelet) evidence.Kubelet {
	t.Helper()
	kubelet, err := newKubelet(k)
	if err != nil {
		t.Fatal(err)
	}
	return newKubeletNode(kubelet).look(t.Context())
}

func TestKubeletAnswers(t *testing.T) {
	text := recorded(t, "kubelet-1.31.txt", time.Now())
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s was sent credentials", r.URL)
		}
		switch r.URL.Path {
		case "/healthz":
			fmt.Fprint(w, "ok\n")
		case "/metrics":
			_, _ = w.Write(text)
		}
	})
	got := askOnce(t, Kubelet{Healthz: server.URL + "/healthz", Metrics: server.URL + "/metrics"})
	for _, a := range []*evidence.Answer{&got.Ping, &got.Metrics} {
		if a.Took <= 0 {
			t.Errorf("%s took %v", a.URL, a.Took)
		}
		a.Took = 0
	}
	if diff := cmp.Diff(evidence.Answer{Asked: true, OK: true, URL: server.URL + "/healthz", Text: "ok"}, got.Ping); diff != "" {
		t.Errorf("healthz: %s", diff)
	}
	if diff := cmp.Diff(evidence.Answer{Asked: true, OK: true, URL: server.URL + "/metrics"}, got.Metrics); diff != "" {
		t.Errorf("metrics: %s", diff)
	}
	if got.Version != "v1.31.9" || got.Relist.Count != 8924 || got.StillFor != 0 {
		t.Errorf("kubelet = %+v, want what the recorded text says", got)
	}
}

func TestKubeletDoesNotAnswerWell(t *testing.T) {
	status := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
	}
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	tests := []struct {
		name   string
		handle http.HandlerFunc
		want   string // of the metrics
	}{
		{"unauthorized", status(401, "Unauthorized"), "not permitted: " + permissionHint},
		{"forbidden", status(403, "Forbidden (user=x, verb=get)"), "not permitted: " + permissionHint},
		{"failing", status(500, "first\nsecond\n"), "not available: it answers 500 Internal Server Error: first"},
		{"gone", status(404, ""), "not available: it answers 404 Not Found"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "not available: it answers 302 Found: <a href=\"" + elsewhere.URL + "\">Found</a>."},
		{"html", status(200, "<html>\nkubelet</html>"), "not available: not the metrics of a kubelet"},
		{"garbage", status(200, "kubelet_a 1\nkubelet_pleg_discard_events{\x00\xff"), "not available: not the text format of metrics"},
		{"one line without an end", status(200, "kubelet_"+strings.Repeat("a", longestLine)), "not available: not the text format of metrics"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "kubelet_a 1\n")
		}, "not available: unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, tt.handle)
			got := askOnce(t, Kubelet{Healthz: server.URL, Metrics: server.URL})
			if a := got.Metrics; a.Err != tt.want || a.OK || a.TimedOut || a.Text != "" || a.Denied != strings.HasPrefix(tt.want, "not permitted") {
				t.Errorf("metrics = %+v, want the error %q", a, tt.want)
			}
			got.Ping, got.Metrics = evidence.Answer{}, evidence.Answer{}
			if diff := cmp.Diff(evidence.Kubelet{}, got); diff != "" {
				t.Errorf("it says something all the same: %s", diff)
			}
		})
	}
}

func TestKubeletAnswersTooMuch(t *testing.T) {
	const most = 1 << 20
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		line := []byte("# " + strings.Repeat("x", 1<<16) + "\n")
		for n := 0; n <= most; n += len(line) {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	k, err := newKubelet(Kubelet{Healthz: server.URL, Metrics: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	k.metrics.most = most
	got := newKubeletNode(k).look(t.Context())
	if a := got.Metrics; a.Err != "not available: the answer is longer than 1 MiB" || a.OK || got.Version != "" {
		t.Errorf("metrics = %+v", a)
	}
	if a := got.Ping; !a.OK || len(a.Text) != mostAnswer { // the beginning of it will do
		t.Errorf("healthz is OK: %v, with %d bytes", a.OK, len(a.Text))
	}
}

// If an answer breaks off, it says nothing about the kubelet, and neither does its beginning.
func TestKubeletAnswerBreaksOff(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "ok")
	})
	if a := askOnce(t, Kubelet{Healthz: server.URL + "/healthz", Metrics: server.URL + "/metrics"}).Ping; a.OK || a.Text != "" || !strings.Contains(a.Err, "unexpected EOF") {
		t.Errorf("the answer is %+v, want an error without text", a)
	}
}

// The text of a failing healthz is kept: it names the check that fails.
func TestKubeletHealthzFails(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintln(w, "[+]ping ok\n[-]syncloop failed: reason withheld"+strings.Repeat(".", mostAnswer))
	})
	got := askOnce(t, Kubelet{Healthz: server.URL, Metrics: server.URL}).Ping
	if got.OK || !strings.HasPrefix(got.Text, "[+]ping ok\n[-]syncloop failed") || len(got.Text) != mostAnswer {
		t.Errorf("healthz = %+v, want the beginning of its text", got)
	}
	if want := "not available: it answers 500 Internal Server Error: [+]ping ok"; got.Err != want {
		t.Errorf("error = %q, want %q", got.Err, want)
	}
}

// The environment's proxy is only for requests to other machines.
func TestKubeletIsAskedWithoutProxy(t *testing.T) {
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	k, err := newKubelet(Kubelet{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*endpoint{k.ping, k.metrics} {
		if e.client.Transport.(*http.Transport).Proxy != nil {
			t.Errorf("%s is asked through a proxy", e.url)
		}
	}
}

// No connection stays open from look to look.
func TestKubeletConnectionsAreClosed(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !r.Close {
			t.Error("the connection is to be kept")
		}
		fmt.Fprint(w, "ok")
	})
	askOnce(t, Kubelet{Healthz: server.URL, Metrics: server.URL})
}

func TestRelistWatch(t *testing.T) {
	type look struct {
		count uint64
		has   bool
		after time.Duration
		want  time.Duration
	}
	tests := []struct {
		name  string
		looks []look
	}{
		{"grows", []look{{5, true, 0, 0}, {6, true, 5 * time.Second, 0}, {7, true, 5 * time.Second, 0}}},
		{"stands", []look{{5, true, 0, 0}, {5, true, 5 * time.Second, 5 * time.Second}, {5, true, 7 * time.Second, 12 * time.Second}, {6, true, 5 * time.Second, 0}, {6, true, time.Second, time.Second}}},
		{"never began", []look{{0, true, 0, 0}, {0, true, 5 * time.Second, 5 * time.Second}}},
		{"restarted", []look{{500, true, 0, 0}, {500, true, 5 * time.Second, 5 * time.Second}, {2, true, 5 * time.Second, 0}}},
		{"does not count for a while", []look{{5, true, 0, 0}, {0, false, 5 * time.Second, 0}, {5, true, 5 * time.Second, 0}}},
		{"does not count", []look{{0, false, 0, 0}, {0, false, 5 * time.Second, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w stillWatch
			now := time.Unix(1795229011, 0)
			for i, l := range tt.looks {
				now = now.Add(l.after)
				if got := w.look(l.count, l.has, now); got != l.want {
					t.Errorf("look %d: still for %v, want %v", i, got, l.want)
				}
			}
		})
	}
}

// The ping says ok while the sync loop stands still: only the port of the metrics shows that.
func TestKubeletIsAskedWhereItTellsTheTruth(t *testing.T) {
	asked := func(k Kubelet, url string) {
		t.Helper()
		kubelet, err := newKubelet(k)
		if err != nil {
			t.Fatal(err)
		}
		if got := kubelet.health.url + " " + kubelet.syncLoop.url; got != url+"/healthz "+url+"/healthz/syncloop" {
			t.Errorf("it is asked at %s, want below %s", got, url)
		}
	}
	asked(Kubelet{}, "http://127.0.0.1:10255")
	asked(Kubelet{TokenFile: fileWith(t, "token", []byte("x")), CA: newAuthority(t).file}, "https://127.0.0.1:10250")

	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ping":
			fmt.Fprint(w, "ok")
		case "/healthz":
			http.Error(w, "[+]ping ok\n[-]syncloop failed: reason withheld", http.StatusInternalServerError)
		case "/healthz/syncloop":
			http.Error(w, "internal server error: sync Loop took longer than expected", http.StatusInternalServerError)
		case "/metrics":
			fmt.Fprintln(w, relistDuration+"_count 1")
		}
	})
	kubelet, err := newKubelet(Kubelet{Healthz: server.URL + "/ping", Metrics: server.URL + "/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{parts: kubelet.parts()}
	got := n.Look(t.Context(), false).Kubelet
	if !got.Ping.OK || got.Health.OK || got.SyncLoop.OK || !got.Metrics.OK || !strings.Contains(got.SyncLoop.Text, "longer than expected") {
		t.Errorf("kubelet = %+v", got)
	}
	if age := time.Since(got.ReadAt); age <= 0 || age > time.Minute {
		t.Errorf("it was read at %v", got.ReadAt)
	}
}

func TestMeanWatch(t *testing.T) {
	var w meanWatch
	for i, look := range []struct {
		count     uint64
		sum, want time.Duration
	}{
		{0, 0, 0},
		{1000, 1003 * time.Second, 1003 * time.Millisecond},
		{1005, 1013 * time.Second, 2 * time.Second},
		{1005, 1013 * time.Second, 2 * time.Second}, // nothing came
		{4, 6 * time.Second, 1500 * time.Millisecond},
	} {
		timing := evidence.Timing{Count: look.count, Sum: look.sum}
		if mean := w.look(timing); mean != look.want {
			t.Errorf("look %d: mean %v, want %v", i, mean, look.want)
		}
	}
}
