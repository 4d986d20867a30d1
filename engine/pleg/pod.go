package pleg

import (
	"cmp"
	"slices"
	"time"
)

// A UID names a pod for its whole life. A pod that is deleted and created again under the same
// name has another UID.
type UID string

// A PodRef says which pod something belongs to: by UID for the program, by namespace and name for
// people.
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

// Or returns r with its empty fields filled from other. Both must mean the same pod.
func (r PodRef) Or(other PodRef) PodRef {
	return PodRef{UID: cmp.Or(r.UID, other.UID), Namespace: cmp.Or(r.Namespace, other.Namespace), Name: cmp.Or(r.Name, other.Name)}
}

// An ObjectRef names a container or a sandbox, and its pod.
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

// ShortID returns the first 13 characters of an id, as crictl shows it and accepts it. The
// result is not cleaned.
func ShortID(id string) string {
	for i := range id {
		if i >= 13 {
			return id[:i] // never within a character, whatever the runtime uses as an id
		}
	}
	return id
}

// A Sandbox is a pod sandbox as one list call showed it.
type Sandbox struct {
	ID        string
	State     State
	Attempt   uint32    // how many sandboxes of this pod came before
	CreatedAt time.Time // by the runtime's clock; zero if unknown
}

// A Container is a container as one list call showed it.
type Container struct {
	ID        string
	Name      string
	State     State
	Attempt   uint32    // how many containers of this name came before: its restarts
	CreatedAt time.Time // by the runtime's clock; zero if unknown
	Image     string
	SandboxID string // the sandbox that it was created in; empty if unknown
}

// A Pod is a pod as the lists showed it. Containers and sandboxes keep the order of the runtime's
// lists, because the order of a pod's events follows it. A Pod never changes. While a pod's rows
// stay the same, lists show the same *Pod.
type Pod struct {
	PodRef
	Sandboxes  []Sandbox
	Containers []Container
}

// Orphans returns the running containers whose sandbox has ended or is not listed.
func (p *Pod) Orphans() []Container {
	var orphans []Container
	lives := func(s Sandbox) bool { return s.State != Exited }
	if len(p.Sandboxes) == 1 && lives(p.Sandboxes[0]) && !slices.ContainsFunc(p.Containers, func(c Container) bool { return c.SandboxID != p.Sandboxes[0].ID }) {
		return nil // nearly every pod
	}
	alive := make(map[string]bool, len(p.Sandboxes))
	for _, s := range p.Sandboxes {
		alive[s.ID] = lives(s)
	}
	for _, c := range p.Containers {
		if c.State == Running && c.SandboxID != "" && !alive[c.SandboxID] {
			orphans = append(orphans, c)
		}
	}
	return orphans
}

// HasSandbox reports whether a sandbox is listed with the pod.
func (p *Pod) HasSandbox(id string) bool {
	return slices.ContainsFunc(p.Sandboxes, func(s Sandbox) bool { return s.ID == id })
}

// size returns how many ids a pod lists; 0 for nil.
func (p *Pod) size() int {
	if p == nil {
		return 0
	}
	return len(p.Containers) + len(p.Sandboxes)
}

// A ListedSandbox is one row of the runtime's sandbox list.
type ListedSandbox struct {
	Pod PodRef
	Sandbox
}

// A ListedContainer is one row of the runtime's container list.
type ListedContainer struct {
	Pod PodRef
	Container
}

// A State is the state of a container or sandbox in the kubelet's words. The zero value is
// [Absent].
//
// A sandbox is Running when the runtime calls it ready and Exited when it does not. So the diff
// can treat it as one more container, as the kubelet does.
type State uint8

const (
	Absent  State = iota // not in the list
	Created              // never started; the diff does not distinguish it from Unknown
	Running
	Exited
	Unknown // the runtime reported it, or reported a state that CRI does not have
)

var stateNames = [...]string{"absent", "created", "running", "exited", "unknown"}

// String returns the kubelet's lower-case word for s.
func (s State) String() string { return Word(s, stateNames[:]) }

// listed returns the state of an object that is in a list. Such an object is never absent.
func (s State) listed() State {
	if s == Absent || s > Unknown {
		return Unknown
	}
	return s
}

// Word returns the name of v, which counts from 0, and "unknown" if v has no name.
func Word[T ~uint8](v T, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

// Anomalies counts the faults in answers that no healthy runtime has. It counts both what was
// left out and what was corrected, so that nothing is dropped in silence.
type Anomalies struct {
	NoMetadata  int // sandboxes or containers without metadata: left out, as the kubelet does
	NoID        int // without an id: left out
	NoImage     int // containers without an image: left out, as the kubelet does
	NoPodUID    int // without a pod's UID: left out, since they belong to no pod
	DuplicateID int // the same id twice in one list and pod: both are kept, the first decides
	BadState    int // a state that CRI does not know: taken as Unknown
	BadTime     int // a negative time: taken as unknown
	BadText     int // texts that were cut because they are too long, and invalid addresses
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
