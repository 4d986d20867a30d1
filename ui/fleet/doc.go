// Package fleet is `kubectl plegtop`: the headlines of all nodes on which plegtop runs as a
// DaemonSet, the worst first. docs/fleet.md is for who uses it.
//
// It asks the API server alone, through a `kubectl proxy` of its own on a socket in a private
// folder: kubeconfig, credentials and plug-ins for them are kubectl's, and never read here. It
// only reads: the pods of the DaemonSet, the names of the nodes, and `/check` of each pod
// through the API server's proxy to pods. Names and texts of others are cleaned where they are
// written; the body of every answer is read up to a limit.
package fleet
