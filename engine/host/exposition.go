package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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
	mostKept    = 512 << 10 // in all; a kubelet has about 30 KiB, containerd 100
)

var errNotMetrics = errors.New("not the text format of metrics")

// An exposition says what is wanted of one program's metrics.
type exposition struct {
	wanted map[string]string // the families that are parsed, with their types
	within string            // what their lines must have in them; empty if that does not matter
	begins []string          // how a line begins that only this program has
	other  error             // that it is another one's
}

var ofKubelet = exposition{
	wanted: map[string]string{
		buildInfo: "gauge", lastSeen: "gauge",
		discarded: "counter", discardedTotal: "counter", streams: "counter", streamErrors: "counter",
		relistDuration: "histogram", relistInterval: "histogram",
	},
	begins: []string{"kubelet_", buildInfo},
	other:  errNotKubelet,
}

// read parses the families that are wanted. All other lines are passed over unread: a
// kubelet has some ten thousand that matter to others.
func (x exposition) read(r io.Reader) (map[string]*dto.MetricFamily, error) {
	text, err := x.wantedLines(r)
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
func (x exposition) wantedLines(r io.Reader) (io.Reader, error) {
	var out bytes.Buffer
	for name, kind := range x.wanted {
		fmt.Fprintf(&out, "# TYPE %s %s\n", name, kind)
	}
	ours := false
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for lines.Scan() {
		line := lines.Bytes()
		ours = ours || slices.ContainsFunc(x.begins, func(b string) bool { return bytes.HasPrefix(line, []byte(b)) })
		name, isWanted := x.familyOf(line)
		if !isWanted || !bytes.Contains(line, []byte(x.within)) {
			continue
		}
		if len(line) > longestKept {
			return nil, fmt.Errorf("a line of %s is longer than %d KiB", name, longestKept>>10)
		}
		if out.Len() > mostKept {
			return nil, fmt.Errorf("more than %d KiB of what is looked for: no such program says so much", mostKept>>10)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return nil, errNotMetrics
	case lines.Err() == nil && !ours:
		return nil, x.other
	}
	return &out, lines.Err()
}

// familyOf returns the wanted family that a line belongs to.
func (x exposition) familyOf(line []byte) (name string, isWanted bool) {
	if end := bytes.IndexAny(line, "{ \t"); end >= 0 {
		line = line[:end]
	}
	name = string(line)
	if kind := x.wanted[name]; kind != "" {
		return name, true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if family, ok := strings.CutSuffix(name, suffix); ok {
			return family, x.wanted[family] == "histogram"
		}
	}
	return "", false
}
