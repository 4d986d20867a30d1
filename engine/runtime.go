package engine

import (
	"context"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Runtime is what the engine asks of a container runtime: one method, one
// CRI call, and nothing that changes the node. Every method returns by the
// deadline of its context; an error has a [call.Kind] in its chain.
// It is called from several goroutines at once.
//
// The engine puts a [call.Trace] into each context for the transport to fill,
// before the method returns: with the bytes, and with what of the answer had to
// be left out or changed. What a failed call returns beside its error is not read.
type Runtime interface {
	Version(ctx context.Context) (pleg.Version, error)
	Status(ctx context.Context) ([]pleg.Condition, error)

	// ListPodSandbox and ListContainers list everything for an empty uid, and
	// one pod, by its label, otherwise.
	ListPodSandbox(ctx context.Context, uid pleg.UID) ([]pleg.ListedSandbox, error)
	ListContainers(ctx context.Context, uid pleg.UID) ([]pleg.ListedContainer, error)

	PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error)
	ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error)

	// Raw returns the runtime's answer to PodSandboxStatus or ContainerStatus
	// as indented JSON, never the verbose one: that carries environment variables.
	Raw(ctx context.Context, op call.Operation, id string) ([]byte, error)
}
