// Package answers is what is known of the calls to a runtime: which are out, how the
// last ones went, since when a call fails or gives no answer, and what all of that says
// of the runtime. The machine of package engine keeps it and asks it what to do;
// package diagnose asks it what to say.
//
// All durations that mean something about calls stand in durations.go, each with its
// reason. The package reads no clock and does no I/O; its values may be shared as long
// as nobody changes them.
package answers
