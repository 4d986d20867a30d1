package lines

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/diagnose"
)

func guide(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Each finding has a page, which says where it comes from, what checks it and what ends it.
func TestGuideHasEachFinding(t *testing.T) {
	var want, got []string
	for _, id := range diagnose.IDs() {
		want = append(want, string(id))
	}
	for _, topic := range topicsOf(guide(t)) {
		got = append(got, topic.id)
		has := func(label string) bool {
			return slices.ContainsFunc(topic.facts, func(f fact) bool { return f.label == label && f.text != "" })
		}
		if topic.meaning == "" || strings.Contains(topic.meaning, "\n") || !has("check") || !has("act") {
			t.Errorf("%s: %+v", topic.id, topic)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings in docs/guide.md (-those that there are +those that it has):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	const text = "# Guide\n\n`plegtop explain ID`\n\n## one\n\nWhat it [is](there.md).\n\n- Cause: a disk.\n- Check: `df -h`: full.\n\n## two\n\nOther.\n\n- Act: wait.\n"
	for _, tt := range []struct{ id, want, err string }{
		{"one", "one         What it is.\ncause       a disk.\ncheck       df -h: full.\n", ""},
		{"", "one         What it is.\n\ntwo         Other.\n", ""},
		{"ones", "", `no finding is called "ones"; did you mean one?`},
		{"xyz", "", `no finding is called "xyz"; plegtop explain lists all`},
	} {
		var out bytes.Buffer
		code, err := Explain(&out, text, tt.id, CheckOptions{})
		if (code == ExitCannotTell) != (tt.err != "") {
			t.Errorf("%q: exit code %d", tt.id, code)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || tt.err == "" && err != nil {
			t.Errorf("%q: error %v, want %q", tt.id, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.id, diff)
		}
	}
}
