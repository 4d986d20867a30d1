package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/host"
)

// podLogs is where the kubelet has a folder for the logs of each pod, named NAMESPACE_POD_UID.
const podLogs = "/var/log/pods"

// Namespaces returns those of the pods on this node, by the folders that the kubelet has for their
// logs: nobody is asked. None where there are none, or they cannot be read.
func Namespaces() []string { return namespacesIn(filepath.Join("/", host.FindRoot(""), podLogs)) }

func namespacesIn(folder string) (all []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if namespace, _, ok := strings.Cut(e.Name(), "_"); ok {
			all = append(all, namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
