package flags

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

func defaults(change func(*Options)) Options {
	o := Options{
		Timeout: 2 * time.Minute, Period: time.Second, Threshold: 3 * time.Minute,
		CheckTimeout: 2 * time.Second, Deadline: 20 * time.Second, Release: pleg.Newest,
	}
	change(&o)
	return o
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args string
		want func(*Options)
	}{
		{"", func(*Options) {}},
		{"--demo", func(o *Options) { o.Demo = "tour" }},
		{"--demo=quiet watch -o json", func(o *Options) { o.Demo, o.View, o.JSON = "quiet", Watch, true }},
		{"check --deadline 5s --check-timeout=1s", func(o *Options) { o.View, o.Deadline, o.CheckTimeout = Check, 5*time.Second, time.Second }},
		{"check --exit-codes=npd", func(o *Options) { o.View, o.NPD = Check, true }},
		{"--kubelet-version v1.33.4-gke.1", func(o *Options) { o.Release, o.ReleaseGiven = 33, true }},
		{"--relist-period 1s", func(o *Options) { o.PeriodGiven = true }},
		{"-n a -n b", func(o *Options) { o.Namespaces = []string{"a", "b"} }},
		{"--kubelet-metrics https://127.0.0.1:10250/metrics --kubelet-token-file /t", func(o *Options) {
			o.Kubelet = Kubelet{Metrics: "https://127.0.0.1:10250/metrics", TokenFile: "/t"}
		}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got, err := Parse(strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(defaults(tt.want), got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"chekc", `no view is called "chekc": want check, watch, version or none (see plegtop --help)`},
		{"check watch", `"watch": one view at a time`},
		{"--output xml", `--output "xml": want text or json`},
		{"check --exit-codes nagios", `--exit-codes "nagios": want plegtop or npd`},
		{"watch --exit-codes npd", "only check has them"},
		{"check --exit-codes npd -o json", "one line of text"},
		{"--timeout 0s", "must be more than 0"},
		{"check --deadline -1s", "--check-timeout and --deadline must be more than 0"},
		{"--kubelet-version 1.24", "want 1.25 to 1.37"},
		{"--demo -r /run/x.sock", "brings its own runtime"},
		{"--nope", "unknown flag"},
	} {
		_, err := Parse(strings.Fields(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
}

func TestHelp(t *testing.T) {
	if _, err := Parse([]string{"check", "--help"}); !errors.Is(err, ErrHelp) {
		t.Errorf("--help: %v, want ErrHelp", err)
	}
	for _, want := range []string{"plegtop [flags] check", "--deadline duration", "--kubelet-token-file file"} {
		if !strings.Contains(Usage(), want) {
			t.Errorf("usage lacks %q", want)
		}
	}
}
