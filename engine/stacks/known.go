package stacks

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A guard is a kind of lock: where it is waited for, and what holds it while it runs.
type guard struct {
	of    string
	waits []place
	holds []place // nil: who is in one of waits and waits for no lock of this kind has it
	gone  string  // functions that are called without the lock by those that hold it else
	own   bool    // one object has many of them: only the lock's own address tells which
}

// A place is methods of a type, all of them if none is named. Types are written with the
// last parts of their package's path, as releases move packages.
type place struct {
	owner   string
	methods string
	works   subject // that the lock belongs to; 0 is onReceiver
}

// A runtime of CRI-O takes the lock of the container that it is given.
const opMethods = "StartContainer UpdateContainer StopContainer StopLoopForContainer DeleteContainer UpdateContainerStatus PauseContainer UnpauseContainer CheckpointContainer CgroupStats DiskStats ContainerStats"

var opPlaces = []place{
	{"internal/oci.(*runtimeOCI)", opMethods, onArgument},
	{"internal/oci.(*runtimeVM)", opMethods + " CreateContainer AttachContainer ReopenContainerLog", onArgument},
}

// guards are the locks of containerd 1.6 to 2.4 and CRI-O 1.24 to 1.36 that calls of the
// kubelet wait for, as their sources have them.
var guards = []*guard{
	{of: evidence.OfContainer, waits: all("cri/store/container.(*statusStorage)")},
	{of: evidence.OfSandbox, waits: all("cri/store/sandbox.(*statusStorage)")},
	{
		of:    evidence.OfContainer, // opLock
		waits: append([]place{{owner: "internal/oci.(*Container)", methods: "State Pid SetStartFailed"}}, opPlaces...),
		holds: opPlaces,
		gone:  "internal/oci.(*Container).WaitOnStopTimeout internal/oci.waitForExitFile",
	},
	{of: "stop of a container", waits: []place{{owner: "internal/oci.(*Container)", methods: "SetAsStopping SetStopKillLoopBegun SetAsDoneStopping StartExecCmd DeleteExecPID KillExecPIDs"}}},
	{of: "stop of a sandbox", waits: []place{{"server.(*Server)", "stopPodSandbox", onArgument}}},
	{of: evidence.OfSandbox, waits: all("internal/lib/sandbox.(*Sandbox)")},
	{of: "list of containers", waits: all("cri/store/container.(*Store)", "internal/lib.(*ContainerServer)")},
	{of: "list of sandboxes", waits: all("cri/store/sandbox.(*Store)")},
	{of: "list of images", waits: all("cri/store/image.(*Store)", "cri/store/image.(*store)")},
	{of: "network plugin (CNI)", waits: all("go-cni.(*libcni)")},
	{
		of:    "network plugin (CNI) of a pod",
		waits: []place{{owner: "ocicni.(*cniNetworkPlugin)", methods: "podLock"}},
		holds: []place{},
		own:   true,
	},
	{
		of:    "metadata database",
		waits: []place{{owner: "metadata.(*DB)", methods: "Update GarbageCollect RegisterMutationCallback RegisterCollectibleResource Close"}},
	},
	{of: "snapshots' database", waits: []place{{owner: "snapshots/storage.(*MetaStore)", methods: "TransactionContext WithTransaction"}}},
	{of: "database", waits: []place{{owner: "bbolt.(*DB)", methods: "beginRWTx"}}, holds: []place{{owner: "bbolt.(*DB)", methods: "Update Batch"}}},
	{of: "connection to a shim", waits: []place{{owner: "ttrpc.(*Client)", methods: "createStream"}}},
	{of: "NRI plugins", waits: all("internal/nri.(*local)", "nri/pkg/adaptation.(*Adaptation)")},
	{of: "one key of an image layer or a mount", waits: []place{{owner: "kmutex.(*keyMutex)", methods: "Lock"}}, holds: []place{}, own: true},
}

func all(owners ...string) []place {
	var places []place
	for _, o := range owners {
		places = append(places, place{owner: o})
	}
	return places
}

// services answer all the calls of a runtime, or all of a connection, from one object:
// that two goroutines work on it says nothing of a lock.
var services = []string{
	"cri/server.(*criService)", "instrument.(*instrumentedService)", "instrument.(*instrumentedAlphaService)",
	"cri-o/server.(*Server)", "internal/oci.(*Runtime)", "internal/oci.(*runtimeOCI)", "internal/oci.(*runtimeVM)",
	"grpc.(*Server)", "http.(*Server)",
}

// wrappers take a lock for who calls them, which says more of what it guards: the
// databases of containerd hold bolt's while they run.
var wrappers = []place{
	{owner: "bbolt.(*DB)", methods: "beginRWTx Begin Update Batch"},
	{owner: "lockfile.(*LockFile)"},
}

// classify says what is known of f beforehand.
func (f *function) classify() {
	for _, g := range guards {
		if f.named(g.gone) {
			f.leaves = g
		}
		if at := slices.IndexFunc(g.waits, f.in); at >= 0 {
			f.waits, f.works = g, max(f.works, g.waits[at].works)
		}
		holds := g.holds
		if holds == nil {
			holds = g.waits
		}
		if at := slices.IndexFunc(holds, f.in); at >= 0 {
			f.holds, f.works = append(f.holds, g), max(f.works, holds[at].works)
		}
	}
	if f.named("ttrpc.(*Client).Call ttrpc.(*Client).NewStream") {
		f.kinds |= asksTTRPC
	}
	if f.named("grpc.(*ClientConn).Invoke grpc.(*ClientConn).NewStream") {
		f.kinds |= asksGRPC
	}
	if slices.ContainsFunc(services, f.of) {
		f.kinds |= ofService
	}
	if slices.ContainsFunc(wrappers, f.in) {
		f.kinds |= passesOn
	} else if f.waits != nil {
		f.kinds &^= passesOn
	}
}

// in reports whether f is one of a place's methods.
func (f *function) in(p place) bool {
	return f.of(p.owner) && (p.methods == "" || slices.Contains(strings.Fields(p.methods), f.method))
}

// of reports whether f is a method of a type, named by the last parts of its path.
func (f *function) of(owner string) bool {
	return f.owner == owner || strings.HasSuffix(f.owner, "/"+owner)
}

// named reports whether f is one of the functions that names has, by the last parts of
// their paths.
func (f *function) named(names string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(n string) bool { return f.name == n || strings.HasSuffix(f.name, "/"+n) })
}
