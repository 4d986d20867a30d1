package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/quantile"
	"github.com/plegtop/plegtop/ui/text"
)

// A collector gives what follows from the newest update. It asks nobody.
type collector struct {
	newest func() *diagnose.Update // nil until there is one
	descs  []*prometheus.Desc      // of the metrics of the table
	build  prometheus.Metric
}

func newCollector(newest func() *diagnose.Update, version string) *collector {
	build := prometheus.NewDesc("plegtop_build_info", "The version of plegtop.", []string{"version"}, nil)
	c := &collector{newest: newest, build: prometheus.MustNewConstMetric(build, prometheus.GaugeValue, 1, text.Clean(version))}
	for _, m := range table {
		c.descs = append(c.descs, prometheus.NewDesc(m.name, m.help, m.labels, nil))
	}
	return c
}

// Describe sends what there can be.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	to <- c.build.Desc()
	for _, d := range c.descs {
		to <- d
	}
}

// Collect sends what there is.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	to <- c.build
	u := c.newest()
	if u == nil {
		return
	}
	for i, m := range table {
		s := samples{places: map[string]int{}}
		m.of(u, &s)
		for _, one := range s.all {
			to <- m.made(c.descs[i], one)
		}
	}
}

// made returns a sample as Prometheus has it.
func (m metric) made(desc *prometheus.Desc, s sample) prometheus.Metric {
	kind := prometheus.GaugeValue
	if m.counts {
		kind = prometheus.CounterValue
	}
	if m.bounds != nil {
		return prometheus.MustNewConstHistogram(desc, s.histogram.Count(), s.histogram.Sum.Seconds(), s.histogram.UpTo(m.bounds), s.labels...)
	}
	return prometheus.MustNewConstMetric(desc, kind, s.value, s.labels...)
}

// samples gather the values of one metric, one for each set of labels: two would be an error of
// the whole answer. Labels may be texts of the runtime's, and are cleaned.
type samples struct {
	all    []sample
	places map[string]int // in all
}

type sample struct {
	labels    []string
	value     float64
	histogram quantile.Histogram
}

// of returns the sample of a set of labels.
func (s *samples) of(labels []string) *sample {
	clean := make([]string, len(labels))
	for i, l := range labels {
		clean[i] = text.Clean(l)
	}
	key := strings.Join(clean, "\x00")
	i, had := s.places[key]
	if !had {
		i = len(s.all)
		s.places[key], s.all = i, append(s.all, sample{labels: clean})
	}
	return &s.all[i]
}

func (s *samples) value(v float64, labels ...string) { s.of(labels).value = v }

// add adds to the value of a set of labels.
func (s *samples) add(v float64, labels ...string) { s.of(labels).value += v }

func (s *samples) truth(is bool, labels ...string) {
	v := 0.0
	if is {
		v = 1
	}
	s.value(v, labels...)
}

// at gives a moment; none where that is zero. Of several the earliest counts.
func (s *samples) at(t time.Time, labels ...string) {
	if t.IsZero() {
		return
	}
	moment := float64(t.UnixMilli()) / 1000
	if one := s.of(labels); one.value == 0 || moment < one.value {
		one.value = moment
	}
}

func (s *samples) distribution(h quantile.Histogram, labels ...string) { s.of(labels).histogram = h }
