package metrics

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/quantile"
	"github.com/plegtop/plegtop/engine/sources"
)

// A metric is one that is exported. What is about a moment is absent while there is no such
// moment: nobody takes the age of a zero.
type metric struct {
	name, help string
	counts     bool // only grows
	labels     []string
	bounds     []float64 // of a histogram; nil for what is none
	of         func(u *diagnose.Update, give *samples)
}

// table is every metric that follows from an update. docs/serve.md has the same list.
var table = slices.Concat(nodeMetrics, plegMetrics, callMetrics, objectMetrics)

// nodeMetrics are about the node as a whole.
var nodeMetrics = []metric{{
	name: "plegtop_snapshot_timestamp_seconds", help: "When what is told here was seen.",
	of: func(u *diagnose.Update, give *samples) { give.at(u.Snapshot.At) },
}, {
	name: "plegtop_runtime_info", help: "The runtime, once it has told its version.", labels: []string{"name", "version", "api_version"},
	of: func(u *diagnose.Update, give *samples) {
		if v := u.Snapshot.Version; v.RuntimeName != "" {
			give.value(1, v.RuntimeName, v.RuntimeVersion, v.APIVersion)
		}
	},
}, {
	name: "plegtop_kubelet_info", help: "The node's kubelet (version is empty where it does not tell) and the release whose relist is made here.", labels: []string{"version", "relist"},
	of: func(u *diagnose.Update, give *samples) {
		version := ""
		if e := u.Snapshot.Evidence; e != nil {
			version = e.Kubelet.Version
		}
		give.value(1, version, u.Snapshot.Release.String())
	},
}, {
	name: "plegtop_headline_info", help: "The word of the headline, and what that makes of the node.", labels: []string{"word", "node"},
	of: func(u *diagnose.Update, give *samples) { give.value(1, u.Headline.Word, u.Headline.Node) },
}, {
	name: "plegtop_headline_severity", help: "How bad the headline is: 0 info, 1 warning, 2 critical.",
	of: func(u *diagnose.Update, give *samples) { give.value(float64(u.Headline.Severity)) },
}, {
	name: "plegtop_headline_clock_timestamp_seconds", help: "When what the headline counts down to comes at the soonest; absent if nothing is to come.", labels: []string{"what"},
	of: func(u *diagnose.Update, give *samples) {
		if c := u.Headline.Clock; c.What != "" {
			give.at(u.Snapshot.At.Add(c.In), c.What)
		}
	},
}, {
	name: "plegtop_findings", help: "Findings that hold now, by id and severity; role is cause, or effect of another finding. Absent if none holds.", labels: []string{"id", "severity", "role"},
	of: func(u *diagnose.Update, give *samples) {
		for _, f := range u.Findings {
			give.add(1, string(f.ID), f.Severity.String(), role(f))
		}
	},
}, {
	name: "plegtop_finding_start_timestamp_seconds", help: "Since when the oldest finding of an id holds, as far as the calls tell.", labels: []string{"id"},
	of: func(u *diagnose.Update, give *samples) {
		for _, f := range u.Findings {
			give.at(f.Since, string(f.ID))
		}
	},
}, {
	name: "plegtop_node_ready", help: "Whether a kubelet that sees the same posts Ready: 1 or 0. Absent until that is known.",
	of: func(u *diagnose.Update, give *samples) {
		if n, _ := diagnose.NodeReady(u.Snapshot); n.Known {
			give.truth(n.Ready)
		}
	},
}, {
	name: "plegtop_node_not_ready_timestamp_seconds", help: "When NotReady is posted at the soonest if nothing changes; absent if that is not to come.",
	of: func(u *diagnose.Update, give *samples) {
		if next := u.Snapshot.Node.Next; !next.Ready {
			give.at(next.From)
		}
	},
}, {
	name: "plegtop_ready_check_level", help: "What Ready depends on, as it stands: 0 unknown, 1 well, 2 late, 3 ill.", labels: []string{"check"},
	of: checks(func(l diagnose.HealthLink, check string, give *samples) { give.value(float64(l.Level), check) }),
}, {
	name: "plegtop_ready_check_since_timestamp_seconds", help: "Of status and pleg the last good answer, of the others since when they stand so.", labels: []string{"check"},
	of: checks(func(l diagnose.HealthLink, check string, give *samples) { give.at(l.Since, check) }),
}, {
	name: "plegtop_ready_check_limit_seconds", help: "How long a check may stay as it is; absent where no clock runs.", labels: []string{"check"},
	of: checks(func(l diagnose.HealthLink, check string, give *samples) {
		if l.Limit > 0 {
			give.value(l.Limit.Seconds(), check)
		}
	}),
}, {
	name: "plegtop_ready_check_deadline_timestamp_seconds", help: "When a check that is not well fails if nothing changes; absent if it will not.", labels: []string{"check"},
	of: checks(func(l diagnose.HealthLink, check string, give *samples) {
		if !l.Ends && l.Level != diagnose.HealthWell {
			give.at(l.Until, check)
		}
	}),
}}

// plegMetrics are about relists, and what these see and miss.
var plegMetrics = []metric{{
	name: "plegtop_pleg_healthy", help: "The kubelet's verdict on its PLEG: 1 or 0.",
	of: func(u *diagnose.Update, give *samples) { give.truth(u.Snapshot.Health.Healthy) },
}, {
	name: "plegtop_pleg_last_seen_timestamp_seconds", help: "Start of the last relist whose lists succeeded, as kubelet_pleg_last_seen_seconds.",
	of: func(u *diagnose.Update, give *samples) { give.at(u.Snapshot.Health.ListedAt) },
}, {
	name: "plegtop_pleg_last_settled_timestamp_seconds", help: "End of the last relist in which no inspection failed.",
	of: func(u *diagnose.Update, give *samples) { give.at(u.Snapshot.Health.SettledAt) },
}, {
	name: "plegtop_pleg_threshold_seconds", help: "Age of the last good list beyond which PLEG is unhealthy.",
	of: func(u *diagnose.Update, give *samples) { give.value(u.Snapshot.Threshold.Seconds()) },
}, {
	name: "plegtop_relist_duration_seconds", help: "How long relists took, with the kubelet's buckets and some up to 240 s.", bounds: quantile.RelistBounds,
	of: func(u *diagnose.Update, give *samples) { give.distribution(u.Snapshot.Relists.Histogram) },
}, {
	name: "plegtop_relist_failures_total", help: "Relists whose lists failed.", counts: true,
	of: func(u *diagnose.Update, give *samples) { give.value(float64(u.Snapshot.Relists.Failed)) },
}, {
	name: "plegtop_relist_start_timestamp_seconds", help: "Start of the relist that is under way; absent between two relists.",
	of: func(u *diagnose.Update, give *samples) {
		if p := u.Snapshot.Phase; p.Step == engine.Listing || p.Step == engine.Inspecting {
			give.at(p.Began)
		}
	},
}, {
	name: "plegtop_relist_phase", help: "What the relist does: 1 of wait, list, inspect and paused, 0 of the others.", labels: []string{"phase"},
	of: func(u *diagnose.Update, give *samples) {
		for step := engine.Waiting; step <= engine.Stopped; step++ {
			give.truth(step == u.Snapshot.Phase.Step, strings.ToLower(step.String()))
		}
	},
}, {
	name: "plegtop_events_total", help: "PLEG events that the kubelet's channel delivered, filtered or discarded.", counts: true, labels: []string{"delivery"},
	of: func(u *diagnose.Update, give *samples) {
		c := u.Snapshot.Channel
		give.value(float64(c.Delivered), "delivered")
		give.value(float64(c.Filtered), "filtered")
		give.value(float64(c.Discarded), "discarded")
	},
}, {
	name: "plegtop_event_source_connected", help: "Whether an event source that was asked for is connected: 1 or 0.", labels: []string{"source"},
	of: func(u *diagnose.Update, give *samples) {
		for _, s := range u.Snapshot.Sources {
			if s.State != sources.StreamOff {
				give.truth(s.State == sources.StreamConnected, s.Source.String())
			}
		}
	},
}, {
	name: "plegtop_event_source_lost_total", help: "Events of a source that came too fast to be looked at.", counts: true, labels: []string{"source"},
	of: func(u *diagnose.Update, give *samples) {
		for _, s := range u.Snapshot.Sources {
			if s.State != sources.StreamOff {
				give.value(float64(s.Lost), s.Source.String())
			}
		}
	},
}, {
	name: "plegtop_event_transitions", help: "Starts, ends and removals since the start, by who saw them: both, relist (the source missed it) or source (the relist missed it). A late word takes an earlier one back.", labels: []string{"source", "seen_by"},
	of: func(u *diagnose.Update, give *samples) {
		for _, d := range u.Snapshot.Drift {
			give.value(float64(d.Both), d.Source.String(), "both")
			give.value(float64(d.MissedBySource), d.Source.String(), "relist")
			give.value(float64(d.MissedByRelist), d.Source.String(), "source")
		}
	},
}}

// callMetrics are about the calls to the runtime.
var callMetrics = []metric{{
	name: "plegtop_runtime_operations_duration_seconds", help: "How long calls took that have returned, with the kubelet's buckets and some from 30 to 240 s.", bounds: quantile.CallBounds, labels: []string{"operation"},
	of: calls(func(c answers.Calls, give *samples) { give.distribution(c.Histogram, c.Op.String()) }),
}, {
	name: "plegtop_runtime_operations_errors_total", help: "Calls that failed, by the code of gRPC.", counts: true, labels: []string{"operation", "code"},
	of: calls(func(c answers.Calls, give *samples) {
		for _, by := range c.ByCode {
			give.value(float64(by.Count), c.Op.String(), by.Code)
		}
	}),
}, {
	name: "plegtop_runtime_operations_response_bytes_total", help: "Bytes of the answers.", counts: true, labels: []string{"operation"},
	of: calls(func(c answers.Calls, give *samples) { give.value(float64(c.ResponseBytes), c.Op.String()) }),
}, {
	name: "plegtop_runtime_operations_in_flight", help: "Calls that have not returned yet.", labels: []string{"operation"},
	of: calls(func(c answers.Calls, give *samples) { give.value(float64(c.InFlight), c.Op.String()) }),
}, {
	name: "plegtop_runtime_operations_oldest_start_timestamp_seconds", help: "Start of the oldest call that has not returned yet; absent if none is out.", labels: []string{"operation"},
	of: func(u *diagnose.Update, give *samples) {
		for _, f := range u.Snapshot.InFlight {
			give.at(f.Since, f.Op.String())
		}
	},
}}

// objectMetrics are about what the runtime has.
var objectMetrics = []metric{{
	name: "plegtop_pods", help: "Pods by their state, as the pane of pods says it.", labels: []string{"state"},
	of: func(u *diagnose.Update, give *samples) {
		for _, word := range diagnose.PodWords() {
			give.add(0, word)
		}
		for _, p := range u.Standings() {
			give.add(1, p.Word())
		}
	},
}, {
	name: "plegtop_sandboxes", help: "Sandboxes that are listed.",
	of: func(u *diagnose.Update, give *samples) { give.value(float64(u.Snapshot.Counts.Sandboxes)) },
}, {
	name: "plegtop_containers", help: "Containers that are listed, by their state.", labels: []string{"state"},
	of: func(u *diagnose.Update, give *samples) {
		c := u.Snapshot.Counts
		give.value(float64(c.Created), "created")
		give.value(float64(c.Running), "running")
		give.value(float64(c.Exited), "exited")
		give.value(float64(c.Unknown), "unknown")
	},
}}

// checkNames are the links of the chain to Ready, in its order.
var checkNames = [...]string{
	diagnose.HealthStatus: "status", diagnose.HealthPLEG: "pleg", diagnose.HealthNetwork: "network",
	diagnose.HealthLoop: "sync-loop", diagnose.HealthProbe: "healthz", diagnose.HealthReady: "ready",
}

// checks returns what gives a value of each link of the chain to Ready.
func checks(of func(l diagnose.HealthLink, check string, give *samples)) func(*diagnose.Update, *samples) {
	return func(u *diagnose.Update, give *samples) {
		for part, name := range checkNames {
			of(diagnose.HealthOf(u.Snapshot, diagnose.HealthPart(part)), name, give)
		}
	}
}

// calls returns what gives a value of each operation, but of the stream of events, which is to last.
func calls(of func(c answers.Calls, give *samples)) func(*diagnose.Update, *samples) {
	return func(u *diagnose.Update, give *samples) {
		for _, c := range u.Snapshot.Calls {
			if c.Op != call.GetContainerEvents {
				of(c, give)
			}
		}
	}
}

func role(f diagnose.Finding) string {
	if f.Cause != "" {
		return "effect"
	}
	return "cause"
}
