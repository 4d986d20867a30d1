package host

import (
	"context"
	"crypto/tls"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What to do when a question is not permitted. (kubelet 1.25 to 1.37: package
// server, AuthFilter; before 1.32 healthz needs nodes/proxy.)
const (
	permissionHint = "give --kubelet-cert and --kubelet-key, or --kubelet-token-file, of one who may get nodes/metrics"
	healthHint     = "give --kubelet-cert and --kubelet-key, or --kubelet-token-file, of one who may get nodes/healthz or nodes/proxy"
)

// kubeletMetrics is the name of a part.
const kubeletMetrics = "kubelet metrics"

// A kubelet is the node's kubelet, to be asked again and again.
type kubelet struct {
	ping             *endpoint // of a port of its own, which says ok whatever is wrong with the node
	health, syncLoop *endpoint // of the port that the metrics are at
	metrics          *endpoint
}

// newKubelet returns the kubelet that is asked as k says.
func newKubelet(k Kubelet) (*kubelet, error) {
	k = k.withDefaults()
	ping, err := parseURL("--kubelet-healthz", k.Healthz, defaultHealthz)
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
	// The ping gets the trust, but nothing that says who asks.
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

// secure checks all that is said about credentials and returns how to use them.
func (k Kubelet) secure(metrics *url.URL) (*tls.Config, error) {
	if err := k.checkMetrics(metrics); err != nil {
		return nil, err
	}
	if err := k.checkFiles(); err != nil {
		return nil, err
	}
	return k.tlsConfig(metrics)
}

func (k *kubelet) parts() []part {
	return []part{
		k.ping.part("kubelet ping", func(k *evidence.Kubelet) *evidence.Answer { return &k.Ping }),
		k.health.part("kubelet healthz", func(k *evidence.Kubelet) *evidence.Answer { return &k.Health }),
		k.syncLoop.part("kubelet sync loop", func(k *evidence.Kubelet) *evidence.Answer { return &k.SyncLoop }),
		k.metricsPart(),
	}
}

// part is the part whose answer is a short text.
func (e *endpoint) part(name string, of func(*evidence.Kubelet) *evidence.Answer) part {
	at := func(r *evidence.Report) *evidence.Answer { return of(&r.Kubelet) }
	return partOf(name, at, func(ctx context.Context) evidence.Answer {
		var text string
		a := e.ask(ctx, func(r io.Reader) (err error) {
			text, err = firstText(r)
			return err
		})
		if a.OK {
			a.Text = text
		}
		return a
	}, func(a *evidence.Answer, err error) { *a = e.noAnswer(err) })
}

func (k *kubelet) metricsPart() part {
	var relists relistWatch
	var relist, interval meanWatch
	return part{
		name: kubeletMetrics,
		read: func(ctx context.Context) fill {
			var said evidence.Kubelet
			var counts bool
			asked := time.Now()
			a := k.metrics.ask(ctx, func(r io.Reader) (err error) {
				said, counts, err = readMetrics(r, time.Now())
				return err
			})
			a.Text = ""
			if a.OK {
				said.ReadAt = asked
				said.StillFor = relists.look(said.Relist.Count, counts, time.Now())
				relist.look(&said.Relist)
				interval.look(&said.Interval)
			}
			said.Metrics = a
			return func(r *evidence.Report) {
				was := &r.Kubelet
				k := said
				k.Ping, k.Health, k.SyncLoop = was.Ping, was.Health, was.SyncLoop
				r.Kubelet = k
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

// A meanWatch knows a histogram as of the look before. It belongs to one goroutine
// at a time.
type meanWatch struct {
	count     uint64
	sum, mean time.Duration
}

// look sets the mean of what came since the look before: of all at the first, and
// when the kubelet has begun anew. Where nothing came, the mean stays.
func (w *meanWatch) look(t *evidence.Timing) {
	if t.Count < w.count || t.Sum < w.sum {
		*w = meanWatch{}
	}
	if n := t.Count - w.count; n > 0 {
		w.mean = (t.Sum - w.sum) / time.Duration(n)
	}
	w.count, w.sum = t.Count, t.Sum
	t.Mean = w.mean
}
