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

	promconfig "github.com/prometheus/common/config"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	maxMetrics = 8 << 20 // bytes; a big node's kubelet has about 5 MiB
	maxText    = 4 << 10 // of an answer for people
)

// An endpoint is one of the kubelet's or the runtime's that is asked again and again, each time
// over a connection of its own. Only one request may be out at a time.
type endpoint struct {
	url       string
	client    *http.Client
	hint      string // what to do when it is not permitted
	most      int64  // bytes of an answer
	within    time.Duration
	connected atomic.Bool // the last request has a connection
}

// newEndpoint returns one that is sent the token of a file, read again each time; none if
// that is "".
func newEndpoint(u *url.URL, t *tls.Config, tokenFile, hint string) *endpoint {
	var transport http.RoundTripper = newTransport(t)
	if tokenFile != "" {
		transport = promconfig.NewAuthorizationCredentialsRoundTripper("Bearer", promconfig.NewFileSecret(tokenFile), transport)
	}
	return &endpoint{url: u.String(), hint: hint, most: maxMetrics, within: limit, client: &http.Client{
		Transport:     transport,
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
		a.Err, a.Denied = e.explain(err)
		a.TimedOut = errors.Is(err, context.DeadlineExceeded) && e.connected.Load()
		a.Refused = errors.Is(err, syscall.ECONNREFUSED)
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
		text, _ := firstText(response.Body) // a part of it is better than none
		if response.StatusCode >= http.StatusInternalServerError {
			a.Text = text // else it speaks of the question, not of the kubelet
		}
		return e.refusal(response.StatusCode, text)
	}
	return read(http.MaxBytesReader(nil, response.Body, e.most))
}

func (e *endpoint) request(ctx context.Context) (*http.Request, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { e.connected.Store(true) },
		GotConn:           func(httptrace.GotConnInfo) { e.connected.Store(true) },
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4, */*;q=0.1")
	return request, nil
}

// noAnswer returns the answer of one that has not come back, although its time is
// over.
func (e *endpoint) noAnswer(err error) evidence.Answer {
	a := evidence.Answer{Asked: true, URL: e.url, Err: err.Error()}
	if stuck, ok := errors.AsType[reads.StuckError](err); ok {
		a.TimedOut, a.Took = e.connected.Load(), stuck.Out
	}
	return a
}

// explain says why there is no good answer, with what to do where it is known, and
// whether somebody was there who lets us not ask.
func (e *endpoint) explain(err error) (why string, denied bool) {
	if errors.Is(err, errNotPermitted) {
		return "not permitted: " + e.hint, true
	}
	if alert, ok := refusedCertificate(err); ok && e.hint != "" {
		return "not permitted (" + alert + "): " + e.hint, true
	}
	return e.withoutAnswer(err), false
}

// unavailable begins an error that says that there is no answer.
const unavailable = "not available: "

// missing returns why an answer gave nothing, for a [evidence.Source], of which everybody
// says that it is not available.
func missing(a evidence.Answer) string { return strings.TrimPrefix(a.Err, unavailable) }

func (e *endpoint) withoutAnswer(err error) string {
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Sprintf(unavailable+"the answer is longer than %d MiB", tooLong.Limit>>20)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && e.connected.Load():
		return fmt.Sprintf("took the connection and gave no answer within %v", e.within)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf(unavailable+"no connection within %v", e.within)
	case errors.Is(err, syscall.ECONNREFUSED):
		return unavailable + "connection refused"
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL, which stands beside it
	}
	return unavailable + err.Error()
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
