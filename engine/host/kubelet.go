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

// A kubelet is the node's kubelet, to be asked again and again.
type kubelet struct {
	healthz, metrics *inquiry
	healthzLane      lane[evidence.Answer]
	metricsLane      lane[told]
	relists          standstill
}

// told is what came of asking for the metrics.
type told struct {
	answer  evidence.Answer
	metrics metrics // zero unless the answer is OK
}

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
		healthz: newInquiry(healthz, open, nobody, ""),
		metrics: newInquiry(metrics, secure, k.token, permissionHint),
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

// An asked is both questions while they are out.
type asked struct {
	healthz *reading[evidence.Answer]
	metrics *reading[told]
}

// ask puts both questions, each with its own time to be answered in.
func (k *kubelet) ask(ctx context.Context) asked {
	return asked{k.healthzLane.start(ctx, k.askHealthz), k.askMetrics(ctx)}
}

func (k *kubelet) askHealthz(ctx context.Context) evidence.Answer {
	var text string
	a := k.healthz.ask(ctx, func(r io.Reader) (err error) {
		text, err = firstText(r)
		return err
	})
	if a.OK {
		a.Text = text
	}
	return a
}

func (k *kubelet) askMetrics(ctx context.Context) *reading[told] {
	return k.metricsLane.start(ctx, func(ctx context.Context) told {
		var t told
		t.answer = k.metrics.ask(ctx, func(r io.Reader) (err error) {
			t.metrics, err = readMetrics(r)
			return err
		})
		return t
	})
}

// answers waits for both and returns what the kubelet says.
func (k *kubelet) answers(ctx context.Context, out asked) evidence.Kubelet {
	var e evidence.Kubelet
	healthz, err := out.healthz.wait(ctx)
	if err != nil {
		healthz = k.healthz.left(err)
	}
	told, err := out.metrics.wait(ctx)
	if err != nil {
		told.answer = k.metrics.left(err)
	}
	told.answer.Text = ""
	e.Healthz, e.Metrics = healthz, told.answer
	if told.answer.OK {
		told.metrics.into(&e)
		e.StillFor = k.relists.look(told.metrics, time.Now())
	}
	return e
}

// A standstill watches for how long the kubelet has ended no relist. It belongs
// to one goroutine at a time.
type standstill struct {
	known bool
	count uint64
	since time.Time // of the first look that saw this count
}

// look returns for how long the count has been what it is. A kubelet that began
// anew has another one.
func (s *standstill) look(m metrics, now time.Time) time.Duration {
	count := whole(m.relist.count)
	if !m.hasRelist {
		*s = standstill{}
		return 0
	}
	if !s.known || count != s.count {
		*s = standstill{known: true, count: count, since: now}
	}
	return now.Sub(s.since)
}
