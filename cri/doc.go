// Package cri speaks CRI v1 over gRPC with the container runtime of a node: it
// finds the endpoint ([Discover]), makes the calls and measures them
// ([Client]), and turns the answers into the words of package pleg.
//
// A Client only ever reads. It makes the calls Version, Status, ListPodSandbox,
// ListContainers, PodSandboxStatus and ContainerStatus, with [Client.Events]
// GetContainerEvents, and nothing else; it never asks for the verbose answer,
// which carries environment variables.
//
// Blocking: every call returns by the deadline of its context. Dial does not
// block, and a call to a runtime that is not there fails at once. From then on
// the client tries to connect by itself, at most 4 s apart, so that calls
// succeed again soon after the runtime is back.
//
// Loss: whatever an answer held that could not be used, or had to be changed, is
// counted in the [call.Trace], and what an event stream had that was not handed
// on in the event after it. Texts from the runtime are valid UTF-8 but not
// cleaned; those in an error of Discover are.
package cri
