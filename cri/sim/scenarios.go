package sim

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// says has nothing more than what there is to say from the beginning.
func says(caption string) []step { return []step{{0, nil, caption}} }

// soonAfter is when it goes wrong in scenarios that show a healthy node first.
const soonAfter = 5 * time.Second

// soon says what is to come at soonAfter, and then what has come.
func soon(before, then string) []step { return []step{{0, nil, before}, {soonAfter, nil, then}} }

// scenarios returns the one list of them, and of the faults; the default is first.
func scenarios() []scenario {
	return []scenario{
		{
			name: "tour", summary: "all that pods do, in a minute: rolling update, crash loop, job, OOM kill, new sandbox, deletion",
			keys: "C: what happens now; D P: freeze it; 2 enter: an event", pods: placeTour, steps: tourSteps, cycle: tourCycle,
		},
		{
			name: "quiet", summary: "110 pods of 2 containers, and nothing happens", keys: "enter: a pod; /: filter; D a: something happens",
			bare: true, pods: still(110, 2),
			steps: says("110 pods run and nothing changes; a relist makes two calls"),
		},
		{
			name: "churn", summary: "short-lived pods come and go, two a second", keys: "2: the events; 3: the calls that they cost",
			bare: true, pods: tour, wrong: "two short-lived pods a second", fault: churnPods,
			steps: says("two pods a second live for 6 s; expect Started, Died 143 and Removed"),
		},
		{
			name: "crashloop", summary: "a dozen pods crash, again and again, with growing back-off", keys: "] enter: a pod that crashes; 4 enter: the finding",
			pods: ordinary, wrong: "a dozen pods that keep crashing", fault: crashPods,
			steps: []step{
				{0, nil, "a dozen pods in staging start and crash; expect Died 1, 2, 127, 137, 139"},
				{20 * time.Second, nil, "they wait for 10, 20, 40 s between two restarts; expect crash-loop"},
			},
		},
		{
			name: "big", summary: "1,000 pods of 3 containers, and nothing happens", keys: "/: filter; > I: sort; 3: what the lists cost",
			bare: true, pods: still(1000, 3),
			steps: says("1,000 pods run and nothing changes; the two lists are all that it costs"),
		},
		{
			name: "slow", summary: "every call takes 300 ms longer", keys: "3: calls and how long they take", pods: tour,
			wrong: "every call takes 300 ms longer", fault: calls(Rule{Delay: 300 * time.Millisecond}),
			steps: says("every call takes 300 ms; relists grow long, and events come late"),
		},
		{
			name: "hung-inspect", summary: "after 5 s the status of one container, on a dead NFS server, never answers",
			keys: "] enter: the pod whose call hangs; 4 enter: what to do next", pods: tour,
			wrong: "the status call of one container never answers", fault: toVictim(hangInspect), at: soonAfter,
			steps: soon("in 5 s the status call of one container will hang",
				"ContainerStatus hangs on nfs-client; no event comes, NotReady after 3 min"),
		},
		{
			name: "hung-list", summary: "after 5 s ListContainers never answers", keys: "3: the call in flight; 4 enter: what to do next", pods: tour,
			wrong: "ListContainers never answers", fault: hang(Match{Method: "ListContainers"}), at: soonAfter,
			steps: soon("in 5 s ListContainers will hang",
				"ListContainers hangs; nothing is seen any more, NotReady after 3 min"),
		},
		{
			name:  "hung-runtime",
			wrong: "no call ever answers, as when the runtime is stopped", fault: together(sets(func(sn *scene) *bool { return &sn.stopped }), hang(Match{})),
		},
		{
			name: "flaky", summary: "one call in five fails", keys: "3: failed calls; 4 enter: their errors", pods: tour,
			wrong: "one call in five fails", fault: calls(Rule{Odds: 0.2, Errs: []error{
				status.Error(codes.Unavailable, "transport is closing"),
				status.Error(codes.Unknown, "failed to get sandbox ip: check network namespace closed: input/output error"),
				status.Error(codes.Internal, "ttrpc: closed"),
				status.Error(codes.DeadlineExceeded, "stream terminated by RST_STREAM with error code: CANCEL"),
			}}),
			steps: says("one call in five fails; what it was to find is found by a later relist"),
		},
		{
			name:  "runtime-down",
			wrong: "nothing listens on the socket", fault: sets(func(sn *scene) *bool { return &sn.away }),
		},
		{
			name: "restart", summary: "every 20 s the runtime goes away for 6 s", keys: "3: refused calls; 4: the finding, and that it ends", pods: tour,
			steps: []step{
				{0, nil, "in 8 s the runtime will go away"},
				{8 * time.Second, on("runtime-down"), "the runtime is gone; calls are refused, pods go on without it"},
				{14 * time.Second, off("runtime-down"), "the runtime is back; expect the events of 6 s in one relist"},
			},
			cycle: 20 * time.Second,
		},
		{
			name: "socket-lost", summary: "after 5 s the runtime's socket is gone from its path, and only who is connected is answered", keys: "4 enter: who listens there",
			pods: tour, wrong: "the runtime's socket is gone from its path", fault: sets(func(sn *scene) *bool { return &sn.lost }), at: soonAfter,
			steps: soon("in 5 s somebody will remove the runtime's socket",
				"calls are answered on the old connection; whoever connects now is refused"),
		},
		{
			name: "failing-store", summary: "the disk of the runtime's data loses what is written, and every call is answered", keys: "4 enter: the kernel's words, and what to do",
			pods: tour, wrong: "the disk of the runtime's data loses what is written", fault: failStore,
			steps: says("no call tells of it; the kernel's log does, which is read once a minute"),
		},
		{
			name: "overflow", summary: "the runtime is not ready, nobody reads the events of 450 jobs, and the event channel overflows; then all is well again",
			keys: "2: discarded events; 4: events-discarded",
			bare: true, pods: ordinary, wrong: "in turn, more events than the kubelet's channel holds", fault: overflowChannel,
			steps: []step{
				{0, nil, "in 3 s the runtime will say that it is not ready"},
				{3 * time.Second, nil, "the runtime is not ready; the sync loop stops reading events"},
				{10 * time.Second, nil, "450 jobs start and end; the channel of 1,000 fills, expect discarded events"},
				{30 * time.Second, nil, "the runtime is ready again; the sync loop reads what is in the channel"},
			},
			cycle: 50 * time.Second,
		},
		// The list hangs for longer than the threshold of three minutes. The list
		// before it is then at least as old, although the kubelet gives up on the call
		// after two minutes and asks again.
		{
			name: "unhealthy", summary: "nine times as fast: the list hangs, PLEG is unhealthy after 20 s, recovers after 25 s, then again", speed: 9,
			keys: "watch the gauge; 4 enter: the verdict", pods: restless,
			steps: []step{
				{0, nil, "all is well; the clock runs nine times as fast as yours"},
				{5 * time.Second, on("hung-list"), "ListContainers hangs; the list gets old, NotReady 3 min after the last one"},
				{225 * time.Second, off("hung-list"), "ListContainers answers again; the next good relist makes PLEG healthy"},
			},
			cycle: 330 * time.Second,
		},
		// The same, and again as soon as PLEG has recovered: it is unhealthy for 40 s
		// of every four minutes.
		{
			name: "flapping", summary: "fifteen times as fast: PLEG is unhealthy for 3 s, healthy for 13 s, and so on", speed: 15,
			keys: "watch the gauge; 4 enter: how often it turned", pods: ordinary,
			steps: []step{
				{0, nil, "all is well; the clock runs fifteen times as fast as yours"},
				{5 * time.Second, on("hung-list"), "ListContainers hangs; the list gets old, NotReady 3 min after the last one"},
				{225 * time.Second, off("hung-list"), "ListContainers answers again, for 20 s; the next hang follows"},
			},
			cycle: 4 * time.Minute,
		},
		{
			name: "inspect-failing", summary: "the status of one container fails, relist after relist", keys: "] enter: the pod that is inspected again and again", pods: tour,
			wrong: "the status call of one container fails", fault: toVictim(failInspect),
			steps: says("the status of nfs-client fails each time; its events wait until it succeeds"),
		},
		{
			name: "list-too-big", summary: "20,000 dead containers pile up; after 30 s the list of them exceeds 16 MiB and fails",
			keys: "4 enter: whose dead containers they are", bare: true, pods: listTooBig,
			steps: []step{
				{0, nil, "dead containers pile up; the list of them is at 85 % of 16 MiB"},
				{30 * time.Second, nil, "the list exceeds 16 MiB; every relist fails, NotReady after 3 min"},
			},
		},
		{
			name: "status-lock", summary: "after 5 s the status of one container is held, and both lists hang with it",
			keys: "4 enter: the container that holds up the lists", pods: tour,
			wrong: "the status call of one container and both lists never answer", fault: toVictim(lockStatus), at: soonAfter,
			steps: soon("in 5 s one container will hold up the lists",
				"both lists wait for the lock of one container; expect its name in 4"),
		},
		{
			name: "hung-update", summary: "runc update of one container has hung for minutes, and ListContainers waits for the lock that is held for it",
			keys: "4 enter: container, helper and lock, one behind the other", pods: resized,
			wrong: "runc update of one container hangs, and the list with it", fault: toVictim(hangUpdate),
			steps: []step{
				{0, nil, "runc update of payments/api has hung for 4 min; expect its name in 4"},
				{20 * time.Second, nil, "every list waits for the lock of its status; the helper gets older"},
			},
		},
		{name: "hung-kill", pods: resized, wrong: "runc kill of one container hangs", fault: toVictim(hangKill)},
		{name: "hung-create", pods: resized, wrong: "runc create of one container hangs on a dead NFS server", fault: toVictim(hangCreate)},
		{name: "hung-network", pods: tour, wrong: "the network plugin hangs for a pod that starts", fault: hangNetwork},
		{
			name: "hung-list-of-all", bare: true, pods: resized,
			wrong: "the list of all containers hangs for one of them; lists of other pods do not", fault: toVictim(hangListOfAll),
		},
		{
			name: "deadlock", summary: "after 5 s no call but Version answers", keys: "3: what is in flight; 4 enter: what to do next", pods: tour,
			wrong: "no call but Version ever answers", fault: calls(Rule{Hangs: true, Spares: isVersion}), at: soonAfter,
			steps: soon("in 5 s the runtime will lock up",
				"only Version answers; the lists and Status hang"),
		},
		// Few pods: with a call each 1.2 s a relist of the tour would take minutes.
		{
			name: "runtime-slow", summary: "every call takes about 1.2 s", keys: "3: all calls are slow alike; 4 enter: the finding", pods: ordinary,
			wrong: "every call takes about 1.2 s longer", fault: calls(Rule{Delay: 1200 * time.Millisecond, Spread: 150 * time.Millisecond}),
			steps: []step{{3 * time.Second, runBackup(9 * time.Second), "every call takes 1.2 s; the events of the job backup come late"}}, cycle: 20 * time.Second,
		},
		{
			name: "churn-storm", summary: "every minute 300 pods are replaced at once, and each status call takes 40 ms: a relist takes long",
			keys: "3: many quick calls; 4 enter: what they add up to", bare: true, pods: ordinary,
			wrong: "300 pods are replaced every minute, and status calls take 40 ms longer", fault: together(stormPods, slowStatus),
			steps: says("300 pods are replaced; the relist asks for each, 40 ms a call"), cycle: time.Minute,
		},
		{
			name:  "runtime-not-ready",
			wrong: "the runtime says that it is not ready itself", fault: sets(func(sn *scene) *bool { return &sn.runtimeBad }),
		},
		{
			name: "not-ready", summary: "the runtime says that it is not ready", keys: "v: why the node is not Ready; 4 enter: its words", pods: tour,
			steps: []step{{0, on("runtime-not-ready"), "Status says RuntimeReady false; relists go on, the node is NotReady"}},
		},
		{
			name: "network-not-ready", summary: "the runtime says that its network plugin is not ready", keys: "v: why the node is not Ready; 4 enter: its words", pods: tour,
			wrong: "the runtime says that its network is not ready", fault: sets(func(sn *scene) *bool { return &sn.networkBad }),
			steps: says("Status says NetworkReady false; relists go on, the node is NotReady"),
		},
		{
			name: "no-address", summary: "new sandboxes come up without an address: 30 s later their network counts as failed", keys: "2 enter: NetFail; H: the way of an event", pods: tour,
			wrong: "new sandboxes get no address", fault: sets(func(sn *scene) *bool { return &sn.unplugged }),
			steps: says("new pods have no address; expect NetFail after 30 s, which no kubelet tells"),
		},
		{
			name: "ghost", summary: "the runtime says that a container runs, but its process is gone", keys: "4 enter: the container without a process", pods: tour,
			wrong: "the process of one container is gone, and the runtime does not notice", fault: toVictim(makeGhost),
			steps: says("nfs-client has no process, and the runtime says it runs; no event tells it"),
		},
		{
			name: "clock-step", summary: "after 5 s the node's clock jumps ahead by two minutes", keys: "v: the node's clock; 4 enter: what it does to ages", pods: tour,
			wrong: "the node's clock is two minutes ahead", fault: stepClock, at: soonAfter,
			steps: soon("in 5 s the clock of the node will jump",
				"the clock is 2 min ahead; new events seem to come from the future"),
		},
		{
			name: "event-drift", summary: "the event stream loses one event in three, and is late with the others", keys: "e: the event stream; 4 enter: event-drift",
			pods: tour, wrong: "one event in three is not sent", fault: sets(func(sn *scene) *bool { return &sn.stream.lossy }),
			steps: []step{{0, on("events-late"), "a third of the events never comes, the rest 2 s late; relists see it all"}},
		},
		{name: "events-late", wrong: "events come 2 s late", fault: sets(func(sn *scene) *bool { return &sn.stream.late })},
		{name: "events-doubled", wrong: "each event comes twice", fault: sets(func(sn *scene) *bool { return &sn.stream.doubled })},
		{name: "events-clock", wrong: "the times of events are an hour ahead", fault: sets(func(sn *scene) *bool { return &sn.stream.ahead })},
		{name: "events-broken", wrong: "the event stream breaks every 7 s", fault: cutEvents},
		{name: "events-off", wrong: "the event stream is not enabled, as in CRI-O: it ends at once", fault: sets(func(sn *scene) *bool { return &sn.stream.off })},
		{
			name: "events-storm", summary: "30,000 events a second of what nobody knows", keys: "e: the event stream; 3: what is lost of it; the relist goes on",
			pods: tour, wrong: "30,000 events a second that mean nothing", fault: sets(func(sn *scene) *bool { return &sn.stream.storm }),
			steps: says("the event stream is flooded; what cannot be taken is counted, relists go on"),
		},
		{
			name: "old-runtime", summary: "the runtime is containerd 1.7, of whose event stream only the kubelet may read", keys: "e: refused, and why",
			pods: tour, wrong: "the runtime says that it is containerd 1.7", fault: saysVersion("1.7.28"),
			steps: says("a second reader of the event stream would take events from the kubelet; see e"),
		},
		{name: "events-unknown", wrong: "the runtime has no event stream, as containerd 1.6", fault: noEvents},
		{name: "empty", bare: true, pods: func(*scene) {}}, // for tests to fill
		{name: "dead", bare: true, pods: func(sn *scene) { // to measure with
			sn.placeResidents()
			sn.placeDeadContainers(12000, 40*time.Hour)
		}},
	}
}
