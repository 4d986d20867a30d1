package cri

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A sanitizer turns single values of an answer into the words of package pleg, and
// counts those that it had to change.
type sanitizer struct{ pleg.Anomalies }

// note adds what was found in an answer to the trace of its call, if there is
// one.
func note(ctx context.Context, found pleg.Anomalies) {
	if t := call.TraceOf(ctx); t != nil {
		t.Anomalies = t.Anomalies.Add(found)
	}
}

// text returns s, with U+FFFD for each run of bytes that is not UTF-8, and without
// its middle if it is too long to be kept.
func (m *sanitizer) text(s string) string {
	if utf8.ValidString(s) && len(s) <= textLimit {
		return s
	}
	m.BadText++
	return cut(strings.ToValidUTF8(s, "\uFFFD"))
}

// time returns the moment ns nanoseconds after 1970, by the runtime's clock;
// the zero time for 0, which means "not given", and for what came before.
func (m *sanitizer) time(ns int64) time.Time {
	if ns > 0 {
		return time.Unix(0, ns)
	}
	if ns < 0 {
		m.BadTime++
	}
	return time.Time{}
}

func (m *sanitizer) containerState(s runtimev1.ContainerState) pleg.State {
	switch s {
	case runtimev1.ContainerState_CONTAINER_CREATED:
		return pleg.Created
	case runtimev1.ContainerState_CONTAINER_RUNNING:
		return pleg.Running
	case runtimev1.ContainerState_CONTAINER_EXITED:
		return pleg.Exited
	case runtimev1.ContainerState_CONTAINER_UNKNOWN:
		return pleg.Unknown
	}
	m.BadState++
	return pleg.Unknown
}

func (m *sanitizer) sandboxState(s runtimev1.PodSandboxState) pleg.State {
	switch s {
	case runtimev1.PodSandboxState_SANDBOX_READY:
		return pleg.Running
	case runtimev1.PodSandboxState_SANDBOX_NOTREADY:
		return pleg.Exited
	}
	m.BadState++
	return pleg.Unknown
}

func (m *sanitizer) pod(s *runtimev1.PodSandboxMetadata) pleg.PodRef {
	return pleg.PodRef{
		UID:       pleg.UID(m.text(s.GetUid())),
		Namespace: m.text(s.GetNamespace()),
		Name:      m.text(s.GetName()),
	}
}

// image returns the name that a person gave the image, where the runtime knows
// it: the other one is often a digest.
func (m *sanitizer) image(s *runtimev1.ImageSpec) string {
	if s.GetUserSpecifiedImage() != "" {
		return m.text(s.GetUserSpecifiedImage())
	}
	return m.text(s.GetImage())
}
