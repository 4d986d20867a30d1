package engine

import (
	"context"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Runtime is what the engine asks of a container runtime: one method, one
// CRI call, and nothing that changes the node. Every method returns by the
// deadline of its context; an error wraps one of the sentinels of package call.
// It is called from several goroutines at once.
//
// The engine puts a [call.Trace] into each context for the transport to fill.
//
// The Anomalies of an answer count what the runtime sent and the answer had to
// leave out or mend.
type Runtime interface {
	Version(ctx context.Context) (pleg.Version, pleg.Anomalies, error)
	Status(ctx context.Context) ([]pleg.Condition, pleg.Anomalies, error)

	// ListPodSandbox and ListContainers list everything for an empty uid, and
	// one pod, by its label, otherwise.
	ListPodSandbox(ctx context.Context, uid pleg.UID) ([]pleg.ListedSandbox, pleg.Anomalies, error)
	ListContainers(ctx context.Context, uid pleg.UID) ([]pleg.ListedContainer, pleg.Anomalies, error)

	PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, pleg.Anomalies, error)
	ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, pleg.Anomalies, error)

	// Raw returns the runtime's answer to PodSandboxStatus or ContainerStatus
	// as indented JSON, never the verbose one: that carries environment variables.
	Raw(ctx context.Context, op call.Operation, id string) ([]byte, error)
}
