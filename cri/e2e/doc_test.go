// Package e2e holds plegtop against a real containerd: the script up starts a
// private one, a [Kubelet] makes pods there as the kubelet would, and the tests
// compare the events and the screen of plegtop with what was done.
//
// The tests need root, Linux and the environment variable PLEGTOP_E2E=1, and
// are skipped otherwise. PLEGTOP_E2E_CONTAINERD chooses the containerd (see
// up); PLEGTOP_E2E_DIR the folder in which all of it lives.
//
// Nothing outside that folder is changed, except that the script installs the
// packages runc and containernetworking-plugins where they are missing, and
// that a shim which is killed leaves its socket in /run/containerd/s. A process
// gets a signal only if it was started from that folder, and only after its
// name was checked.
package e2e
