package host

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	mostMetrics = 8 << 20 // bytes; the kubelet of a big node has about 5 MiB
	mostAnswer  = 4 << 10 // bytes of an answer for people

	// Limits for a text of metrics. The parser needs a hundred times the length of the text in memory. For a
	// line with many labels it needs time by the square of their number.
	longestLine = 1 << 20   // bytes of a line that is passed over; the kubelet's lines have some hundred
	longestKept = 1 << 10   // bytes of a line that is parsed
	mostKept    = 512 << 10 // bytes that are parsed in all; a kubelet has 30 KiB, containerd 100

	// A figure above these limits makes no sense.
	mostCount   = 1 << 48 // a million a second for nine years
	mostSeconds = 9e9     // 285 years: a time.Duration has no room for more
)

var (
	errNotMetrics   = errors.New("not the text format of metrics")
	errNotPermitted = errors.New("not permitted")
)

// unavailable begins the reason why there is no answer. The Missing of an [evidence.Source] leaves it out.
const unavailable = "not available: "

// An endpoint is a URL of the kubelet or the runtime that is asked again and again, over a new connection
// each time.
type endpoint struct {
	url    string
	client *http.Client
	hint   string // what to do if the question is not permitted
	most   int64  // bytes of an answer
	within time.Duration

	isConnected atomic.Bool // the last question reached a server
}

// newEndpoint returns an endpoint for a URL. Each request sends the token from tokenFile, which is read again
// each time; no token if tokenFile is "". The environment's proxy is not used. A request that ends does not end
// the connection that is still being made for it, so dial and handshake have limits of their own.
func newEndpoint(u *url.URL, t *tls.Config, tokenFile, hint string) *endpoint {
	var transport http.RoundTripper = &http.Transport{
		DialContext:            (&net.Dialer{Timeout: limit + grace}).DialContext,
		TLSClientConfig:        t,
		TLSHandshakeTimeout:    limit + grace,
		DisableKeepAlives:      true,
		DisableCompression:     true, // it gains nothing on loopback
		MaxResponseHeaderBytes: 64 << 10,
	}
	if tokenFile != "" {
		transport = promconfig.NewAuthorizationCredentialsRoundTripper("Bearer", promconfig.NewFileSecret(tokenFile), transport)
	}
	return &endpoint{url: u.String(), hint: hint, most: mostMetrics, within: limit, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ask sends the question and returns how that went. If the answer is good, read takes it in. Only one question
// may be under way at a time.
func (e *endpoint) ask(ctx context.Context, read func(io.Reader) error) evidence.Answer {
	e.isConnected.Store(false)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { e.isConnected.Store(true) }, // a stopped kubelet comes no further
		GotConn:           func(httptrace.GotConnInfo) { e.isConnected.Store(true) },
	})
	began := time.Now()
	text, err := e.exchange(ctx, read)
	a := evidence.Answer{Asked: true, URL: e.url, OK: err == nil, Took: time.Since(began), Text: text}
	late := errors.Is(err, context.DeadlineExceeded)
	a.TimedOut, a.Refused = late && e.isConnected.Load(), errors.Is(err, syscall.ECONNREFUSED)
	tooLong, isTooLong := errors.AsType[*http.MaxBytesError](err)
	alert, isAlert := errors.AsType[*net.OpError](err)
	switch {
	case err == nil:
	case errors.Is(err, errNotPermitted):
		a.Denied, a.Err = true, "not permitted: "+e.hint
	case isAlert && e.hint != "" && alert.Op == "remote error" && strings.Contains(alert.Err.Error(), "certificate"):
		a.Denied, a.Err = true, fmt.Sprintf("not permitted (%v): %s", alert.Err, e.hint) // TLS refused us; its type of alerts is not exported
	case isTooLong:
		a.Err = fmt.Sprintf(unavailable+"the answer is longer than %d MiB", tooLong.Limit>>20)
	case a.TimedOut:
		a.Err = fmt.Sprintf("took the connection and gave no answer within %v", e.within)
	case late:
		a.Err = fmt.Sprintf(unavailable+"no connection within %v", e.within)
	case a.Refused:
		a.Err = unavailable + "connection refused"
	default:
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the URL
		}
		a.Err = unavailable + err.Error()
	}
	return a
}

// exchange sends the question. If the server fails, it returns the text of the answer and an error.
func (e *endpoint) exchange(ctx context.Context, read func(io.Reader) error) (text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4, */*;q=0.1")
	response, err := e.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	status := response.StatusCode
	switch {
	case status == http.StatusOK:
		return "", read(http.MaxBytesReader(nil, response.Body, e.most))
	case e.hint != "" && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return "", errNotPermitted
	}
	text, _ = firstText(response.Body) // a part of it is better than none
	first, _, _ := strings.Cut(text, "\n")
	err = errors.New(strings.TrimSuffix(fmt.Sprintf("it answers %d %s: %s", status, http.StatusText(status), first), ": "))
	if status < http.StatusInternalServerError {
		text = "" // the text is about the question, not about the server
	}
	return text, err
}

// firstText returns the first mostAnswer bytes of a text for people, without the blanks around it.
func firstText(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostAnswer))
	return strings.TrimSpace(string(text)), err
}

// readSamples returns the metrics with these names, from the lines that contain within. It passes over all
// other lines: a kubelet has ten thousand. If no line begins with one of begins, the text is from another
// program, and the error is other. If one figure makes no sense, all others are in doubt, and the error names
// that figure.
func readSamples(r io.Reader, names []string, within string, begins []string, other error) (model.Vector, error) {
	var text bytes.Buffer
	isProgram := false
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for lines.Scan() {
		line := lines.Bytes()
		isProgram = isProgram || slices.ContainsFunc(begins, func(b string) bool { return bytes.HasPrefix(line, []byte(b)) })
		name := line
		if end := bytes.IndexAny(line, "{ \t"); end >= 0 {
			name = line[:end]
		}
		switch {
		case !slices.ContainsFunc(names, func(n string) bool { return n == string(name) }) || !bytes.Contains(line, []byte(within)):
			continue
		case len(line) > longestKept:
			return nil, fmt.Errorf("a line of %s is longer than %d KiB", name, longestKept>>10)
		case text.Len() > mostKept:
			return nil, fmt.Errorf("more than %d KiB of what is looked for: no such program says so much", mostKept>>10)
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, err
	} else if err == nil && !isProgram {
		return nil, other
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&text) // without types, so that a histogram's count and sum are plain figures
	if err != nil || lines.Err() != nil {
		return nil, errNotMetrics // the parser counts only the lines that are left
	}
	all, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	for _, s := range all {
		name, v, most := nameOf(s), float64(s.Value), float64(mostCount)
		if strings.HasSuffix(strings.TrimSuffix(name, "_sum"), "_seconds") {
			most = mostSeconds
		}
		if !(v >= 0 && v <= most) { // NaN is neither
			return nil, fmt.Errorf("%s makes no sense: it is %v", name, v)
		}
	}
	return all, err
}

func nameOf(s *model.Sample) string { return string(s.Metric[model.MetricNameLabel]) }
