package sim

import (
	"fmt"
	"maps"
	"time"
)

// Images of the pods that scenarios make.
const (
	imageApp    = "ghcr.io/acme/shop:v4.18.2"
	imageProxy  = "docker.io/envoyproxy/envoy:v1.35.1"
	imageLogs   = "docker.io/fluent/fluent-bit:4.0.8"
	imageRunner = "docker.io/library/busybox:1.37"
	imageJob    = "ghcr.io/acme/batch:v2.3.0"
	imageNFS    = "registry.k8s.io/e2e-test-images/volume/nfs:1.5"
)

func podNamed(namespace, name string, containers ...containerSpec) podSpec {
	return podSpec{
		namespace: namespace, name: name, containers: containers,
		labels: map[string]string{"app.kubernetes.io/name": name},
	}
}

// one returns a container that ends soon after it was told to.
func one(name, image string) containerSpec {
	return containerSpec{name: name, image: image, life: life{stops: 400 * time.Millisecond}}
}

// host puts a pod on the host's network.
func (p podSpec) host() podSpec {
	p.hostNetwork = true
	return p
}

// named returns p under another name, with labels of its own.
func (p podSpec) named(name, app string, more map[string]string) podSpec {
	p.name = name
	p.labels = map[string]string{"app.kubernetes.io/name": app}
	maps.Copy(p.labels, more)
	return p
}

// replica returns p as one pod of a Deployment's ReplicaSet.
func (w *world) replica(p podSpec, hash string) podSpec {
	return p.named(p.name+"-"+hash+"-"+w.letters(5), p.name, map[string]string{"pod-template-hash": hash})
}

// hash returns a new hash of a Deployment's template.
func (w *world) hash() string { return w.letters(10) }

// ordinal returns p as one pod of a StatefulSet.
func (p podSpec) ordinal(n int) podSpec {
	return p.named(fmt.Sprintf("%s-%d", p.name, n), p.name, map[string]string{"apps.kubernetes.io/pod-index": fmt.Sprint(n)})
}

// daemon returns p as the pod of a DaemonSet.
func (w *world) daemon(p podSpec) podSpec {
	return p.named(p.name+"-"+w.letters(5), p.name, map[string]string{"controller-revision-hash": w.letters(9)})
}

// deployed returns a pod of a Deployment with one container of that life.
func deployed(w *world, namespace, name, image string, l life) podSpec {
	return w.replica(podNamed(namespace, name, containerSpec{name: name, image: image, life: l}), w.hash())
}

// job returns the pod of a Job, in the namespace of such, that runs for a while and then completes.
func job(w *world, name string, runs time.Duration) podSpec {
	p := podNamed("batch", name, containerSpec{name: name, image: imageJob, life: life{runs: runs}})
	p.restart = never
	return p.named(name+"-"+w.letters(5), name, map[string]string{"batch.kubernetes.io/job-name": name})
}

// residents are the pods of an ordinary node that are simply there.
func residents(w *world) []podSpec {
	dns := podNamed("kube-system", "coredns", one("coredns", "registry.k8s.io/coredns/coredns:v1.12.4"))
	hash := w.hash()
	prometheus := podNamed("monitoring", "prometheus",
		one("prometheus", "quay.io/prometheus/prometheus:v3.6.0"),
		one("config-reloader", "quay.io/prometheus-operator/prometheus-config-reloader:v0.85.0"))
	return []podSpec{
		w.replica(dns, hash), w.replica(dns, hash),
		w.daemon(podNamed("kube-system", "kube-proxy", one("kube-proxy", "registry.k8s.io/kube-proxy:v1.36.2")).host()),
		w.daemon(podNamed("kube-system", "cilium", one("cilium-agent", "quay.io/cilium/cilium:v1.18.2")).host()),
		deployed(w, "kube-system", "metrics-server", "registry.k8s.io/metrics-server/metrics-server:v0.8.0", life{}),
		prometheus.ordinal(0),
		podNamed("monitoring", "alertmanager", one("alertmanager", "quay.io/prometheus/alertmanager:v0.28.1")).ordinal(0),
		w.daemon(podNamed("monitoring", "node-exporter", one("node-exporter", "quay.io/prometheus/node-exporter:v1.9.1")).host()),
		deployed(w, "monitoring", "kube-state-metrics", "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.17.0", life{}),
		w.replica(podNamed("default", "nfs-client", one("client", imageNFS), one("sidecar", imageRunner)), w.hash()),
	}
}

// placeResidents places the residents of an ordinary node and returns them.
func (sn *scene) placeResidents() []*pod {
	var all []*pod
	for _, spec := range residents(sn.world) {
		restarts := uint32(0)
		if sn.rng.IntN(5) == 0 {
			restarts = 1 + sn.rng.Uint32N(4)
		}
		all = append(all, sn.placePod(spec, sn.between(3*time.Hour, 400*time.Hour), restarts))
	}
	return all
}

// applications are what the pods of a big node belong to.
var applications = [...][2]string{
	{"shop", "checkout"}, {"shop", "cart"}, {"shop", "frontend"}, {"monitoring", "prometheus"}, {"platform", "gateway"},
	{"identity", "login"}, {"data", "importer"}, {"kube-system", "coredns"}, {"shop", "search"}, {"default", "mailer"},
	{"data", "replicator"}, {"platform", "scheduler"}, {"monitoring", "grafana"}, {"shop", "payments"}, {"staging", "checkout"},
}

// still returns a world of that many pods in which nothing happens.
func still(pods, containers int) func(*scene) {
	specs := []containerSpec{one("app", imageApp), one("proxy", imageProxy), one("logs", imageLogs)}[:containers]
	return func(sn *scene) {
		var hashes [len(applications)]string
		for i := range hashes {
			hashes[i] = sn.hash()
		}
		for i := range pods {
			app := applications[i%len(applications)]
			spec := sn.replica(podNamed(app[0], app[1], specs...), hashes[i%len(hashes)])
			sn.placePod(spec, sn.between(time.Hour, 300*time.Hour), 0)
		}
	}
}

// ordinary is a node of residents alone.
func ordinary(sn *scene) { sn.placeResidents() }

// coming has pods that come and go, and none that fails.
func coming(sn *scene) {
	sn.placeResidents()
	comeAndGo(sn, 0)
}

// resized has a pod whose limits are changed while it runs.
func resized(sn *scene) {
	tour(sn)
	spec := podNamed("payments", "api", one("api", imageApp), one("envoy", imageProxy))
	sn.placePod(sn.replica(spec, sn.hash()), 31*time.Hour, 0)
}

// restless has a pod that gives every relist something to find.
func restless(sn *scene) {
	sn.placeResidents()
	sn.startPod(deployed(sn.world, "shop", "checkout", imageApp, life{runs: 40 * time.Second}))
}

// runBackup runs a short job, whose pod is deleted after a while.
func runBackup(sn *scene) {
	p := sn.startPod(job(sn.world, "backup", 1500*time.Millisecond))
	sn.after(5*time.Second, func() { sn.deletePod(p) })
}

// listTooBig is the scenario "list-too-big": the dead containers of the namespace
// batch are never removed. The list of them begins at 85 % of what gRPC lets
// through and exceeds it after 30 s.
func listTooBig(sn *scene) {
	const (
		most    = 20000
		at      = 16440 // at the start, in a few pods
		pods    = 4
		batch   = 40 // in each of the pods that come later: an event shows all containers of its pod
		batches = 5  // every two seconds
	)
	sn.placeResidents()
	dead := 0
	for range pods {
		sn.placeDeadContainers(at/pods, 40*time.Hour)
		dead += at / pods
	}
	var stop func()
	stop = sn.every(2*time.Second, func() {
		for range batches {
			if dead >= most {
				stop()
				return
			}
			sn.placeDeadContainers(batch, time.Minute)
			dead += batch
		}
	})
}

// placeDeadContainers places a finished pod with so many dead containers, the oldest of
// which is of that age.
func (sn *scene) placeDeadContainers(containers int, age time.Duration) {
	spec := job(sn.world, "nightly-import", 0)
	spec.manual, spec.containers = true, nil
	p := sn.newPod(spec)
	if sn.before != nil {
		age = min(age, time.Second)
	}
	born := sn.clock.Add(-age)
	sb := sn.newSandbox(p, 0, born)
	for i := range containers {
		step := &containerSpec{name: fmt.Sprintf("step-%05d", i), image: imageJob}
		at := born.Add(time.Duration(i) * (age / time.Duration(containers+1)))
		c := sn.newContainer(p, step, at)
		sn.run(c, at.Add(100*time.Millisecond))
		sn.end(c, exit{}, at.Add(300*time.Millisecond))
	}
	sn.stopSandbox(sb)
}
