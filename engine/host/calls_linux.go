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
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// slowTime is the limit of a read that may take longer than a look. slowWait is how long a look waits for
	// such a read: most answer by then.
	slowTime = 5 * time.Second
	slowWait = 200 * time.Millisecond

	// hangOver is the time without a deep look after which the next deep look belongs to another hang. While
	// something hangs there is one every 5 s.
	hangOver = 15 * time.Second
)

// A slow is a read that may take longer than a look. If the result is not there in a moment, it is there in the
// next look. The zero value is ready to use. It must not be used by two goroutines at once.
type slow[T any] struct {
	reads reads.Set[string]
	out   *reads.Read[T] // nil if none is
	asked time.Time      // the last look
	next  time.Time      // no read begins before this time
	kept  *T             // the last result of this hang; nil for none
}

// look begins a look. It forgets what belongs to another hang, and reports whether this is a new one.
func (s *slow[T]) look(now time.Time) (isNew bool) {
	if isNew = now.Sub(s.asked) > hangOver; isNew {
		s.out, s.kept = nil, nil
	}
	s.asked = now
	return isNew
}

// isDue reports whether it is time for another read.
func (s *slow[T]) isDue(now time.Time) bool { return s.out == nil && !now.Before(s.next) }

// get returns the last result of this hang. If a read is under way, it waits a moment for it. If there is no
// result, missing says why; it is zero if no read has begun.
func (s *slow[T]) get(ctx context.Context) (kept T, missing evidence.Source) {
	if s.out != nil {
		got, err := s.out.Wait(ctx, slowWait)
		stuck, isOut := errors.AsType[reads.StuckError](err)
		if isOut = isOut || errors.Is(err, reads.ErrBrokenOff); !isOut {
			s.out = nil
		}
		switch {
		case err == nil:
			s.kept = &got
		case !isOut, stuck.Out > slowTime+grace:
			missing.Missing = err.Error()
		default:
			missing.Missing, missing.Pending = "still being read", true
		}
	}
	if s.kept != nil {
		return *s.kept, evidence.Source{}
	}
	return kept, missing
}

// The names in containerd's /v1/metrics that are read. (containerd 1.6 to 2.4: package grpc-prometheus)
const (
	callsBegun  = "grpc_server_started_total"
	callsEnded  = "grpc_server_handled_total"
	criCalls    = `grpc_service="runtime.v1.RuntimeService"`
	callMethod  = "grpc_method"
	eventStream = "GetContainerEvents" // the only call that lasts by design: other streams are lists
)

const (
	exampleMetrics = "http://127.0.0.1:1338/v1/metrics"

	// askSeldom is how long the metrics are left alone if there was no answer. To answer, containerd asks every
	// shim.
	askSeldom = 30 * time.Second
)

// A callReader reads which calls the runtime has not ended, again and again while something hangs.
type callReader struct {
	slow[evidence.RuntimeCalls]
	watch callWatch // only the read that is under way uses it
}

// look returns the calls that were in flight at the last reading of the metrics. If a reading is due, look
// begins one.
func (c *callReader) look(ctx context.Context, l *Look, now time.Time) evidence.RuntimeCalls {
	if c.slow.look(now); c.isDue(now) {
		c.out = reads.Start(&c.reads, "", func() (evidence.RuntimeCalls, error) { return c.ask(l, now), nil })
		c.next = now.Add(askSeldom)
	}
	got, missing := c.get(ctx)
	switch {
	case c.kept == nil:
		got.Source = missing
	case c.out == nil && got.Missing == "":
		c.next = time.Time{}
	}
	return got
}

// ask returns the calls that are in flight at the given time. It asks the URL that the user has named, or else
// the one in the configuration. The request says nothing about who asks.
func (c *callReader) ask(l *Look, now time.Time) (got evidence.RuntimeCalls) {
	ctx, cancel := context.WithTimeout(context.Background(), slowTime)
	defer cancel()
	u, err := l.metricsURL(ctx)
	if err != nil {
		got.Missing = err.Error()
		return got
	}
	e := newEndpoint(u, &tls.Config{InsecureSkipVerify: loopback(u)}, "", "")
	e.within = slowTime
	a := e.ask(ctx, func(r io.Reader) error {
		counts, begun, err := readCalls(r)
		if err == nil {
			got.InFlight = c.watch.look(counts, begun, now)
		}
		return err
	})
	got.From, got.Took, got.Missing = e.url, a.Took, strings.TrimPrefix(a.Err, unavailable)
	return got
}

// metricsURL returns the URL of the runtime's metrics.
func (l *Look) metricsURL(ctx context.Context) (*url.URL, error) {
	if named := l.Runtime.Metrics; named != "" {
		return parseURL("--runtime-metrics", named, exampleMetrics)
	}
	s := l.static(ctx, slowTime)
	_, has := s.program.Settings["metrics"]
	switch address := s.given("metrics"); {
	case s.comm == "crio":
		return nil, errors.New("CRI-O's metrics do not tell which calls have begun")
	case address != "":
		return metricsAt(address)
	case s.err != nil:
		return nil, fmt.Errorf("containerd's configuration cannot be read: %w; name its metrics with --runtime-metrics %s", s.err, exampleMetrics)
	case !has:
		return nil, errors.New("it is not known where the runtime has metrics; name them with --runtime-metrics " + exampleMetrics)
	}
	return nil, errors.New("containerd's configuration names no metrics: set address under [metrics] there, such as 127.0.0.1:1338")
}

// metricsAt returns the URL of containerd's metrics if it listens at this address. The address must include
// loopback: any other one is asked only if the user names it.
func metricsAt(address string) (*url.URL, error) {
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

// readCalls returns for each method how many calls have begun and not ended, and how many calls of all methods
// have begun.
func readCalls(r io.Reader) (counts map[string]int, begun uint64, err error) {
	other := errors.New("they count no calls that have begun, as containerd's do in " + callsBegun)
	samples, err := readSamples(r, []string{callsBegun, callsEnded}, criCalls, []string{callsBegun}, other)
	if err != nil {
		return nil, 0, err
	}
	counts = map[string]int{}
	for _, s := range samples {
		method, n := string(s.Metric[callMethod]), int(s.Value)
		if nameOf(s) == callsEnded {
			n = -n
		} else {
			begun += uint64(n)
		}
		counts[method] += n
	}
	maps.DeleteFunc(counts, func(method string, n int) bool { return n <= 0 || method == eventStream })
	return counts, begun, nil
}

// A callWatch remembers for how long at least so many calls of a method have been in flight.
type callWatch struct {
	at     time.Time // the last look
	begun  uint64    // calls that had begun by then
	levels map[string][]level
}

// A level is a number of calls of a method: in no look since then there were fewer. In a row of levels, each
// one is higher and younger than the one before.
type level struct {
	count int
	since time.Time
}

// look takes in the calls of this moment and returns for how long they have been in flight. It forgets what it
// knew after a long time without a look, or if another process of the runtime counts now.
func (w *callWatch) look(counts map[string]int, begun uint64, now time.Time) (all []evidence.InFlight) {
	if now.Sub(w.at) > hangOver+askSeldom || begun < w.begun {
		w.levels = nil
	}
	w.at, w.begun = now, begun
	before := w.levels
	w.levels = map[string][]level{}
	for _, method := range slices.Sorted(maps.Keys(counts)) {
		count, since, levels := counts[method], now, before[method]
		for len(levels) > 0 && levels[len(levels)-1].count >= count {
			since = levels[len(levels)-1].since
			levels = levels[:len(levels)-1]
		}
		w.levels[method] = append(levels, level{count, since})
		all = append(all, evidence.InFlight{Method: method, Count: count, For: now.Sub(since)})
	}
	return all
}
