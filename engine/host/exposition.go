package host

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// maxLine bounds one line of a text of metrics. The kubelet's longest have
// some hundred bytes.
const maxLine = 1 << 20

var errNotMetrics = errors.New("not the text format of metrics")

// A sample is one line of the Prometheus text format, version 0.0.4.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

// readSamples calls each for the samples whose name begins with one of the
// prefixes, family by family. All other lines are passed over unread: a kubelet
// has some ten thousand that matter to others.
func readSamples(r io.Reader, prefixes []string, each func(sample)) error {
	text, err := linesOf(r, prefixes)
	if err != nil {
		return err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return errNotMetrics // the line that the parser names is one of those that are left
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, families[name])
		if err != nil {
			return errNotMetrics
		}
		for _, s := range samples {
			each(flat(s))
		}
	}
	return nil
}

func flat(s *model.Sample) sample {
	out := sample{name: string(s.Metric[model.MetricNameLabel]), labels: map[string]string{}, value: float64(s.Value)}
	for name, value := range s.Metric {
		if name != model.MetricNameLabel {
			out.labels[string(name)] = string(value)
		}
	}
	return out
}

// linesOf returns the lines about what has one of the prefixes, with those that
// tell its type.
func linesOf(r io.Reader, prefixes []string) (io.Reader, error) {
	var out bytes.Buffer
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		line := lines.Text()
		if anyPrefix(strings.TrimPrefix(line, "# TYPE "), prefixes) {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, errNotMetrics
	}
	return &out, lines.Err()
}

func anyPrefix(line string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}
