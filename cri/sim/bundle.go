package sim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// stateFolder is where containerd keeps a folder for each sandbox and container that
// runs.
const stateFolder = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"

// files returns what the node has beside /proc, by path.
func (sn *scene) files() map[string]string {
	all := map[string]string{}
	for _, s := range sn.sandboxes {
		if s.ready() {
			all[stateFolder+"/"+s.status.Id+"/config.json"] = s.bundle()
		}
	}
	for _, c := range sn.containers {
		if c.runs() {
			all[stateFolder+"/"+c.status.Id+"/config.json"] = c.bundle()
		}
	}
	return all
}

func (s *sandbox) bundle() string {
	p := s.pod
	log := fmt.Sprintf("/var/log/pods/%s_%s_%s", p.spec.namespace, p.spec.name, p.uid)
	return s.bundleOf(s.status.Id, "/pause", map[string]string{
		"container-type": "sandbox", "podsandbox.image-name": "registry.k8s.io/pause:3.10.1", "sandbox-log-directory": log,
	})
}

func (c *container) bundle() string {
	return c.sandbox.bundleOf(c.status.Id, "/usr/bin/"+c.spec.name, map[string]string{
		"container-type": "container", "container-name": c.spec.name, "image-name": c.spec.image,
	})
}

// bundleOf returns the config.json of one of a sandbox's containers, or of itself: who it
// is, by the annotations that containerd 2.4.2 gives it.
func (s *sandbox) bundleOf(id, program string, own map[string]string) string {
	p := s.pod
	notes := map[string]string{}
	for _, all := range []map[string]string{own, {
		"sandbox-id": s.status.Id, "sandbox-name": p.spec.name, "sandbox-namespace": p.spec.namespace, "sandbox-uid": p.uid,
	}} {
		for name, value := range all {
			notes["io.kubernetes.cri."+name] = value
		}
	}
	text, err := json.Marshal(map[string]any{
		"ociVersion": "1.3.0", "process": map[string]any{"args": []string{program}, "cwd": "/"}, "annotations": notes,
		"linux": map[string]string{"cgroupsPath": p.slice() + ":cri-containerd:" + id},
	})
	if err != nil {
		panic("sim: a bundle: " + err.Error()) // texts alone
	}
	return string(text)
}

// slice returns the name of the slice that systemd has for p.
func (p *pod) slice() string {
	return "kubepods-burstable-pod" + strings.ReplaceAll(p.uid, "-", "_") + ".slice"
}
