package pleg

import "time"

// A SandboxStatus is the runtime's full answer about one sandbox.
type SandboxStatus struct {
	ID        string
	Pod       PodRef
	State     State // Running if ready, Exited if not
	Attempt   uint32
	CreatedAt time.Time
	IPs       []string // primary first; empty for a pod on the host's network
}

// A ContainerStatus is the runtime's full answer about one container. Times are
// by the runtime's clock and zero where it gave none.
type ContainerStatus struct {
	ID         string
	Name       string
	State      State
	Attempt    uint32
	Image      string
	ExitCode   int32 // means something only when State is Exited
	Reason     string
	Message    string
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time
}

// A PodStatus is what one inspection of a pod found. Sandboxes and containers
// are sorted by creation, newest first, as the kubelet keeps them. It is never
// changed once it is in the [Cache].
type PodStatus struct {
	PodRef
	IPs        []string // of the newest sandbox, if that is ready
	Sandboxes  []SandboxStatus
	Containers []ContainerStatus
}

// A Version is what the runtime says of itself.
type Version struct {
	RuntimeName    string // "containerd", "cri-o"
	RuntimeVersion string
	APIVersion     string // of CRI: "v1"
}

// A Condition is one of the runtime's own verdicts on itself, such as
// RuntimeReady or NetworkReady.
type Condition struct {
	Type    string
	Status  bool
	Reason  string
	Message string
}
