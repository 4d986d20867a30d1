package host

import (
	"context"
	"crypto/tls"
	"io"
	"net/url"
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
