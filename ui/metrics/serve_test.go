package metrics

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/ui/lines"
)

// A script is a feed of what is sent to it.
type script chan diagnose.Update

func (s script) Next(ctx context.Context) (diagnose.Update, error) {
	select {
	case u := <-s:
		return u, nil
	case <-ctx.Done():
		return diagnose.Update{}, context.Cause(ctx)
	}
}

// bcrypted is the password plegtop.
const bcrypted = "$2a$04$apNiVuE69BXDR.sGNstgFOwgtoRFMwlTttyDemfoTbA6Gb7PauIDy"

var asCheck = lines.CheckOptions{JSON: true, Node: "worker-17", Source: "cri"}.Answer

// A running server, and what ends it.
type running struct {
	*Server
	feed script
	stop context.CancelFunc
	end  chan error
}

func serve(t *testing.T, c Config) running {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := running{s, make(script), cancel, make(chan error, 1)}
	go func() { r.end <- s.Run(ctx, r.feed, asCheck) }()
	return r
}

// sees waits until an update is served. The second one is not taken before the first is.
func (r running) sees(u *diagnose.Update) {
	r.feed <- *u
	r.feed <- *u
}

// An answer is what came of a question.
type answer struct {
	status     int
	exit, body string
}

func get(t *testing.T, client *http.Client, url string) answer {
	t.Helper()
	came, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer came.Body.Close()
	body, err := io.ReadAll(came.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{came.StatusCode, came.Header.Get(ExitCode), string(body)}
}

func TestServe(t *testing.T) {
	r := serve(t, Config{Version: "test"})
	at := "http://" + r.listener.Addr().String()
	ask := func(path string) answer { return get(t, http.DefaultClient, at+path) }
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/check": 503, "/metrics": 200, "/": 200, "/x": 404} {
		if a := ask(path); a.status != want {
			t.Errorf("before the first update %s is %d, want %d: %s", path, a.status, want, a.body)
		}
	}
	hung := recorded(t, "hung-inspect", 40*time.Second)
	r.sees(hung)
	if a := ask("/readyz"); a.status != http.StatusOK {
		t.Errorf("an ill node is known: %+v", a)
	}
	if body := ask("/metrics").body; !strings.Contains(body, "\nplegtop_headline_severity 2\n") || !strings.Contains(body, "\nprocess_resident_memory_bytes ") {
		t.Errorf("metrics:\n%s", body)
	}
	checked := ask("/check")
	var object struct{ Schema, Node string }
	if err := json.Unmarshal([]byte(checked.body), &object); err != nil || object.Schema != lines.CheckSchema || object.Node != "worker-17" {
		t.Errorf("check: %v: %+v", err, object)
	}
	if checked.status != http.StatusOK || checked.exit != "2" {
		t.Errorf("check of an ill node is %d, with %s %q", checked.status, ExitCode, checked.exit)
	}
	r.sees(recorded(t, "hung-inspect", 4*time.Second))
	if exit := ask("/check").exit; exit != "0" {
		t.Errorf("check of a sound node has %s %q", ExitCode, exit)
	}
	r.stop()
	if err := <-r.end; err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	if c, err := net.Dial("tcp", r.listener.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the end: %v, %v", c, err)
	}
}

// A feed that fails, or that ends with its engine, ends the server.
func TestServeEndsWithItsFeed(t *testing.T) {
	for want, feed := range map[string]failing{"": {engine.ErrStopped}, "serve: damaged": {errors.New("damaged")}} {
		s, err := Open(Config{Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), feed, asCheck); err == nil != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

type failing struct{ err error }

func (f failing) Next(context.Context) (diagnose.Update, error) { return diagnose.Update{}, f.err }

// Whether the engine is at work does not depend on how the node is, and a first list that hangs or
// fails is known as well as one that was answered.
func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, feed := new(Server), make(script)
		go func() { _ = s.follow(t.Context(), feed) }()
		s.alive.Store(new(time.Now()))
		status := func(path string) int {
			w := httptest.NewRecorder()
			s.handler(asCheck).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			return w.Code
		}
		tell := func(listed time.Time, severity diagnose.Severity) {
			feed <- diagnose.Update{Update: engine.Update{Snapshot: &engine.Snapshot{Health: kubelet.Health{ListedAt: listed}}}, Headline: diagnose.Headline{Severity: severity}}
			synctest.Wait()
		}
		for _, tt := range []struct {
			tell           func()
			alive, isReady int
		}{
			{func() {}, 200, 503},
			{func() { tell(time.Time{}, diagnose.Info) }, 200, 503},
			{func() { tell(time.Time{}, diagnose.Critical) }, 200, 200},
			{func() { tell(time.Now(), diagnose.Critical) }, 200, 200},
			{func() { time.Sleep(stuckAfter + 1) }, 503, 200},
			{func() { tell(time.Now(), diagnose.Info) }, 200, 200},
		} {
			tt.tell()
			if alive, isReady := status("/healthz"), status("/readyz"); alive != tt.alive || isReady != tt.isReady {
				t.Errorf("healthz %d, readyz %d, want %d and %d", alive, isReady, tt.alive, tt.isReady)
			}
		}
	})
}

// Whoever may not listen is told what to do.
func TestOpenRefuses(t *testing.T) {
	first := serve(t, Config{})
	missing := filepath.Join(t.TempDir(), "web.yml")
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{Listen: first.listener.Addr().String()}, "the address is in use, perhaps by another plegtop serve: `ss -ltnp`"},
		{Config{Listen: "192.0.2.1:9469"}, "this machine has no such address"},
		{Config{Listen: "9469"}, "want host:port, such as 127.0.0.1:9469"},
		{Config{Listen: "127.0.0.1:0", Web: missing}, "--web.config.file " + missing},
	} {
		if _, err := Open(tt.c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.want)
		}
	}
	if where := first.Where(); !strings.Contains(where, "for this machine alone") {
		t.Error(where)
	}
	all, err := Open(Config{Listen: ":0"})
	if err != nil {
		t.Fatal(err)
	}
	defer all.listener.Close()
	if where := all.Where(); !strings.Contains(where, "everybody who reaches it") || !strings.Contains(where, "--web.config.file") {
		t.Error(where)
	}
}

// TLS and passwords are those of every exporter.
func TestWebConfigFile(t *testing.T) {
	issuer := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	defer issuer.Close()
	certificate, dir := issuer.TLS.Certificates[0], t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"cert.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}),
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"web.yml":  []byte("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nbasic_auth_users: {prometheus: " + bcrypted + "}\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := serve(t, Config{Web: filepath.Join(dir, "web.yml")})
	at := r.listener.Addr().String()
	if a := get(t, issuer.Client(), "https://"+at+"/metrics"); a.status != http.StatusUnauthorized {
		t.Errorf("without a password: %+v", a)
	}
	if a := get(t, issuer.Client(), "https://prometheus:plegtop@"+at+"/metrics"); a.status != http.StatusOK || !strings.Contains(a.body, "plegtop_build_info") {
		t.Errorf("with it: %d", a.status)
	}
	if a := get(t, http.DefaultClient, "http://"+at+"/metrics"); a.status != http.StatusBadRequest {
		t.Errorf("without TLS: %+v", a)
	}
	r.stop()
	if err := <-r.end; err != nil {
		t.Error(err)
	}
}
