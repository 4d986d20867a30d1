package lines

import (
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// A findingObject is a finding in the JSON of check and watch. Its texts are
// cleaned, the names in its subject are the runtime's own.
type findingObject struct {
	ID       string        `json:"id"`
	Severity string        `json:"severity"`
	Summary  string        `json:"summary"`
	Subject  subjectObject `json:"subject"`
	Evidence []string      `json:"evidence"`
	Next     []string      `json:"next"`
	Cause    string        `json:"cause,omitempty"` // the id of the finding that explains this one

	Count   int             `json:"count,omitempty"`   // of all whom it is about, if it is about several
	Members []subjectObject `json:"members,omitempty"` // those of them that are named
	Since   *time.Time      `json:"since,omitempty"`   // when the trouble began, as far as that is known
}

type subjectObject struct {
	Operation   string `json:"operation,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Pod         string `json:"pod,omitempty"`
	UID         string `json:"uid,omitempty"`
	Container   string `json:"container,omitempty"`
	ContainerID string `json:"containerId,omitempty"`
}

func newSubject(operation string, pod pleg.PodRef, container, id string) subjectObject {
	return subjectObject{operation, pod.Namespace, pod.Name, string(pod.UID), container, id}
}

func newFindingObject(f diagnose.Finding) findingObject {
	o := findingObject{
		ID: string(f.ID), Severity: f.Severity.String(), Summary: text.Clean(f.Summary), Cause: string(f.Cause),
		Subject:  newSubject(f.Subject.Operation, f.Subject.Pod, f.Subject.Container, f.Subject.ContainerID),
		Evidence: make([]string, len(f.Evidence)),
		Next:     make([]string, len(f.Next)),
		Count:    f.Count, Since: instant(f.Since),
	}
	for _, m := range f.Members {
		o.Members = append(o.Members, newSubject(m.Operation, m.Pod, m.Container, m.ContainerID))
	}
	for i, line := range f.Evidence {
		o.Evidence[i] = text.Clean(line)
	}
	for i, step := range f.Next {
		o.Next[i] = text.Clean(step.String())
	}
	return o
}
