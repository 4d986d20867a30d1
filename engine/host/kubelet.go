package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const permissionHint = "give --kubelet-cert and --kubelet-key, or --kubelet-token-file, of one who may get nodes/metrics"

// kubeletMetrics is the name of a part.
const kubeletMetrics = "kubelet metrics"

// A kubelet is the node's kubelet, to be asked again and again.
type kubelet struct{ healthz, metrics *endpoint }

func newKubelet(k Kubelet) (*kubelet, error) {
	k = k.withDefaults()
	healthz, err := parseURL("--kubelet-healthz", k.Healthz, defaultHealthz)
	if err != nil {
		return nil, err
	}
	metrics, err := parseURL("--kubelet-metrics", k.Metrics, secureMetrics)
	if err != nil {
		return nil, err
	}
	secure, err := k.secure(metrics)
	if err != nil {
		return nil, err
	}
	// Healthz gets the trust, but nothing that says who asks.
	open := &tls.Config{RootCAs: secure.RootCAs, InsecureSkipVerify: loopback(healthz) && k.CA == ""}
	nobody := func() (string, error) { return "", nil }
	return &kubelet{
		healthz: newEndpoint(healthz, open, nobody, ""),
		metrics: newEndpoint(metrics, secure, k.token, permissionHint),
	}, nil
}

// secure checks all that is said about credentials and returns how to use them.
func (k Kubelet) secure(metrics *url.URL) (*tls.Config, error) {
	if err := k.checkMetrics(metrics); err != nil {
		return nil, err
	}
	if _, err := k.token(); err != nil {
		return nil, err
	}
	return k.tlsConfig(metrics)
}

// healthzPart is the part that tells whether the kubelet takes itself for well.
func (k *kubelet) healthzPart() part {
	return part{
		name: "kubelet healthz",
		read: func(ctx context.Context) fill {
			var text string
			a := k.healthz.ask(ctx, func(r io.Reader) (err error) {
				text, err = firstText(r)
				return err
			})
			if a.OK {
				a.Text = text
			}
			return func(r *evidence.Report) { r.Kubelet.Healthz = a }
		},
		missing: func(r *evidence.Report, err error) { r.Kubelet.Healthz = k.healthz.noAnswer(err) },
	}
}

// metricsPart is the part that tells what the kubelet measures.
func (k *kubelet) metricsPart() part {
	var relists relistWatch
	return part{
		name: kubeletMetrics,
		read: func(ctx context.Context) fill {
			var said evidence.Kubelet
			var counts bool
			a := k.metrics.ask(ctx, func(r io.Reader) (err error) {
				said, counts, err = readMetrics(r, time.Now())
				return err
			})
			a.Text = ""
			if a.OK {
				said.StillFor = relists.look(said.Relist.Count, counts, time.Now())
			}
			said.Metrics = a
			return func(r *evidence.Report) {
				healthz := r.Kubelet.Healthz
				r.Kubelet = said
				r.Kubelet.Healthz = healthz
			}
		},
		missing: func(r *evidence.Report, err error) { r.Kubelet.Metrics = k.metrics.noAnswer(err) },
	}
}

// A relistWatch watches for how long the kubelet has ended no relist. It belongs
// to one goroutine at a time.
type relistWatch struct {
	known bool
	count uint64
	since time.Time // of the first look that saw this count
}

// look returns for how long the count has been what it is; 0 for a kubelet that
// does not count. One that began anew has another count.
func (w *relistWatch) look(count uint64, counts bool, now time.Time) time.Duration {
	if !counts {
		*w = relistWatch{}
		return 0
	}
	if !w.known || count != w.count {
		*w = relistWatch{known: true, count: count, since: now}
	}
	return now.Sub(w.since)
}

const (
	maxMetrics = 8 << 20 // bytes; a big node's kubelet has about 5 MiB
	maxText    = 4 << 10 // of an answer for people
)

// An endpoint is one of the kubelet's that is asked again and again, each time
// over a connection of its own. Only one request may be out at a time.
type endpoint struct {
	url       string
	client    *http.Client
	token     func() (string, error)
	hint      string      // what to do when it is not permitted
	most      int64       // bytes of an answer
	connected atomic.Bool // the last request has a connection
}

func newEndpoint(u *url.URL, t *tls.Config, token func() (string, error), hint string) *endpoint {
	return &endpoint{url: u.String(), token: token, hint: hint, most: maxMetrics, client: &http.Client{
		Transport:     newTransport(t),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// newTransport returns one without the environment's proxy, since what is asked
// is on this machine or was named in full. The end of a request does not end the
// connection that is still being made for it: hence the limits of their own.
func newTransport(t *tls.Config) *http.Transport {
	return &http.Transport{
		TLSClientConfig:        t,
		DialContext:            (&net.Dialer{Timeout: limit + grace}).DialContext,
		TLSHandshakeTimeout:    limit + grace,
		DisableKeepAlives:      true,
		DisableCompression:     true, // nobody on the loopback wins by it
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// ask puts the question and has read take in the answer if it is a good one.
func (e *endpoint) ask(ctx context.Context, read func(io.Reader) error) evidence.Answer {
	began := time.Now()
	e.connected.Store(false)
	a := evidence.Answer{Asked: true, URL: e.url}
	err := e.exchange(ctx, &a, read)
	a.Took = time.Since(began)
	a.OK = err == nil
	if err != nil {
		a.Err = e.explain(err)
		a.TimedOut = errors.Is(err, context.DeadlineExceeded) && e.connected.Load()
	}
	return a
}

func (e *endpoint) exchange(ctx context.Context, a *evidence.Answer, read func(io.Reader) error) error {
	request, err := e.request(ctx)
	if err != nil {
		return err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // what it held was read, or does not matter
	if response.StatusCode != http.StatusOK {
		a.Text, _ = firstText(response.Body) // a part of it is better than none
		return e.refusal(response.StatusCode, a.Text)
	}
	return read(http.MaxBytesReader(nil, response.Body, e.most))
}

func (e *endpoint) request(ctx context.Context) (*http.Request, error) {
	token, err := e.token()
	if err != nil {
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { e.connected.Store(true) },
		GotConn:           func(httptrace.GotConnInfo) { e.connected.Store(true) },
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4, */*;q=0.1")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

// noAnswer returns the answer of one that has not come back, although its time is
// over.
func (e *endpoint) noAnswer(err error) evidence.Answer {
	a := evidence.Answer{Asked: true, URL: e.url, Err: err.Error()}
	if stuck, ok := errors.AsType[stuckError](err); ok {
		a.TimedOut, a.Took = e.connected.Load(), stuck.out
	}
	return a
}

// explain says why there is no good answer, and where it is known what to do.
func (e *endpoint) explain(err error) string {
	if errors.Is(err, errNotPermitted) {
		return "not permitted: " + e.hint
	}
	if alert, ok := refusedCertificate(err); ok && e.hint != "" {
		return "not permitted (" + alert + "): " + e.hint
	}
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Sprintf("not available: the answer is longer than %d MiB", tooLong.Limit>>20)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && e.connected.Load():
		return fmt.Sprintf("took the connection and gave no answer within %v", limit)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("not available: no connection within %v", limit)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "not available: connection refused"
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL, which stands beside it
	}
	return "not available: " + err.Error()
}

// refusedCertificate returns the alert with which the other side ended the
// handshake for want of a certificate that it believes. The alerts' type is not
// exported, only their text.
func refusedCertificate(err error) (alert string, ok bool) {
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Op != "remote error" || !strings.Contains(remote.Err.Error(), "certificate") {
		return "", false
	}
	return remote.Err.Error(), true
}

var errNotPermitted = errors.New("not permitted")

// refusal returns what an answer with another status than 200 says.
func (e *endpoint) refusal(status int, text string) error {
	if e.hint != "" && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		return errNotPermitted
	}
	first, _, _ := strings.Cut(text, "\n")
	return errors.New(strings.TrimSuffix(fmt.Sprintf("it answers %d %s: %s", status, http.StatusText(status), first), ": "))
}

// firstText returns the beginning of a text for people, as far as it comes.
func firstText(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxText))
	return strings.TrimSpace(string(text)), err
}
