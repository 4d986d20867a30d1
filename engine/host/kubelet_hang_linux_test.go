package host

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// A wire is a network of its own, so that servers and clients can be watched in
// a bubble.
type wire struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newWire() *wire { return &wire{make(chan net.Conn), make(chan struct{})} }

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}
func (w *wire) Close() error   { return nil }
func (w *wire) Addr() net.Addr { return &net.UnixAddr{Name: "wire"} }

// dial gives up when the dialer that it stands for would.
func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(limit + grace):
		return nil, context.DeadlineExceeded
	}
}

// overWire makes a kubelet in a bubble, with a server with h at the end of each of its connections.
func overWire(t *testing.T, k Kubelet, h http.Handler) *kubeletNode {
	t.Helper()
	w := newWire()
	server := &http.Server{Handler: h}
	go server.Serve(w)
	t.Cleanup(func() {
		close(w.closed)
		_ = server.Close()
	})
	kubelet, err := newKubelet(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*endpoint{kubelet.ping, kubelet.metrics} {
		e.client.Transport.(*http.Transport).DialContext = w.dial
	}
	return newKubeletNode(kubelet)
}

// As seen on a node with a stopped shim: metrics hang, healthz answers.
func TestKubeletMetricsHang(t *testing.T) {
	tests := []struct {
		name string
		hang func(http.ResponseWriter)
	}{
		{"before the answer", func(http.ResponseWriter) {}},
		{"after its beginning", func(w http.ResponseWriter) {
			fmt.Fprintln(w, "kubelet_a 1")
			_ = http.NewResponseController(w).Flush()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, most atomic.Int32
				k := overWire(t, Kubelet{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/healthz" {
						fmt.Fprint(w, "ok")
						return
					}
					most.Store(max(most.Load(), out.Add(1)))
					defer out.Add(-1)
					tt.hang(w)
					<-r.Context().Done()
				}))
				for range 3 {
					began := time.Now()
					got := k.look(t.Context())
					if took := time.Since(began); took != limit {
						t.Errorf("it took %v, want %v", took, limit)
					}
					if a := got.Metrics; !a.TimedOut || a.OK || !a.Asked || a.Took != limit || a.Err != "took the connection and gave no answer within 2s" {
						t.Errorf("metrics = %+v, want that they do not answer", a)
					}
					if a := got.Ping; !a.OK || a.Text != "ok" || a.Took != 0 {
						t.Errorf("healthz = %+v, want a good answer at once", a)
					}
					time.Sleep(time.Second)
				}
				if most.Load() != 1 || out.Load() != 0 {
					t.Errorf("%d requests at once, %d left, want 1 and 0", most.Load(), out.Load())
				}
			})
		})
	}
}

// If the look was broken off, that says nothing about the kubelet.
func TestKubeletLookBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := overWire(t, Kubelet{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		got := k.look(ctx)
		for _, a := range []evidence.Answer{got.Ping, got.Metrics} {
			if !a.Asked || a.OK || a.TimedOut || a.Err != "the look was broken off" || time.Since(began) != time.Second {
				t.Errorf("answer = %+v after %v, want it broken off after 1s", a, time.Since(began))
			}
		}
		time.Sleep(limit) // the requests end
	})
}

// A stopped kubelet takes the connection, but does not begin the handshake.
func TestKubeletHangsInTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := overWire(t, Kubelet{Metrics: secureMetrics}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		silent := newWire()
		k.metrics.client.Transport.(*http.Transport).DialContext = silent.dial
		go func() {
			conn := <-silent.conns
			_, _ = io.Copy(io.Discard, conn)
		}()
		if a := k.look(t.Context()).Metrics; a.OK || !a.TimedOut || a.Took != limit {
			t.Errorf("metrics = %+v, want that they do not answer", a)
		}
		time.Sleep(2 * grace) // by now the handshake has been given up, or the bubble says what is left
	})
}

func TestKubeletTakesNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := overWire(t, Kubelet{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "kubelet_a 1") }))
		if a := k.look(t.Context()).Metrics; !a.OK {
			t.Errorf("metrics = %+v, want a good answer", a)
		}
		for _, e := range []*endpoint{k.ping, k.metrics} { // from now on nobody is there
			e.client.Transport.(*http.Transport).DialContext = newWire().dial
		}
		if a := k.look(t.Context()).Metrics; a.OK || a.TimedOut || a.Err != "not available: no connection within 2s" {
			t.Errorf("metrics = %+v, want that there is no connection", a)
		}
		time.Sleep(2 * grace)
	})
}

// The version and a look may be asked for at once; that is still one request.
func TestKubeletVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		text := recorded(t, "kubelet-1.37.txt", time.Now())
		k := overWire(t, Kubelet{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				requests.Add(1)
			}
			time.Sleep(time.Second)
			_, _ = w.Write(text)
		}))
		looked := make(chan evidence.Kubelet)
		go func() { looked <- k.look(t.Context()) }()
		synctest.Wait()
		if version, ok := k.KubeletVersion(t.Context()); !ok || version != "v1.37.2" {
			t.Errorf("version = %q, %v, want v1.37.2", version, ok)
		}
		if got := <-looked; got.Version != "v1.37.2" || requests.Load() != 1 {
			t.Errorf("%d requests for metrics, the look's version is %q", requests.Load(), got.Version)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if version, ok := k.KubeletVersion(ctx); ok || version != "" || time.Since(began) != 100*time.Millisecond {
			t.Errorf("version = %q, %v after %v, want none when ctx ends", version, ok, time.Since(began))
		}
		time.Sleep(time.Second) // the server ends
	})
}

// A kubelet that takes the connection counts as silent, even if our process has no processor left to end the
// request in time.
func TestKubeletOfARequestThatIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := overWire(t, Kubelet{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		late := reads.StuckError{Out: limit + grace}
		check := func(err error, took time.Duration, isSilent bool) {
			t.Helper()
			var r evidence.Report
			k.Node.parts[0].missing(&r, err)
			if a := r.Kubelet.Ping; !a.Asked || a.OK || a.TimedOut != isSilent || a.Took != took || a.Err != err.Error() {
				t.Errorf("the answer is %+v, want silent = %v", a, isSilent)
			}
		}
		ask := func() (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			go k.Node.parts[0].read(ctx, &Look{Node: k.Node})
			synctest.Wait()
			return func() { cancel(); synctest.Wait() }
		}
		stop := ask()
		check(late, late.Out, true)
		check(reads.ErrBrokenOff, 0, false)
		stop()
		k.ping.client.Transport.(*http.Transport).DialContext = newWire().dial // nobody is there
		stop = ask()
		check(late, late.Out, false)
		stop()
		time.Sleep(limit + 2*grace) // the dialer gives up
	})
}
