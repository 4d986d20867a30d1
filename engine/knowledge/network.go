package knowledge

import (
	"slices"
	"strings"
)

// A Network is a plugin that sets up the networks of pods.
type Network struct {
	Name   string
	Pods   []string // how the names of its agent's pods begin
	Except []string // beginnings of names that look the same but belong to other pods
	Source string
}

var networks = lazy[Network]("networks.yaml")

// SetsUpNetwork reports whether a pod with this name sets up the network of its node.
func SetsUpNetwork(pod string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(pod, prefix) }
	return slices.ContainsFunc(networks(), func(n Network) bool {
		return slices.ContainsFunc(n.Pods, begins) && !slices.ContainsFunc(n.Except, begins)
	})
}
