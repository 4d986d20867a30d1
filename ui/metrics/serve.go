// Package metrics is the serve view: what an engine sees, over HTTP, as metrics for Prometheus and
// as the JSON of check. An answer is made of the newest update that the feed gave: whoever asks,
// and however often, nobody else is asked for it.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
)

// ExitCode is the header of /check that has what check would end with.
const ExitCode = "Plegtop-Exit-Code"

// A Config says what a [Server] serves, and where.
type Config struct {
	Listen  string // an address, such as 127.0.0.1:9469
	Web     string // the file with TLS and users, as exporter-toolkit reads it; empty for neither
	Version string // of plegtop
}

// A Server listens. Its [Server.Run] must be called once, and frees the address.
type Server struct {
	listener net.Listener
	config   Config
	newest   atomic.Pointer[diagnose.Update] // nil until there is one
	alive    atomic.Pointer[time.Time]       // when that came, or the server began
}

// Open takes the address, so that what is wrong with that, or with the file, is known before
// anything is started.
func Open(c Config) (*Server, error) {
	if err := web.Validate(c.Web); err != nil {
		return nil, fmt.Errorf("--web.config.file %s: %w (docs/serve.md has an example)", c.Web, err)
	}
	l, err := net.Listen("tcp", c.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: the address is in use, perhaps by another plegtop serve: `ss -ltnp` shows by whom; choose another port", c.Listen)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("--listen %s: this machine has no such address: `ip -br address` shows those it has; without a host, as in :9469, it is all of them", c.Listen)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--listen %s: a port below 1024 is for root alone: choose a higher one", c.Listen)
	case err != nil:
		return nil, fmt.Errorf("--listen %s: %w: want host:port, such as 127.0.0.1:9469, or :9469 for all addresses", c.Listen, err)
	}
	return &Server{listener: l, config: c}, nil
}

// Where says for a person where metrics are, and who can read them.
func (s *Server) Where() string {
	at, _ := s.listener.Addr().(*net.TCPAddr) // as Open listens
	switch {
	case at.IP.IsLoopback():
		return fmt.Sprintf("metrics are at http://%v/metrics, for this machine alone; --listen :%d is for others, too", at, at.Port)
	case s.config.Web == "":
		return fmt.Sprintf("metrics are at port %d, for everybody who reaches it: names of pods are in /check; --web.config.file adds TLS and passwords", at.Port)
	}
	return fmt.Sprintf("metrics are at port %d, as %s says", at.Port, s.config.Web)
}

// A Checker returns what check writes of an update as JSON, and the exit code of it. It is called
// by several goroutines.
type Checker func(diagnose.Update) (answer []byte, code int)

const (
	lastAnswer = time.Second      // how long the end waits for answers that are being written
	mostAtOnce = 40               // scrapes; more are told to come later
	slowest    = 30 * time.Second // reader of an answer
)

// Run serves what feed delivers until that ends, which is no error, and then listens no more.
// When ctx ends, which is to end the feed as well, it returns within a second.
func (s *Server) Run(ctx context.Context, feed diagnose.Updates, check Checker) error {
	server := &http.Server{Handler: s.handler(check), ReadTimeout: slowest, WriteTimeout: slowest, MaxHeaderBytes: 1 << 16, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	s.alive.Store(new(time.Now()))
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	guard.Go(func() {
		flags := &web.FlagConfig{WebConfigFile: &s.config.Web}
		err := web.Serve(s.listener, server, flags, slog.New(slog.DiscardHandler))
		cancel()
		ended <- err
	})
	err := s.follow(ctx, feed)
	last, over := context.WithTimeout(context.WithoutCancel(ctx), lastAnswer)
	defer over()
	if server.Shutdown(last) != nil {
		_ = server.Close() // whoever still reads has had time enough
	}
	_ = s.listener.Close() // if it was never served
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) && !errors.Is(served, net.ErrClosed) {
		err = errors.Join(err, fmt.Errorf("serve: %w", served))
	}
	return err
}

// follow keeps the newest update.
func (s *Server) follow(ctx context.Context, feed diagnose.Updates) error {
	for ctx.Err() == nil {
		u, err := feed.Next(ctx)
		switch {
		case err == nil:
			s.newest.Store(&u)
			s.alive.Store(new(time.Now()))
		case errors.Is(err, engine.ErrStopped):
			return nil
		case ctx.Err() == nil:
			return fmt.Errorf("serve: %w", err)
		}
	}
	return nil
}

// handler returns what answers.
func (s *Server) handler(check Checker) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(s.newest.Load, s.config.Version), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: mostAtOnce, EnableOpenMetrics: true})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /check", s.check(check))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(links))
	})
	return mux
}

// links is the page of /.
const links = `<!DOCTYPE html><title>plegtop</title><h1>plegtop</h1><ul>
<li><a href="metrics">metrics</a> for Prometheus
<li><a href="check">check</a>: what is wrong, as JSON
<li><a href="healthz">healthz</a>: plegtop itself is at work
<li><a href="readyz">readyz</a>: it knows how the node is
</ul>
`

// stuckAfter is how long a machine that has too much to do may keep an engine, which tells
// something each second whatever the runtime does, from telling anything.
const stuckAfter = 30 * time.Second

// healthz tells whether the engine is at work, which says nothing of the node.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if last := s.alive.Load(); last == nil || time.Since(*last) > stuckAfter {
		http.Error(w, fmt.Sprintf("the engine has told nothing for %v", stuckAfter), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// readyz tells whether it is known how the node is, which need not be well.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if u := s.newest.Load(); u == nil || u.Snapshot.Health.ListedAt.IsZero() && u.Headline.Severity == diagnose.Info {
		http.Error(w, "waiting for the first list", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// check answers with the JSON of check. That the node is ill is no failure of the answer.
func (s *Server) check(check Checker) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		u := s.newest.Load()
		if u == nil {
			http.Error(w, "nothing was seen yet", http.StatusServiceUnavailable)
			return
		}
		answer, code := check(*u)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(ExitCode, strconv.Itoa(code))
		_, _ = w.Write(answer) // whoever has gone is told nothing
	}
}
