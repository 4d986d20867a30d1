package lines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPluginConfig holds that node-problem-detector takes the config in docs,
// and leaves a check the time that it needs.
func TestPluginConfig(t *testing.T) {
	var c struct {
		Plugin       string `json:"plugin"`
		PluginConfig struct {
			Interval string `json:"invoke_interval"`
			Timeout  string `json:"timeout"`
			Longest  int    `json:"max_output_length"`
		} `json:"pluginConfig"`
		Conditions []struct{ Type string } `json:"conditions"`
		Rules      []struct {
			Type, Condition, Timeout string
			Args                     []string
		} `json:"rules"`
	}
	if err := json.Unmarshal(document(t, "npd/plegtop.json"), &c); err != nil {
		t.Fatal(err)
	}
	if c.Plugin != "custom" || len(c.Rules) != 1 || len(c.Conditions) != 1 || c.Rules[0].Condition != c.Conditions[0].Type || c.Rules[0].Type != "permanent" {
		t.Fatalf("config = %+v", c)
	}
	var deadline string
	for _, arg := range c.Rules[0].Args {
		if d, ok := strings.CutPrefix(arg, "--deadline="); ok {
			deadline = d
		}
	}
	spans := []string{deadline, c.Rules[0].Timeout, c.PluginConfig.Timeout, c.PluginConfig.Interval}
	if !slices.IsSortedFunc(spans, func(a, b string) int { return int(span(t, a) - span(t, b)) }) || span(t, spans[0]) == span(t, spans[1]) {
		t.Errorf("deadline, rule, timeout, interval = %v, each must leave room for the one before", spans)
	}
	if c.PluginConfig.Longest < npdLimit {
		t.Errorf("max_output_length = %d, a line has up to %d bytes", c.PluginConfig.Longest, npdLimit)
	}
}

func span(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDocsKnowTheSchema holds that docs/check.md has every finding and every
// field at the top of the object.
func TestDocsKnowTheSchema(t *testing.T) {
	var s struct {
		Properties map[string]any `json:"properties"`
		Defs       struct {
			ID struct{ Enum []string } `json:"id"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(document(t, "check.schema.json"), &s); err != nil {
		t.Fatal(err)
	}
	words := s.Defs.ID.Enum
	for field := range s.Properties {
		words = append(words, field)
	}
	if len(words) < 30 {
		t.Fatalf("the schema has only %v", words)
	}
	page := string(document(t, "check.md"))
	for _, w := range words {
		if !strings.Contains(page, "`"+w+"`") {
			t.Errorf("docs/check.md has no %q", w)
		}
	}
}

func document(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
