package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// What is read of containerd's /v1/metrics. (containerd 1.6 to 2.4: package
// grpc-prometheus)
const (
	callsBegun   = "grpc_server_started_total"
	callsEnded   = "grpc_server_handled_total"
	runtimeCalls = `grpc_service="runtime.v1.RuntimeService"`
	callMethod   = "grpc_method"

	// eventStream is the only call that is meant to stay: the others that stream are lists.
	eventStream = "GetContainerEvents"
)

var ofContainerd = exposition{
	wanted: map[string]string{callsBegun: "counter", callsEnded: "counter"},
	within: runtimeCalls,
	begins: []string{callsBegun},
	other:  errors.New("they count no calls that have begun, as containerd's do in " + callsBegun),
}

const (
	exampleMetrics = "http://127.0.0.1:1338/v1/metrics"

	// askSeldom is how long the metrics are left alone after no answer: containerd asks
	// every shim for them.
	askSeldom = 30 * time.Second
)

// A caller asks for the metrics again and again while something hangs. It must not be used
// from two goroutines at once.
type caller struct {
	of    Config
	named *endpoint // nil if none was

	slow[callsRead]
	watch callWatch // of the read that is out
}

type callsRead struct {
	evidence.RuntimeCalls
	late bool // there was no answer in time
}

// newCaller prepares for asking. The error says what is wrong with the URL that was named.
func newCaller(c Config) (*caller, error) {
	all := &caller{of: c}
	if text := c.Runtime.Metrics; text != "" {
		u, err := parseURL("--runtime-metrics", text, exampleMetrics)
		if err != nil {
			return nil, err
		}
		all.named = metricsAt(u)
	}
	return all, nil
}

// look returns which calls were in flight when the metrics were read last.
func (c *caller) look(ctx context.Context, now time.Time) evidence.RuntimeCalls {
	if c.slow.look(now); c.due(now) {
		c.out = reads.Start(&c.reads, "", func() (callsRead, error) { return c.ask(now), nil })
		c.next = now.Add(askSeldom)
	}
	got, missing, pending := c.get(ctx)
	switch {
	case !c.has:
		got.Missing, got.Pending = missing, pending
	case c.out == nil && !got.late:
		c.next = time.Time{}
	}
	return got.RuntimeCalls
}

// ask asks for the metrics, at the endpoint that was named or else at that of the
// configuration.
func (c *caller) ask(now time.Time) (said callsRead) {
	at := c.named
	if at == nil {
		u, err := configuredMetrics(c.of)
		if err != nil {
			said.Missing = err.Error()
			return said
		}
		at = metricsAt(u)
	}
	ctx, cancel := context.WithTimeout(context.Background(), slowTime)
	defer cancel()
	a := at.ask(ctx, func(r io.Reader) error {
		in := &byteCount{in: r}
		counts, begun, err := readCalls(in)
		said.Bytes = in.read
		if err == nil {
			said.InFlight = c.watch.look(counts, begun, now)
		}
		return err
	})
	said.From, said.Took, said.Missing, said.late = at.url, a.Took, missing(a), a.TimedOut
	return said
}

// metricsAt returns the endpoint of a runtime's metrics. It gets nothing that says who
// asks, and on loopback its certificate is believed.
func metricsAt(u *url.URL) *endpoint {
	e := newEndpoint(u, &tls.Config{InsecureSkipVerify: loopback(u)}, "", "")
	e.within = slowTime
	return e
}

// metricsURL returns where containerd's metrics are, for an address that it listens at.
// Only what listens on loopback as well is asked unasked.
func metricsURL(address string) (*url.URL, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("containerd's metrics are at %q, which is no address: %w", address, err)
	}
	ip := net.ParseIP(host)
	switch {
	case host == "" || host == "localhost" || ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		host = "127.0.0.1" // where Go's servers listen for "localhost"; no name is looked up
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	case ip == nil || !ip.IsLoopback():
		return nil, fmt.Errorf("containerd's metrics are not on loopback: name them with --runtime-metrics http://%s/v1/metrics", address)
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/v1/metrics"}, nil
}

// readCalls returns how many calls of each method have begun and not ended, and how many
// have begun at all.
func readCalls(r io.Reader) (counts map[string]int, begun uint64, err error) {
	families, err := ofContainerd.read(r)
	if err != nil {
		return nil, 0, err
	}
	f := figures{families: families}
	started, ended := f.counters(callsBegun, callMethod), f.counters(callsEnded, callMethod)
	counts = map[string]int{}
	for method, n := range started {
		begun += n
		if n > ended[method] && method != eventStream {
			counts[method] = int(n - ended[method])
		}
	}
	return counts, begun, f.err
}

// mostLevels bounds what is remembered of a method.
const mostLevels = 64

// A callWatch watches for how long so many calls have been in flight. It belongs to one
// goroutine at a time.
type callWatch struct {
	at     time.Time // the last look
	begun  uint64    // calls until then
	levels map[string][]level
}

// A level is a number of calls of a method that no look since has fallen below; each
// in a row is higher and younger than the one before.
type level struct {
	count int
	since time.Time
}

// look takes in the calls of this moment. What was seen before a long time without a
// look, or of a runtime that has ended, does not count.
func (w *callWatch) look(counts map[string]int, begun uint64, now time.Time) (all []evidence.InFlight) {
	if now.Sub(w.at) > hangOver+askSeldom || begun < w.begun {
		w.levels = nil
	}
	w.at, w.begun = now, begun
	were := w.levels
	w.levels = map[string][]level{}
	for _, method := range slices.Sorted(maps.Keys(counts)) {
		count, since, levels := counts[method], now, were[method]
		for len(levels) > 0 && levels[len(levels)-1].count >= count {
			since = levels[len(levels)-1].since
			levels = levels[:len(levels)-1]
		}
		if len(levels) == mostLevels {
			levels = slices.Delete(levels, 1, 2)
		}
		w.levels[method] = append(levels, level{count, since})
		all = append(all, evidence.InFlight{Method: method, Count: count, For: now.Sub(since)})
	}
	return all
}

// A byteCount is a reader that counts what it reads.
type byteCount struct {
	in   io.Reader
	read int64
}

func (c *byteCount) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += int64(n)
	return n, err
}
