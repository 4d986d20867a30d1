// Package survey asks targets under a policy: how many at once, until when, what becomes
// of a target that somebody else asks at the same time. A [Survey] says whom to ask next;
// a [Sweep] keeps the account of one that asks for every sandbox and container. Probes,
// the search for what can be seen while lists fail, sweeps, what a sweep asks again, and
// the question whether the runtime is there at all are surveys of the machine of package
// engine, which makes their calls.
//
// The package reads no clock and makes no call. Its values belong to one goroutine.
package survey
