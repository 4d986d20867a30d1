package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Bounds of a text of metrics. What is parsed takes some hundred times its length
// in memory, and of a line with many labels time by their square.
const (
	longestLine = 1 << 20   // of what is passed over; the kubelet's have some hundred bytes
	longestKept = 1 << 10   // of what is parsed
	mostKept    = 512 << 10 // in all; a kubelet has about 30 KiB
)

var errNotMetrics = errors.New("not the text format of metrics")

// wanted are the families that are parsed, with their types.
var wanted = map[string]string{
	buildInfo: "gauge", lastSeen: "gauge",
	discarded: "counter", discardedTotal: "counter", operationsTotal: "counter", operationErrors: "counter",
	relistDuration: "histogram", relistInterval: "histogram", operationTimes: "histogram",
}

// readFamilies parses the families that are wanted. All other lines are passed
// over unread: a kubelet has some ten thousand that matter to others.
func readFamilies(r io.Reader) (map[string]*dto.MetricFamily, error) {
	text, err := wantedLines(r)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, errNotMetrics // the line that the parser names is one of those that are left
	}
	return families, nil
}

// wantedLines returns the lines of the wanted families, after their types. So
// they are what is expected, whatever the text itself says of its types.
func wantedLines(r io.Reader) (io.Reader, error) {
	var out bytes.Buffer
	for name, kind := range wanted {
		fmt.Fprintf(&out, "# TYPE %s %s\n", name, kind)
	}
	ours := false
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for lines.Scan() {
		line := lines.Bytes()
		ours = ours || bytes.HasPrefix(line, []byte("kubelet_")) || bytes.HasPrefix(line, []byte(buildInfo))
		name, isWanted := familyOf(line)
		if !isWanted {
			continue
		}
		if len(line) > longestKept {
			return nil, fmt.Errorf("a line of %s is longer than %d KiB", name, longestKept>>10)
		}
		if out.Len() > mostKept {
			return nil, fmt.Errorf("more than %d KiB about PLEG and the runtime: no kubelet says so much", mostKept>>10)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return nil, errNotMetrics
	case lines.Err() == nil && !ours:
		return nil, errNotKubelet
	}
	return &out, lines.Err()
}

// familyOf returns the wanted family that a line belongs to.
func familyOf(line []byte) (name string, isWanted bool) {
	if end := bytes.IndexAny(line, "{ \t"); end >= 0 {
		line = line[:end]
	}
	name = string(line)
	if kind := wanted[name]; kind != "" {
		return name, true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if family, ok := strings.CutSuffix(name, suffix); ok {
			return family, wanted[family] == "histogram"
		}
	}
	return "", false
}
