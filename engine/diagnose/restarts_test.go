package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// A live engine and a single look report in the same way how often the runtime was away.
func TestRuntimeRestarts(t *testing.T) {
	crashes := evidence.Unit{Name: "containerd.service", State: "active", Restarts: 7, Up: 20 * time.Second}
	for _, tt := range []struct {
		name    string
		began   []time.Duration // how long ago its processes did
		watched time.Duration   // by plegtop
		boot    bool            // there is no shim that is older
		once    bool
		crio    bool
		unit    evidence.Unit
		outages int
		want    string // the summary; empty for nothing
		severe  Severity
	}{
		{name: "one restart that was seen", began: []time.Duration{20 * time.Second}, watched: time.Hour},
		{name: "two", began: []time.Duration{40 * time.Second, 20 * time.Second}, watched: time.Hour},
		{name: "three", began: []time.Duration{5 * time.Minute, 40 * time.Second, 20 * time.Second}, watched: time.Hour, severe: Warning,
			want: "containerd was away 3 times in the last 10 minutes, and began 20s ago"},
		{name: "some of long ago", began: []time.Duration{time.Hour, 11 * time.Minute, 20 * time.Second}, watched: 2 * time.Hour},
		{name: "it is over", began: []time.Duration{5 * time.Minute, 4 * time.Minute, 3 * time.Minute}, watched: time.Hour, severe: Info,
			want: "containerd was away 3 times in the last 10 minutes, and began 3m0s ago"},
		{name: "more calls found nobody", began: []time.Duration{20 * time.Second}, watched: time.Hour, outages: 4, severe: Warning,
			want: "containerd was away 4 times in the last 10 minutes, and began 20s ago"},
		{name: "check", began: []time.Duration{20 * time.Second}, once: true, severe: Info,
			want: "containerd was away at least once in the last 10 minutes, and began 20s ago"},
		{name: "the screen, begun as late", began: []time.Duration{20 * time.Second}, severe: Info,
			want: "containerd was away at least once in the last 10 minutes, and began 20s ago"},
		{name: "check of one that systemd begins again and again", began: []time.Duration{20 * time.Second}, once: true, unit: crashes, severe: Warning,
			want: "containerd was away at least once in the last 10 minutes, and began 20s ago"},
		{name: "long after that", began: []time.Duration{2 * time.Minute}, once: true, unit: crashes},
		{name: "check of CRI-O, whose conmons do not show whose they are", began: []time.Duration{20 * time.Second}, once: true, crio: true, severe: Info,
			want: "crio was away at least once in the last 10 minutes, and began 20s ago"},
		{name: "after a boot", began: []time.Duration{20 * time.Second}, once: true, boot: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := healthy(3)
			n.Started, n.Policy.Once = ago(tt.watched), tt.once
			in := n.input()
			r := looked(n)
			r.Processes.Daemons[0].Unit, r.Services = "containerd.service", []evidence.Unit{tt.unit}
			program := "containerd"
			if tt.crio {
				onCRIO(n, r)
				in.Snapshot, in.Endpoint, program = &n.Snapshot, "unix:///var/run/crio/crio.sock", "crio"
				r.Processes.Daemons[0].Command, r.Processes.Daemons[0].Unit = "crio", "crio.service"
			}
			if tt.boot {
				for i := range r.Processes.Shims {
					r.Processes.Shims[i].Age = time.Second
				}
			}
			for i, at := range tt.began {
				pid := r.Processes.Daemons[0].PID - len(tt.began) + 1 + i
				n.Memory.Starts = append(n.Memory.Starts, past.Start{Command: program, PID: pid, At: ago(at)})
			}
			for i := range tt.outages {
				n.Memory.Outages.Times = append(n.Memory.Outages.Times, past.Outage{At: ago(5*time.Minute - time.Duration(i)*time.Second)})
			}
			in.Evidence = r
			v, found := factsOf(in), Diagnose(in)
			h := v.headline(found)
			if tt.want == "" {
				if len(found) > 0 || h.Severity != Info {
					t.Errorf("headline %+v, found %s", h, gist(found))
				}
				return
			}
			if len(found) != 1 || found[0].ID != RuntimeRestarts || found[0].Severity != tt.severe || found[0].Summary != tt.want {
				t.Fatalf("found %+v, want %q", found, tt.want)
			}
			if warns := tt.severe == Warning; warns != (h.Word == "AT RISK" && h.Text == readyNow+tt.want) || h.Severity != tt.severe {
				t.Errorf("headline %+v", h)
			}
			if again := strings.Contains(found[0].act().Text, "a restart alone has not helped"); again != (v.timesAway() >= answers.Outages) {
				t.Errorf("away %d times: %s", v.timesAway(), found[0].act().Text)
			}
			if said := strings.Join(found[0].Evidence, "\n"); tt.unit.Restarts > 0 != strings.Contains(said, "restarted 7 times by systemd") {
				t.Errorf("evidence %q", said)
			}
		})
	}
}

// A disk that is full now may have become full after the one start that plegtop knows. It explains a runtime that does
// not stay up.
func TestAFullDiskExplainsNoStartBeforeIt(t *testing.T) {
	for times, want := range map[int]ID{1: "", answers.Outages + 1: DiskFull} {
		n := checked(3)
		n.Started = ago(time.Second)
		r := looked(n)
		fillDisk(r)
		for i := range times {
			at := time.Duration(times-i) * 15 * time.Second
			n.Memory.Starts = append(n.Memory.Starts, past.Start{Command: "containerd", PID: 1000 + i, At: ago(at)})
		}
		in := n.input()
		in.Evidence = r
		if f := findingOf(t, Diagnose(in), RuntimeRestarts); f.Cause != want {
			t.Errorf("%d starts: %s because of %q, want %q", times, f.Summary, f.Cause, want)
		}
	}
}
