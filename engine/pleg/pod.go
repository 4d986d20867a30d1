package pleg

import (
	"cmp"
	"slices"
	"time"
)

// A UID names a pod for its whole life. A pod that is deleted and made again
// under the same name has another UID.
type UID string

// A PodRef says which pod something belongs to: by UID for the program, by
// namespace and name for people.
type PodRef struct {
	Namespace string `line:"namespace,omitempty,raw"`
	Name      string `line:"pod,omitempty,raw"`
	UID       UID    `line:"uid,omitempty,raw"`
}

// String returns namespace/name, or the UID where the runtime gave no name.
func (r PodRef) String() string {
	if r.Name == "" {
		return string(r.UID)
	}
	return r.Namespace + "/" + r.Name
}

// Compare is the order of pods wherever they are listed: by namespace, name and UID.
func (r PodRef) Compare(other PodRef) int {
	return cmp.Or(cmp.Compare(r.Namespace, other.Namespace), cmp.Compare(r.Name, other.Name), cmp.Compare(r.UID, other.UID))
}

// Or returns r with what only other says of the same pod.
func (r PodRef) Or(other PodRef) PodRef {
	return PodRef{UID: cmp.Or(r.UID, other.UID), Namespace: cmp.Or(r.Namespace, other.Namespace), Name: cmp.Or(r.Name, other.Name)}
}

// An ObjectRef says which container or sandbox is meant, and whose it is.
type ObjectRef struct {
	Pod       PodRef `line:",inline"`
	Container string `line:"container,omitempty,raw"` // its name; empty for a sandbox
	ID        string `line:"containerId,omitempty,raw"`
	Sandbox   bool   `line:"-"`
}

// Path returns namespace/pod/container, as far as they have names.
func (r ObjectRef) Path() string {
	pod := r.Pod.String()
	if r.Container == "" || pod == "" {
		return pod + r.Container
	}
	return pod + "/" + r.Container
}

// String returns namespace/pod/container, as far as they have names, or else the id.
func (r ObjectRef) String() string {
	pod := r.Pod.String()
	switch {
	case r.Pod.Name == "" && r.ID != "" && pod != "":
		return ShortID(r.ID) + " (of the pod with UID " + pod + ")"
	case pod == "" && r.ID != "":
		return ShortID(r.ID) + " (of a pod whose name is not known)"
	case pod == "":
		return "a pod without a name"
	case !r.Sandbox && r.Container == "" && r.ID != "":
		return pod + " container " + ShortID(r.ID)
	}
	return r.Path()
}

// ShortID returns as much of an id as people compare, and as crictl shows and takes for
// the whole: 13 digits. It is not cleaned.
func ShortID(id string) string {
	for i := range id {
		if i >= 13 {
			return id[:i] // never within a character, whatever the runtime has for an id
		}
	}
	return id
}

// A Sandbox is a pod sandbox as one list call showed it.
type Sandbox struct {
	ID        string
	State     State
	Attempt   uint32    // how many sandboxes of this pod came before
	CreatedAt time.Time // by the runtime's clock; zero if it did not say
}

// A Container is a container as one list call showed it.
type Container struct {
	ID        string
	Name      string
	State     State
	Attempt   uint32    // how many containers of this name came before: its restarts
	CreatedAt time.Time // by the runtime's clock; zero if it did not say
	Image     string
	SandboxID string // of the sandbox that it was made in; empty if the runtime did not say
}

// A Pod is a pod as one relist saw it. Containers and sandboxes keep the order
// of the runtime's lists, because the order of a pod's events follows it.
// Once handed to a [Core] a Pod is never changed again, by anyone.
type Pod struct {
	PodRef
	Sandboxes  []Sandbox
	Containers []Container
	ListedAt   time.Time // taken before the list calls that returned the pod
}

// Orphans returns the containers of a pod that run in a sandbox that has ended, or that
// is not listed with it.
func (p *Pod) Orphans() (left []Container) {
	if len(p.Sandboxes) == 1 && p.Sandboxes[0].State != Exited && !slices.ContainsFunc(p.Containers, func(c Container) bool { return c.SandboxID != p.Sandboxes[0].ID }) {
		return nil // as of nearly all
	}
	lives := make(map[string]bool, len(p.Sandboxes))
	for i := range p.Sandboxes {
		lives[p.Sandboxes[i].ID] = p.Sandboxes[i].State != Exited
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.State == Running && c.SandboxID != "" && !lives[c.SandboxID] {
			left = append(left, *c)
		}
	}
	return left
}

// HasSandbox reports whether a sandbox is listed with a pod.
func (p *Pod) HasSandbox(id string) bool {
	return slices.ContainsFunc(p.Sandboxes, func(sb Sandbox) bool { return sb.ID == id })
}

// size returns how many ids a pod lists; 0 for nil.
func (p *Pod) size() int {
	if p == nil {
		return 0
	}
	return len(p.Containers) + len(p.Sandboxes)
}

// Clone returns a copy that shares no list with p. All pods of one list lie in
// a few common arrays; who kept a part of them for as long as its pod
// stays quiet would keep the whole list. A pod with one sandbox, as nearly all
// have, takes two allocations.
func (p *Pod) Clone() *Pod {
	q := &struct {
		Pod
		one [1]Sandbox
	}{Pod: *p}
	q.Sandboxes = append(q.one[:0], p.Sandboxes...)
	q.Containers = slices.Clone(p.Containers)
	return &q.Pod
}

// A ListedSandbox is one line of the runtime's sandbox list.
type ListedSandbox struct {
	Pod PodRef
	Sandbox
}

// A ListedContainer is one line of the runtime's container list.
type ListedContainer struct {
	Pod PodRef
	Container
}

// A State is what a container or sandbox was last seen to be, in the
// kubelet's words. The zero value is [Absent].
//
// A sandbox is Running when the runtime calls it ready and Exited when it does
// not, so that the diff can treat it as one more container, as the kubelet does.
type State uint8

const (
	Absent  State = iota // not in the list
	Created              // made, never started; the diff does not tell it from Unknown
	Running
	Exited
	Unknown // the runtime said so, or named a state that we do not know
)

var stateNames = [...]string{"absent", "created", "running", "exited", "unknown"}

// String returns the kubelet's lower-case word for s.
func (s State) String() string { return Word(s, stateNames[:]) }

// Word returns the name of one of a few values that are counted from 0, "unknown" for what is none
// of them.
func Word[T ~uint8](v T, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

// A SandboxStatus is the runtime's full answer about one sandbox.
type SandboxStatus struct {
	ID          string
	Pod         PodRef
	State       State // Running if ready, Exited if not
	Attempt     uint32
	CreatedAt   time.Time
	IPs         []string // primary first; empty for a pod on the host's network
	HostNetwork bool     // it has no network of its own, and so no address
	Handler     string   // which of the runtime's ways to run a pod, as a RuntimeClass names it; empty for the usual one
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

// HasSandbox reports whether a status has a sandbox.
func (s *PodStatus) HasSandbox(id string) bool {
	return slices.ContainsFunc(s.Sandboxes, func(sb SandboxStatus) bool { return sb.ID == id })
}

// Weight returns how much memory s takes, in containers and sandboxes with the texts that
// these usually have: up to 1 KiB for all together.
func (s *PodStatus) Weight() int {
	texts := 0
	for i := range s.Sandboxes {
		one := &s.Sandboxes[i]
		texts += len(one.ID) + len(one.Handler) + len(one.Pod.UID) + len(one.Pod.Namespace) + len(one.Pod.Name)
		for _, ip := range one.IPs {
			texts += len(ip)
		}
	}
	for i := range s.Containers {
		one := &s.Containers[i]
		texts += len(one.ID) + len(one.Name) + len(one.Image) + len(one.Reason) + len(one.Message)
	}
	return len(s.Sandboxes) + len(s.Containers) + texts>>10
}

// A Version is what the runtime says of itself.
type Version struct {
	RuntimeName    string `line:"name,raw"` // "containerd", "cri-o"
	RuntimeVersion string `line:"version,raw"`
	APIVersion     string `line:"apiVersion,raw"` // of CRI: "v1"
}

// A Condition is one of the runtime's own verdicts on itself, such as
// RuntimeReady or NetworkReady.
type Condition struct {
	Type    string `line:"type"`
	Status  bool   `line:"status"`
	Reason  string `line:"reason"`
	Message string `line:"message"`
}

// Anomalies counts what a runtime's answers held that no healthy runtime
// sends. What had to be left out is counted as well as what could be mended, so
// that nothing is dropped in silence. The zero value counts nothing.
type Anomalies struct {
	NoMetadata  int // sandboxes or containers without metadata: left out, as the kubelet does
	NoID        int // without an id: left out
	NoImage     int // containers without an image: left out, as the kubelet does
	NoPodUID    int // without a pod's UID: left out, since nothing can own them
	DuplicateID int // the same id twice in one list and pod: both are kept, the first decides
	BadState    int // a state that CRI does not know: taken as Unknown
	BadTime     int // a negative time: taken as not given
	BadText     int // invalid UTF-8 in a text that is shown, or an address that is none
	NoSandbox   int // containers of a pod that has no sandbox listed: kept
}

// Add returns the sums of a and b.
func (a Anomalies) Add(b Anomalies) Anomalies {
	a.NoMetadata += b.NoMetadata
	a.NoID += b.NoID
	a.NoImage += b.NoImage
	a.NoPodUID += b.NoPodUID
	a.DuplicateID += b.DuplicateID
	a.BadState += b.BadState
	a.BadTime += b.BadTime
	a.BadText += b.BadText
	a.NoSandbox += b.NoSandbox
	return a
}

// Total returns the sum of all counters.
func (a Anomalies) Total() int {
	return a.NoMetadata + a.NoID + a.NoImage + a.NoPodUID + a.DuplicateID + a.BadState + a.BadTime + a.BadText + a.NoSandbox
}
