package sim

import "time"

// soonAfter is when it goes wrong in scenarios that show a healthy node first.
const soonAfter = 5 * time.Second

// scenarios returns the one list of them, and of the faults; the default is first.
func scenarios() []scenario {
	return []scenario{
		{
			name: "tour", summary: "all that pods do, in a minute: rolling update, crash loop, job, OOM kill, new sandbox, deletion",
			keys: "2 enter: an event; H: its way; D P: freeze the world; D s: one step", pods: placeTour, steps: tourSteps, cycle: tourCycle,
		},
		{
			name: "quiet", summary: "110 pods of 2 containers, and nothing happens", keys: "enter: a pod; /: filter; D a: something happens",
			bare: true, pods: still(110, 2),
			steps: []step{{caption: caption{What: "110 pods run. Nothing changes.", Watch: "Each relist makes two calls, and no pod is inspected."}}},
		},
		{name: "crashloop", wrong: "a dozen pods that keep crashing", fault: crashPods},
		{
			name: "slow", keys: "3: calls and how long they take", pods: tour,
			wrong: "every call takes 300 ms longer", fault: calls(Rule{Delay: 300 * time.Millisecond}),
			watch: "Relists take longer. Events come late.",
		},
		{
			name: "hung-inspect", keys: "] enter: the pod whose call hangs; 4 enter: what to do next", pods: tour,
			wrong: "the status call of one container never answers", fault: toVictim(hangInspect), at: soonAfter,
			watch: "Each relist waits 2 min for it. No event comes. The node stays Ready.",
		},
		{name: "hung-list", wrong: "ListContainers never answers", fault: hang(Match{Method: "ListContainers"})},
		{
			name:  "runtime-down",
			wrong: "nothing listens on the socket", fault: sets(func(sn *scene) *bool { return &sn.away }),
		},
		{
			name: "restart", summary: "every 20 s the runtime goes away for 6 s", keys: "3: refused calls; 4: the finding, and that it ends", pods: tour,
			steps: []step{
				{0, nil, caption{What: "The runtime works. It goes away in 8 s.", Watch: "All calls are answered."}},
				{8 * time.Second, on("runtime-down"), caption{What: "The runtime is gone. The pods go on without it.", Watch: "Each call is refused. The list gets older."}},
				{14 * time.Second, off("runtime-down"), caption{What: "The runtime is back.", Watch: "One relist finds all events of 6 s."}},
			},
			cycle: 20 * time.Second,
		},
		{
			name: "failing-store", keys: "4 enter: the kernel's words, and what to do",
			pods: tour, wrong: "the disk of the runtime's data loses what is written", fault: failStore,
			watch: "All calls are answered. The kernel's log tells of it within a minute.",
		},
		{
			name: "overflow", summary: "the runtime is not ready, nobody reads the events of 450 jobs, and the event channel overflows; then all is well again",
			keys: "2: discarded events; 4: events-discarded",
			bare: true, pods: ordinary, wrong: "in turn, more events than the kubelet's channel holds", fault: overflowChannel,
			steps: []step{
				{0, nil, caption{What: "450 jobs of 3 containers start.", Watch: "The sync loop reads: the channel stays empty."}},
				{3 * time.Second, nil, caption{What: "The runtime is not ready. The sync loop reads no events.", Watch: "The channel begins to fill."}},
				{10 * time.Second, nil, caption{What: "The 450 jobs end. The channel of 1,000 fills.", Watch: "Discarded events: the kubelet never gets them."}},
				{30 * time.Second, nil, caption{What: "The runtime is ready again. The sync loop reads.", Watch: "The channel empties. The discarded events are lost."}},
			},
			cycle: 50 * time.Second,
		},
		// The list hangs for longer than the threshold of three minutes. The list
		// before it is then at least as old, although the kubelet gives up on the call
		// after two minutes and asks again.
		{
			name: "unhealthy", summary: "nine times as fast: the list hangs, PLEG is unhealthy after 20 s, recovers after 25 s, then again", speed: 9,
			keys: "4 enter: the verdict", pods: restless,
			steps: []step{
				{0, nil, caption{What: "All is well. The clock runs nine times as fast.", Watch: "The list is never older than one relist."}},
				{5 * time.Second, on("hung-list"), caption{What: "ListContainers hangs.", Watch: "The list gets older. The node is NotReady at 3 min."}},
				{225 * time.Second, off("hung-list"), caption{What: "ListContainers answers again.", Watch: "The next good relist makes PLEG healthy."}},
			},
			cycle: 330 * time.Second,
		},
		{
			name: "inspect-failing", keys: "] enter: the pod that is inspected again and again", pods: tour,
			wrong: "the status call of one container fails", fault: toVictim(failInspect),
			watch: "Each relist inspects nfs-client again. Its events wait.",
		},
		{
			name: "list-too-big", summary: "20,000 dead containers pile up; after 30 s the list of them exceeds 16 MiB and fails",
			keys: "4 enter: whose dead containers they are", bare: true, pods: listTooBig,
			steps: []step{
				{0, nil, caption{What: "Dead containers pile up.", Watch: "The list is at 85 % of its limit of 16 MiB."}},
				{30 * time.Second, nil, caption{What: "The list exceeds 16 MiB. Every relist fails.", Watch: "The list gets older. The node is NotReady in 3 min."}},
			},
		},
		{
			name: "status-lock", keys: "4 enter: the container that holds up the lists", pods: tour,
			wrong: "one status call and both lists never answer", fault: toVictim(lockStatus), at: soonAfter,
			watch: "Both lists wait for the lock of nfs-client. Findings name it.",
		},
		{
			name: "hung-update", summary: "runc update of one container has hung for minutes, and ListContainers waits for the lock that is held for it",
			keys: "4 enter: container, helper and lock, one behind the other", pods: resized,
			wrong: "runc update of one container hangs, and the list with it", fault: toVictim(hangUpdate),
			steps: []step{
				{0, nil, caption{What: "runc update of payments/api has hung for 4 min.", Watch: "Findings name container, helper and lock."}},
				{20 * time.Second, nil, caption{What: "Every list waits for the lock that runc update holds.", Watch: "The helper and the list get older."}},
			},
		},
		{
			name: "deadlock", keys: "3: what is in flight; 4 enter: what to do next", pods: tour,
			wrong: "no call but Version ever answers", fault: calls(Rule{Hangs: true, Spares: isVersion}), at: soonAfter,
			watch: "The lists and Status hang. The node is NotReady soon.",
		},
		{
			name: "churn-storm", keys: "3: many quick calls; 4 enter: what they add up to", bare: true, pods: ordinary,
			wrong: "300 pods are replaced each minute; status calls take 40 ms more", fault: together(stormPods, slowStatus),
			watch: "The relist inspects each new pod, with 40 ms for each call.",
		},
		{
			name:  "runtime-not-ready",
			wrong: "the runtime says that it is not ready itself", fault: sets(func(sn *scene) *bool { return &sn.runtimeBad }),
		},
		{
			name: "network-not-ready", keys: "v: why the node is not Ready; 4 enter: its words", pods: tour,
			wrong: "the runtime says that its network is not ready", fault: sets(func(sn *scene) *bool { return &sn.networkBad }),
			watch: "Relists go on, but the node is NotReady.",
		},
		{
			name: "no-address", summary: "new sandboxes come up without an address: 30 s later their network counts as failed", keys: "2 enter: NetFail; H: the way of an event", pods: tour,
			wrong: "new sandboxes get no address", fault: sets(func(sn *scene) *bool { return &sn.unplugged }),
			watch: "NetFail comes after 30 s. No kubelet sends this event.",
		},
		{
			name: "ghost", keys: "4 enter: the container without a process", pods: tour,
			wrong: "one container has lost its process; the runtime does not know", fault: toVictim(makeGhost),
			watch: "The runtime says that nfs-client runs. No event comes.",
		},
		{
			name: "event-drift", summary: "the event stream loses one event in three, and is late with the others", keys: "3: the event stream, and what it misses",
			events: true, pods: coming, wrong: "one event in three is not sent", fault: sets(func(sn *scene) *bool { return &sn.stream.lossy }),
			steps: []step{{0, on("events-late"), caption{What: "A third of the stream's events never comes. The rest is late.", Watch: "Relists see all that happens."}}},
		},
		{name: "events-late", wrong: "events come 2 s late", fault: sets(func(sn *scene) *bool { return &sn.stream.late })},
		{name: "empty", bare: true, pods: func(*scene) {}}, // for tests to fill
		{name: "big", bare: true, pods: still(1000, 3)},    // to measure with
		{name: "dead", bare: true, pods: func(sn *scene) { // likewise
			sn.placeResidents()
			sn.placeDeadContainers(12000, 40*time.Hour)
		}},
	}
}
