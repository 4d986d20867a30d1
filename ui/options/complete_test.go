package options

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testNames = Known{Findings: []string{"list-hung", "list-too-big"}, Namespaces: func() []string { return []string{"kube-system", "shop"} }}

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		words string
		want  []string
		files bool
	}{
		{"che", []string{"check"}, false},
		{"--demo=hung-i", []string{"--demo=hung-inspect"}, false},
		{"--theme li", []string{"light"}, false},
		{"--theme=li", []string{"--theme=light"}, false},
		{"-n sh", []string{"shop"}, false},
		{"check --exit-c", []string{"--exit-codes"}, false},
		{"check --exit-codes ", []string{"plegtop", "npd"}, false},
		{"explain list-t", []string{"list-too-big"}, false},
		{"--events=c", []string{"--events=cri", "--events=cgroup"}, false},
		{"--replay ", nil, true},
		{"--replay=x", nil, true},
		{"check ", nil, false},
		{"--kubelet-version 1.2", []string{"1.25", "1.26", "1.27", "1.28", "1.29"}, false},
		{"--demo ch", []string{"check"}, false}, // its value needs an equals sign
	} {
		got, files := complete(strings.Split(tt.words, " "), testNames)
		if diff := cmp.Diff(tt.want, got); diff != "" || files != tt.files {
			t.Errorf("%q: files %v (-want +got):\n%s", tt.words, files, diff)
		}
	}
	if all, _ := complete(nil, testNames); !slices.Equal(all, views) {
		t.Errorf("nothing: %q", all)
	}
	for words, want := range map[string]string{"che": "check\n", "--replay ": ":files\n", "check ": ""} {
		if got := Complete(strings.Split(words, " "), testNames); got != want {
			t.Errorf("%q: a shell reads %q, want %q", words, got, want)
		}
	}
}

// What a shell offers as a value is one.
func TestCompletedValuesAreTaken(t *testing.T) {
	offered := 0
	for _, g := range (&Options{}).groups() {
		for _, f := range g.flags {
			values, _ := f.values(testNames)
			for _, v := range values {
				offered++
				if err := f.set(v); err != nil {
					t.Errorf("--%s=%s: %v", f.name, v, err)
				}
			}
		}
	}
	if offered < 50 {
		t.Errorf("%d values", offered)
	}
}

// The manual page has each flag and each way to call plegtop, and no line that roff takes for a
// command of its own.
func TestManual(t *testing.T) {
	page, err := Completion("man")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range new(Options).groups() {
		for _, f := range g.flags {
			if !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.name, "-", `\-`)) {
				t.Errorf("no --%s", f.name)
			}
		}
	}
	known := []string{".TH ", ".SH ", ".SS ", ".TP", ".B ", ".BR "}
	for line := range strings.Lines(page) {
		is := func(c string) bool { return strings.HasPrefix(line, c) }
		if (is(".") || is("'")) && !slices.ContainsFunc(known, is) {
			t.Errorf("line %q", line)
		}
	}
	if _, err := Completion("tcsh"); err == nil || !strings.Contains(err.Error(), "want bash, zsh, fish or man") {
		t.Errorf("tcsh: %v", err)
	}
}
