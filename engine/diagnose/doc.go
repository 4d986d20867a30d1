// Package diagnose turns what the engine and the node show into findings: what
// is wrong, on which object, since when, and what to do next; and into one
// headline. [Live] does so for an engine that goes on, [Once] for one bounded look.
//
// A diagnosis depends on its input alone: no clock is read and nothing is asked.
// What hangs, and how much of the runtime is out of order, package answers says; kind.go lists the kinds of findings, whose rules go by both; a tracker
// keeps their findings steady over time.
package diagnose
