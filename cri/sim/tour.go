package sim

import "time"

// The tour's cycle. Whatever it changes is back as it was at its end, so that it
// can go on for ever: the pods that crash are deleted before their back-off gets
// long, and each cycle replaces the sandbox of another pod, whose back-off
// has been forgotten when its turn comes again.
const tourCycle = 60 * time.Second

// tour is the scenario of that name. Between two steps pods go on by
// themselves, so that something happens all the time.
func tour(sn *scene) {
	replaced := sn.replaceable(sn.placeResidents()) // those whose sandboxes are replaced, in turn
	checkout := sn.placeDeployment(sn.checkoutPod, 3)
	frontend := sn.placeDeployment(sn.frontendPod, 2)
	search := sn.placePod(searchPod(), sn.between(time.Hour, 20*time.Hour), 0)
	var ledger, report, thumbs *pod
	cycle := 0
	sn.repeat(tourCycle, []step{
		{300 * time.Millisecond, func(sn *scene) {
			ledger = sn.startPod(deployed(sn.world, "shop", "ledger", imageApp, life{runs: 2 * time.Second, exit: crashes[0]}))
		}},
		{1500 * time.Millisecond, func(sn *scene) { sn.rollOut(checkout, sn.checkoutPod, 5*time.Second, 4*time.Second) }},
		{8 * time.Second, func(sn *scene) {
			p := job(sn.world, "report", 7*time.Second)
			p.init = []containerSpec{{name: "fetch", image: imageJob, life: life{runs: 1500 * time.Millisecond}}}
			report = sn.startPod(p)
		}},
		{12 * time.Second, runBackup(5 * time.Second)},
		{17 * time.Second, func(sn *scene) {
			thumbs = sn.startPod(deployed(sn.world, "batch", "thumbnailer", imageApp, life{stuck: true}))
		}},
		{20 * time.Second, func(sn *scene) {
			for _, c := range search.running() {
				sn.exitContainer(c, exit{code: 137, reason: "OOMKilled"})
			}
		}},
		{21800 * time.Millisecond, runBackup(5 * time.Second)},
		{27 * time.Second, func(sn *scene) {
			sn.replaceSandbox(replaced[cycle%len(replaced)])
			cycle++
		}},
		{31 * time.Second, func(sn *scene) { sn.rollOut(frontend, sn.frontendPod, 5*time.Second, 3*time.Second) }},
		{33 * time.Second, runBackup(5 * time.Second)},
		{41 * time.Second, func(sn *scene) { sn.deletePod(search) }},
		{45 * time.Second, func(sn *scene) { search = sn.startPod(searchPod()) }},
		{47 * time.Second, func(sn *scene) { sn.deletePod(ledger) }},
		{50 * time.Second, runBackup(5 * time.Second)},
		{52 * time.Second, func(sn *scene) { sn.deletePod(thumbs) }},
		{55 * time.Second, func(sn *scene) { sn.deletePod(report) }},
		{57 * time.Second, runBackup(5 * time.Second)},
	})
}

// replaceable returns the pods whose sandboxes are replaced in turn: some of
// the residents and some more that it places. There have to be more of them
// than cycles in the ten minutes after which a back-off is forgotten.
func (sn *scene) replaceable(residents []*pod) []*pod {
	var all []*pod
	for _, name := range [...]string{"cart", "catalog", "payments", "profile", "inventory", "reviews"} {
		spec := sn.world.replica(podNamed("shop", name, one(name, imageApp)), sn.hash())
		all = append(all, sn.placePod(spec, sn.between(2*time.Hour, 200*time.Hour), 0))
	}
	for _, p := range residents {
		if !p.spec.hostNetwork && p.spec.namespace != "default" {
			all = append(all, p)
		}
	}
	return all
}

func (sn *scene) placeDeployment(spec func(hash string) podSpec, replicas int) []*pod {
	hash := sn.hash()
	var all []*pod
	for range replicas {
		all = append(all, sn.placePod(spec(hash), sn.between(time.Hour, 40*time.Hour), 0))
	}
	return all
}

func (w *world) checkoutPod(hash string) podSpec {
	p := podNamed("shop", "checkout", one("checkout", imageApp), one("envoy", imageProxy))
	p.containers[0].life = life{stops: 1500 * time.Millisecond, stopCode: 143}
	p.init = []containerSpec{{name: "migrate", image: imageApp, life: life{runs: 900 * time.Millisecond}}}
	return w.replica(p, hash)
}

// frontendPod has a container that ignores SIGTERM, and little patience for it.
func (w *world) frontendPod(hash string) podSpec {
	p := podNamed("shop", "frontend", containerSpec{name: "nginx", image: "docker.io/library/nginx:1.29", life: life{stops: time.Hour}})
	p.grace = 2 * time.Second
	return w.replica(p, hash)
}

func searchPod() podSpec {
	return podNamed("shop", "search", one("opensearch", "docker.io/opensearchproject/opensearch:3.2.0")).ordinal(0)
}

// rollOut replaces the pods of a Deployment one by one: a new one, then, when
// it runs, an old one less.
func (sn *scene) rollOut(pods []*pod, spec func(hash string) podSpec, each, overlap time.Duration) {
	hash := sn.hash()
	for i := range pods {
		sn.after(time.Duration(i)*each, func() {
			old := pods[i]
			pods[i] = sn.startPod(spec(hash))
			sn.after(overlap, func() { sn.deletePod(old) })
		})
	}
}
