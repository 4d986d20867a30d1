package ui

import (
	"cmp"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
)

// Findings is what a diagnosis makes of the hung and the unhealthy node: a
// cause, two effects of it and something else, as Diagnose orders them.
func Findings() []diagnose.Finding {
	ref := Find(Healthy(), "nfs-client").PodRef
	crash := Find(Healthy(), "payments-6c8f9d7b5-t8wfx").PodRef
	return []diagnose.Finding{
		{
			ID: diagnose.InspectHung, Severity: diagnose.Critical,
			Summary: "ContainerStatus of default/nfs-client/app: no reply for 47s while 5 other calls answer within 2ms; unhealthy in 2m13s",
			Subject: diagnose.Subject{Operation: "ContainerStatus", ObjectRef: pleg.ObjectRef{ID: ID("app", "default", "nfs-client") + ID("more"), Pod: ref, Container: "app"}},
			Evidence: []string{
				"ContainerStatus: no reply for 47s of 2m; it is given up in 1m13s and tried again at once, by the kubelet too",
				"these still answer: Version 0.4ms, Status 1ms, ContainerStatus of kube-system/kube-proxy-lx9d2 kube-proxy 2ms",
				"process 41123 (app) is in uninterruptible sleep (D) for 3m4s in nfs_wait_bit_killable",
			},
			Next: []diagnose.Step{
				{Kind: diagnose.Look, Text: "see whether it hangs for crictl too; ^c ends it", Command: "timeout 5 crictl inspect " + ID("app", "default", "nfs-client") + ID("more")},
				{Kind: diagnose.Look, Text: "look for the mount that does not answer", Command: "grep -E ' (nfs4?|cifs|fuse[^ ]*) ' /proc/41123/mountinfo"},
				{Text: "ends the shim", Command: "kill -9 41100", Kind: diagnose.Act, Risk: "kill the shim of this one pod; its containers die and are started again", Scope: "pod"},
			},
		},
		{
			ID: diagnose.CrashLoop, Severity: diagnose.Warning,
			Summary:  "shop/payments-6c8f9d7b5-t8wfx payments has died 5 times in 9m, the last time with 137 (OOMKilled)",
			Subject:  diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: crash, Container: "payments"}},
			Evidence: []string{"exit codes 137, 137, 137, 137, 137; 108s apart"},
		},
		{
			ID: diagnose.PLEGUnhealthy, Severity: diagnose.Critical, Cause: diagnose.InspectHung,
			Summary: "PLEG has been unhealthy for 12s: pleg was last seen active 3m12.481s ago; threshold is 3m0s",
		},
		{
			ID: diagnose.EventsDiscarded, Severity: diagnose.Warning, Cause: diagnose.InspectHung,
			Summary: "12 events of 3 pods were discarded: the channel of 1000 is full while the sync loop stands still",
		},
	}
}

// HeadlineOf is a headline such as a diagnosis gives.
func HeadlineOf(s *engine.Snapshot, found []diagnose.Finding) diagnose.Headline {
	clock := diagnose.Clock{What: "NotReady", In: s.Threshold - s.Health.ListAge(s.At)}
	if s.Health.Verdict != "" {
		clock = diagnose.Clock{}
	}
	words := map[diagnose.ID]string{diagnose.InspectHung: "INSPECTION HANGS", diagnose.ListHung: "LISTS HANG", diagnose.RuntimeDown: "RUNTIME DOWN"}
	switch {
	case s.Paused:
		return diagnose.Headline{Word: "PAUSED", Text: "the last look was " + text.Age(s.Health.ListAge(s.At)) + " ago"}
	case len(found) > 0 && found[0].Severity == diagnose.Critical:
		return diagnose.Headline{Word: cmp.Or(words[found[0].ID], "UNHEALTHY"), Severity: diagnose.Critical, Text: found[0].Summary, Clock: clock}
	case s.Failure != nil:
		return diagnose.Headline{Word: "LISTS FAIL", Severity: diagnose.Critical, Text: s.Failure.Err.Error(), Clock: clock}
	case s.Health.ListedAt.IsZero():
		return diagnose.Headline{Word: "NO LIST YET"}
	case s.Health.Verdict != "":
		return diagnose.Headline{Word: "UNHEALTHY", Severity: diagnose.Critical}
	case s.Health.ListAge(s.At) > 10*time.Second:
		return diagnose.Headline{Word: "AT RISK", Severity: diagnose.Warning, Clock: clock}
	}
	if len(found) > 0 && found[0].Severity == diagnose.Warning {
		return diagnose.Headline{Word: "HEALTHY", Text: "1 warning, the first " + string(found[0].ID)}
	}
	return diagnose.Headline{Word: "HEALTHY"}
}

// HostileFindings have hostile text in every field.
func HostileFindings() []diagnose.Finding {
	all := Findings()
	for i := range all {
		f := &all[i]
		f.Summary, f.Evidence = Nasty+Long, []string{Nasty, Long}
		f.Subject = diagnose.Subject{Operation: Nasty, ObjectRef: pleg.ObjectRef{ID: Nasty, Pod: pleg.PodRef{UID: Nasty, Namespace: Long, Name: Nasty}, Container: Long}}
		f.Next = []diagnose.Step{{Kind: diagnose.Look, Text: Nasty, Command: Nasty}, {Text: Long, Command: Long, Kind: diagnose.Act, Risk: Long, Scope: "pod"}}
		f.Chain = []diagnose.Link{{Name: Nasty}, {Kind: waits.Container, ID: Nasty, Name: Long, Proof: Nasty}, {Name: Nasty, Proof: Long, Cut: &f.Next[0]}, {Kind: Nasty}}
	}
	return all
}

// WithNode gives s what a kubelet on its node would say.
func WithNode(s *engine.Snapshot) *engine.Snapshot {
	s.Node = kubelet.Node{
		Ready: true, Known: true, Reason: "KubeletReady", Message: "kubelet is posting ready status",
		Since: s.Started, SyncedAt: Ago(2 * time.Second), DownAt: Noon.Add(28 * time.Second),
	}
	return s
}

// Ill is a node whose runtime answers Status no more.
func Ill() *engine.Snapshot {
	s := Unhealthy()
	s.Node = kubelet.Node{
		Known: true, Reason: "KubeletNotReady", Since: Ago(12 * time.Second),
		Message:     "[container runtime is down, PLEG is not healthy: pleg was last seen active 3m12.481s ago; threshold is 3m0s]",
		RuntimeDown: "container runtime is down", PLEG: "PLEG is not healthy: pleg was last seen active 3m12.481s ago; threshold is 3m0s",
		SyncedAt: Ago(42 * time.Second), DownAt: Ago(12 * time.Second), LoopStopped: Ago(12 * time.Second), LoopNap: 5 * time.Second, HealthzAt: Noon.Add(288 * time.Second),
	}
	return s
}

// Looked is a look at a node with a kubelet.
func Looked() evidence.Report {
	return evidence.Report{
		At: Ago(3 * time.Second), Took: 41 * time.Millisecond,
		Usage: []evidence.Usage{
			{Name: "containerd", PID: 812, CPU: 0.034, Memory: 71 << 20, Threads: 38},
			{Name: "kubelet", PID: 901, CPU: 0.021, Memory: 94 << 20, Threads: 22},
			{Name: "plegtop", PID: 40112, CPU: -1, Memory: 21 << 20, Threads: 11},
		},
		Pressure: evidence.Pressure{CPU: evidence.Stall{Some10: 4.2, Some60: 3.1}, IO: evidence.Stall{Some10: 61.5, Some60: 40.2, Full10: 55.1, Full60: 37}},
		Disk:     evidence.Disk{Path: "/var/lib/containerd", Total: 100 << 30, Free: 7 << 30, Inodes: 6_553_600, InodesUnused: 6_120_000},
		Clock:    evidence.Clock{Watched: 5 * time.Minute},
		Kubelet: evidence.Kubelet{
			Version:  "v1.36.1",
			Ping:     evidence.Answer{Asked: true, OK: true, Text: "ok", Took: 2 * time.Millisecond},
			Health:   evidence.Answer{Asked: true, OK: true, Text: "ok", Took: 3 * time.Millisecond},
			SyncLoop: evidence.Answer{Asked: true, OK: true, Text: "ok", Took: 3 * time.Millisecond},
			Metrics:  evidence.Answer{Asked: true, OK: true, Took: 31 * time.Millisecond},
			Relist:   evidence.Timing{Count: 71_204, Mean: 15 * time.Millisecond},
			Interval: evidence.Timing{Count: 71_203, Mean: 1003 * time.Millisecond}, LastSeen: Ago(4 * time.Second), Discarded: 3,
		},
	}
}

// LookedInVain is a look at a node from where nothing is to be seen.
func LookedInVain() evidence.Report {
	return evidence.Report{
		At: Ago(time.Second), Took: 2 * time.Second,
		Processes: evidence.Processes{Missing: "not Linux"}, Pressure: evidence.Pressure{Missing: "no /proc/pressure"}, Disk: evidence.Disk{Missing: "no such folder"},
		Kubelet: evidence.Kubelet{Ping: evidence.Answer{Asked: true, Err: "not available: connection refused"}, Metrics: evidence.Answer{Asked: true, TimedOut: true, Took: 2 * time.Second, Err: "no answer in 2s"}},
	}
}

// Probed is the hung node with the calls that still answer, and a sweep.
func Probed(w *answers.Sweep) *engine.Snapshot {
	s := Hung()
	other := Find(s, "kube-proxy-lx9d2").PodRef
	s.Probes = []answers.Outcome{
		{Flight: call.Flight{By: call.ByProbe, Op: call.Version}, At: Ago(time.Second), Took: 400 * time.Microsecond},
		{Flight: call.Flight{By: call.ByProbe, Op: call.Status}, At: Ago(time.Second), Took: time.Millisecond},
		{Flight: call.Flight{By: call.ByProbe, Op: call.PodSandboxStatus, Pod: other, Since: Ago(time.Second)}},
		{Flight: call.Flight{By: call.ByProbe, Op: call.ContainerStatus, Pod: other, Container: "kube-proxy"}, At: Ago(time.Second), Took: 2 * time.Millisecond},
	}
	s.Sweep = w
	return s
}

// SweepOf is a sweep of 330 objects of which done were asked for.
func SweepOf(done int, hung bool) *answers.Sweep {
	w := &answers.Sweep{Began: Ago(4 * time.Second), Width: 4, Timeout: 2 * time.Second, Total: 330, Done: done}
	ref := Find(Healthy(), "nfs-client").PodRef
	if hung {
		w.Hung = []answers.Outcome{{Flight: call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: ref, Container: "app"}, Took: w.Timeout}}
	}
	w.Slowest = []answers.Outcome{{Flight: call.Flight{By: call.BySweep, Op: call.PodSandboxStatus, Pod: ref}, Took: 31 * time.Millisecond}}
	if done == w.Total {
		w.Ended = Ago(time.Second)
	}
	return w
}

// Streamed is the healthy node with event sources: one that is well, and one that has lost
// its stream.
func Streamed() *engine.Snapshot {
	s := Healthy()
	s.Sources = []sources.SourceState{
		{Source: sources.FromCRI, State: sources.StreamConnected, Since: Ago(4 * time.Minute), Received: 1024, Backlog: 12, Unknown: 3, LastAt: Ago(12 * time.Second), LastErr: "Unavailable: the runtime was started again"},
		{Source: sources.FromCgroup, State: sources.StreamLost, Since: Ago(3 * time.Second), Reason: "too many open files", NextAt: Noon.Add(2 * time.Second), Tries: 3, Received: 407, Lost: 9, LastAt: Ago(30 * time.Second), LastErr: "too many open files", BadClock: "an hour ahead"},
	}
	s.SourceChanges = []sources.SourceChange{
		{Seq: 1, At: Ago(time.Hour), Source: sources.FromCgroup, State: sources.StreamRefused, Reason: "not permitted: run as root"},
		{Seq: 2, At: Ago(59 * time.Minute), Source: sources.FromCRI, State: sources.StreamConnected},
		{Seq: 3, At: Ago(5 * time.Minute), Source: sources.FromCRI, State: sources.StreamLost, Reason: "Unavailable: the runtime was started again"},
		{Seq: 4, At: Ago(4 * time.Minute), Source: sources.FromCRI, State: sources.StreamConnected},
		{Seq: 5, At: Ago(3 * time.Second), Source: sources.FromCgroup, State: sources.StreamLost, Reason: "too many open files"},
	}
	s.Drift = []sources.Drift{
		{Source: sources.FromCRI, Transitions: 412, Both: 391, MissedByRelist: 14, MissedBySource: 7, Duplicates: 2, Late: 5, LeadP50: 480 * time.Millisecond, LeadP99: -20 * time.Millisecond},
		{Source: sources.FromCgroup, Transitions: 399, Both: 380, MissedByRelist: 14, MissedBySource: 5, LeadP50: 475 * time.Millisecond, LeadP99: 11 * time.Millisecond},
	}
	s.UnseenMore = 41
	s.Mode = sources.ModeState{Ignored: 1024}
	s.Calls = append(s.Calls, answers.Calls{Op: call.GetContainerEvents, Count: 1, InFlight: 1, ResponseBytes: 96 << 10})
	return s
}

// FellBack is the same where the kubelet's evented mode was asked for, and its stream did
// not last.
func FellBack() *engine.Snapshot {
	s := Streamed()
	s.Mode = sources.ModeState{Mode: pleg.Generic, Asked: pleg.Evented, Reason: "the stream failed five times: Unavailable: connection refused", Attempts: 5, Asks: 31, Ignored: 4}
	s.Sources[0].State, s.Sources[0].Reason = sources.StreamFellBack, "five attempts failed"
	return s
}

// StreamEvents are the [Events] of a node with event sources: two were seen by them before
// the relist, one after it; and one each that no relist has seen, that nobody knows, and
// that is derived.
func StreamEvents(s *engine.Snapshot) []engine.Event {
	all := Events(s)
	seen := func(e *engine.Event, from sources.Source, lead time.Duration) {
		relist := e.SeenAt
		e.Seen = &sources.Sightings{}
		e.Seen.At[sources.FromRelist] = relist
		e.Seen.At[from] = relist.Add(-lead)
		_, e.SeenAt = e.Seen.First()
		e.Lag -= relist.Sub(e.SeenAt)
	}
	for i := range all {
		all[i].Seen = &sources.Sightings{}
		all[i].Seen.At[sources.FromRelist] = all[i].SeenAt
	}
	seen(&all[2], sources.FromCRI, 470*time.Millisecond)
	seen(&all[3], sources.FromCRI, 620*time.Millisecond)
	all[3].Seen.At[sources.FromCgroup] = all[3].SeenAt.Add(-4 * time.Millisecond)
	_, all[3].SeenAt = all[3].Seen.First()
	seen(&all[4], sources.FromCRI, -35*time.Millisecond)
	pay := Find(s, "payments-6c8f9d7b5-t8wfx")
	short := Happened(9, 54, pleg.Died, pay, "migrate", pleg.Running, pleg.Exited)
	short.Delivery, short.Exited, short.ExitCode, short.HasLag = pleg.Unseen, true, 3, false
	short.Seen = &sources.Sightings{}
	short.Seen.At[sources.FromCRI], short.At = short.SeenAt, short.SeenAt
	nobodys := short
	nobodys.Seq, nobodys.Pod, nobodys.Container, nobodys.ID = 10, pleg.PodRef{}, "", ID("nobody knows it")
	nobodys.SeenAt, nobodys.Exited, nobodys.ExitCode = Ago(5*time.Second), false, 0
	nobodys.Seen = &sources.Sightings{}
	nobodys.Seen.At[sources.FromCgroup], nobodys.At = nobodys.SeenAt, nobodys.SeenAt
	up := Happened(11, 57, pleg.NetworkSetUp, pay, "", pleg.Absent, pleg.Running)
	up.Delivery = pleg.Derived
	return append(all, short, nobodys, up)
}
