package host

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/smallfile"
)

const (
	kubeletMetrics = "kubelet metrics" // the name of a part

	defaultHealthz  = "http://127.0.0.1:10248/healthz"
	readOnlyMetrics = "http://127.0.0.1:10255/metrics"
	secureMetrics   = "https://127.0.0.1:10250/metrics"
)

// What to do if a question is not permitted. (kubelet 1.25 to 1.37: package server, AuthFilter; before 1.32
// healthz needs nodes/proxy.)
const (
	permissionHint = "give --kubelet-cert and --kubelet-key, or --kubelet-token-file, of one who may get nodes/metrics"
	healthHint     = "give --kubelet-cert and --kubelet-key, or --kubelet-token-file, of one who may get nodes/healthz or nodes/proxy"
)

// A kubelet asks the node's kubelet in each look.
type kubelet struct {
	ping             *endpoint // at a port of its own, which answers ok whatever is wrong with the node
	health, syncLoop *endpoint // at the port of the metrics
	metrics          *endpoint

	relists          stillWatch
	relist, interval meanWatch
}

// newKubelet returns a kubelet that is asked as k says. The error says which flag is wrong.
func newKubelet(k Kubelet) (*kubelet, error) {
	k.Healthz, k.Key = cmp.Or(k.Healthz, defaultHealthz), cmp.Or(k.Key, k.Cert)
	if k.Cert == "" && k.TokenFile == "" {
		k.Metrics = cmp.Or(k.Metrics, readOnlyMetrics)
	}
	ping, err := parseURL("--kubelet-healthz", k.Healthz, defaultHealthz)
	if err != nil {
		return nil, err
	}
	metrics, err := parseURL("--kubelet-metrics", cmp.Or(k.Metrics, secureMetrics), secureMetrics)
	if err != nil {
		return nil, err
	}
	if err := k.check(metrics); err != nil {
		return nil, err
	}
	secure, err := k.tlsConfig(metrics)
	if err != nil {
		return nil, err
	}
	// The ping trusts the same authorities as the metrics, and sends nothing that says who asks.
	open := &tls.Config{RootCAs: secure.RootCAs, InsecureSkipVerify: loopback(ping) && k.CA == ""}
	beside := func(path string) *url.URL {
		u := *metrics
		u.Path = strings.TrimSuffix(u.Path, "/metrics") + path
		return &u
	}
	return &kubelet{
		ping:     newEndpoint(ping, open, "", ""),
		health:   newEndpoint(beside("/healthz"), secure, k.TokenFile, healthHint),
		syncLoop: newEndpoint(beside("/healthz/syncloop"), secure, k.TokenFile, healthHint),
		metrics:  newEndpoint(metrics, secure, k.TokenFile, permissionHint),
	}, nil
}

// check returns an error for settings that do not go together, and for files that cannot be used.
func (k Kubelet) check(metrics *url.URL) error {
	isSecure := metrics.Scheme == "https"
	switch {
	case k.Key != "" && k.Cert == "":
		return errors.New("--kubelet-key needs --kubelet-cert, the certificate that it belongs to")
	case isSecure && k.TokenFile != "" && k.CA == "" && loopback(metrics):
		return errors.New("--kubelet-token-file needs --kubelet-ca: any process of this machine may take the kubelet's port while that is away")
	case !isSecure && (k.Cert != "" || k.CA != ""):
		return fmt.Errorf("--kubelet-metrics %s: a certificate needs https, such as %s", metrics, secureMetrics)
	case !isSecure && k.TokenFile != "":
		return fmt.Errorf("--kubelet-metrics %s: the token would be sent unencrypted; use https", metrics)
	}
	for _, f := range []struct{ flag, file string }{
		{"--kubelet-ca", k.CA}, {"--kubelet-cert", k.Cert}, {"--kubelet-key", k.Key}, {"--kubelet-token-file", k.TokenFile},
	} {
		text, err := smallfile.Read(f.file) // it does not wait for a pipe
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			err = errors.New("the file is empty")
		}
		if f.file != "" && err != nil {
			return unreadable(f.flag, f.file, err)
		}
	}
	return nil
}

// unreadable returns an error that says which flag names a file that cannot be used, and what to do.
func unreadable(flag, file string, err error) error {
	hint := ""
	if errors.Is(err, os.ErrPermission) {
		hint = "; try sudo"
	}
	return fmt.Errorf("%s: %s: %s%s", flag, file, reason(err), hint)
}

// tlsConfig returns the settings that check the kubelet's certificate and show ours.
func (k Kubelet) tlsConfig(u *url.URL) (*tls.Config, error) {
	c, err := promconfig.NewTLSConfig(&promconfig.TLSConfig{
		CAFile: k.CA, CertFile: k.Cert, KeyFile: k.Key,
		InsecureSkipVerify: loopback(u) && k.CA == "", // see Kubelet
	})
	if err != nil {
		return nil, fmt.Errorf("--kubelet-ca, --kubelet-cert and --kubelet-key: %w", err)
	}
	return c, nil
}

func parseURL(flag, text, example string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s %q: want a URL such as %s", flag, text, example)
	}
	if u.User == nil {
		return u, nil
	}
	if strings.HasPrefix(flag, "--kubelet-") {
		return nil, fmt.Errorf("%s: leave the password out of the URL; use --kubelet-token-file", flag)
	}
	return nil, fmt.Errorf("%s: leave the password out of the URL", flag)
}

func loopback(u *url.URL) bool {
	return net.ParseIP(u.Hostname()).IsLoopback() || u.Hostname() == "localhost"
}

// parts returns the parts that ask the kubelet.
func (k *kubelet) parts() (all []part) {
	for _, text := range []struct {
		name string
		e    *endpoint
		at   func(*evidence.Kubelet) *evidence.Answer
	}{
		{"kubelet ping", k.ping, func(k *evidence.Kubelet) *evidence.Answer { return &k.Ping }},
		{"kubelet healthz", k.health, func(k *evidence.Kubelet) *evidence.Answer { return &k.Health }},
		{"kubelet sync loop", k.syncLoop, func(k *evidence.Kubelet) *evidence.Answer { return &k.SyncLoop }},
	} {
		read := func(ctx context.Context, _ *Look) (fill, error) {
			var said string
			a := text.e.ask(ctx, func(r io.Reader) (err error) {
				said, err = firstText(r)
				return err
			})
			if a.OK { // if the answer breaks off, its text is not used
				a.Text = said
			}
			return func(r *evidence.Report) { *text.at(&r.Kubelet) = a }, nil
		}
		all = append(all, part{text.name, always, read, func(r *evidence.Report, err error) { *text.at(&r.Kubelet) = text.e.noAnswer(err) }})
	}
	return append(all, part{kubeletMetrics, always, k.readMetrics, func(r *evidence.Report, err error) { r.Kubelet.Metrics = k.metrics.noAnswer(err) }})
}

// noAnswer returns the answer for a request that has not come back. If the kubelet took the connection, it
// counts as timed out: this process may only have had no processor to end the request in time, but the kubelet
// was silent all the same.
func (e *endpoint) noAnswer(err error) evidence.Answer {
	stuck, isStuck := errors.AsType[reads.StuckError](err)
	return evidence.Answer{Asked: true, URL: e.url, Err: err.Error(), Took: stuck.Out, TimedOut: isStuck && e.isConnected.Load()}
}

// readMetrics returns the kubelet's metrics, for Report.Kubelet.
func (k *kubelet) readMetrics(ctx context.Context, _ *Look) (fill, error) {
	var found evidence.Kubelet
	var counts bool
	asked := time.Now()
	a := k.metrics.ask(ctx, func(r io.Reader) (err error) {
		found, counts, err = readMetrics(r, time.Now())
		return err
	})
	if a.Text = ""; a.OK {
		found.ReadAt = asked
		found.StillFor = k.relists.look(found.Relist.Count, counts, time.Now())
		found.Relist.Mean, found.Interval.Mean = k.relist.look(found.Relist), k.interval.look(found.Interval)
	}
	return func(r *evidence.Report) {
		now := found
		now.Metrics, now.Ping, now.Health, now.SyncLoop = a, r.Kubelet.Ping, r.Kubelet.Health, r.Kubelet.SyncLoop
		r.Kubelet = now
	}, nil
}

// The kubelet's metrics that are read. (kubelet 1.25 to 1.37: package metrics; all are alpha and may be
// missing.)
const (
	buildInfo      = "kubernetes_build_info"
	relistDuration = "kubelet_pleg_relist_duration_seconds"
	relistInterval = "kubelet_pleg_relist_interval_seconds"
	lastSeen       = "kubelet_pleg_last_seen_seconds"
	discarded      = "kubelet_pleg_discard_events"
	discardedTotal = "kubelet_pleg_discard_events_total" // of newer releases
	streams        = "kubelet_evented_pleg_connection_success_count"
	streamErrors   = "kubelet_evented_pleg_connection_error_count"

	// LastSeen makes no sense if it is further away from now than these limits. They are wide, because the
	// clocks may differ.
	mostAhead  = 24 * time.Hour
	mostBehind = 10 * 365 * 24 * time.Hour
)

var (
	kubeletFigures = []string{
		buildInfo, lastSeen, discarded, discardedTotal, streams, streamErrors,
		relistDuration + "_count", relistDuration + "_sum", relistInterval + "_count", relistInterval + "_sum",
	}
	errNotKubelet = errors.New("not the metrics of a kubelet")
)

// readMetrics returns what the text of a kubelet's /metrics says at the given time. countsRelists reports
// whether the kubelet counts its relists, even if the count is 0.
func readMetrics(r io.Reader, now time.Time) (k evidence.Kubelet, countsRelists bool, err error) {
	samples, err := readSamples(r, kubeletFigures, "", []string{"kubelet_", buildInfo}, errNotKubelet)
	if err != nil {
		return k, false, err
	}
	sums := map[string]float64{}
	for _, s := range samples {
		sums[nameOf(s)] += float64(s.Value)
		k.Version = cmp.Or(k.Version, string(s.Metric["git_version"]))
	}
	timing := func(name string) evidence.Timing {
		return evidence.Timing{Count: uint64(sums[name+"_count"]), Sum: time.Duration(min(sums[name+"_sum"], mostSeconds) * float64(time.Second))}
	}
	k.Relist, k.Interval = timing(relistDuration), timing(relistInterval)
	k.Discarded = max(uint64(sums[discarded]), uint64(sums[discardedTotal]))
	k.Streams, k.StreamErrors = uint64(sums[streams]), uint64(sums[streamErrors])
	if seen := sums[lastSeen]; seen != 0 { // 0 is never
		k.LastSeen = time.Unix(int64(seen), 0)
		if away := now.Sub(k.LastSeen); away < -mostAhead || away > mostBehind {
			return evidence.Kubelet{}, false, fmt.Errorf("%s makes no sense: it is %v", lastSeen, seen)
		}
	}
	_, countsRelists = sums[relistDuration+"_count"]
	return k, countsRelists, nil
}

// A stillWatch knows for how long the kubelet has ended no relist.
type stillWatch struct {
	counts bool
	count  uint64
	since  time.Time // the first look that saw this count
}

// look returns for how long the count has not changed; 0 for a kubelet that does not count. A kubelet that was
// restarted has another count.
func (w *stillWatch) look(count uint64, counts bool, now time.Time) time.Duration {
	if !counts || !w.counts || count != w.count {
		*w = stillWatch{counts, count, now}
	}
	return now.Sub(w.since)
}

// A meanWatch remembers a histogram from the look before.
type meanWatch struct {
	evidence.Timing
}

// look returns the mean of the values since the look before. In the first look, and after the kubelet was
// restarted, it returns the mean of all values. Without new values the mean stays the same.
func (w *meanWatch) look(t evidence.Timing) time.Duration {
	if t.Count < w.Count || t.Sum < w.Sum {
		*w = meanWatch{}
	}
	mean := w.Mean
	if n := t.Count - w.Count; n > 0 {
		mean = (t.Sum - w.Sum) / time.Duration(n)
	}
	w.Count, w.Sum, w.Mean = t.Count, t.Sum, mean
	return mean
}
