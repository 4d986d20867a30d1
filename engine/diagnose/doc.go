// Package diagnose turns what the engine and the node show into findings: what
// is wrong, on which object, since when, and what to do next.
//
// It is pure: a diagnosis depends on its input alone. Each rule stands in one
// small file with its thresholds and their reasons.
package diagnose
