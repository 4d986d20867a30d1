package sim

import (
	"slices"
	"time"
)

// The tour's cycle. Whatever it changes is back as it was at its end, so that it
// can go on for ever: the pods that crash are deleted before their back-off gets
// long, and each cycle replaces the sandbox of another pod, whose back-off
// has been forgotten when its turn comes again.
const tourCycle = 60 * time.Second

// The actors are the pods of the tour that its steps do something to.
type actors struct {
	checkout, frontend            []*pod
	search, ledger, report, thumb *pod
	replaced                      []*pod // those whose sandboxes are replaced, in turn
	turn                          int
}

func placeTour(sn *scene) {
	a := &sn.actors
	a.replaced = sn.replaceable(sn.placeResidents())
	a.checkout = sn.placeDeployment(sn.checkoutPod, 3)
	a.frontend = sn.placeDeployment(sn.frontendPod, 2)
	a.search = sn.placePod(searchPod(), sn.between(time.Hour, 20*time.Hour), 0)
}

// tour has all that happens on the tour happen behind another scenario.
func tour(sn *scene) {
	placeTour(sn)
	sn.repeat(tourCycle, tourSteps)
}

// tourSteps are one cycle. Between two steps pods go on by themselves, so that
// something happens all the time.
var tourSteps = []step{
	{300 * time.Millisecond, func(sn *scene) {
		sn.actors.ledger = sn.startPod(deployed(sn.world, "shop", "ledger", imageApp, life{runs: 2 * time.Second, exit: crashes[0]}))
	}, caption{What: "ledger starts, crashes after 2 s and restarts.", Watch: "Started, Died 1, Started, Died 1."}},
	{1500 * time.Millisecond, func(sn *scene) {
		sn.rollOut(sn.actors.checkout, sn.checkoutPod, 5*time.Second, 4*time.Second)
	}, caption{What: "The rolling update of checkout begins.", Watch: "Started on a new pod."}},
	{5500 * time.Millisecond, nil, caption{What: "The old checkout pod gets SIGTERM.", Watch: "Died 143, then Removed."}},
	{8 * time.Second, func(sn *scene) {
		p := job(sn.world, "report", 7*time.Second)
		p.init = []containerSpec{{name: "fetch", image: imageJob, life: life{runs: 1500 * time.Millisecond}}}
		sn.actors.report = sn.startPod(p)
	}, caption{What: "The job report starts with an init container.", Watch: "Died 0 on the init container, then Started."}},
	{12 * time.Second, runBackup, caption{What: "The job backup runs for 1.5 s.", Watch: "Started, Died 0, then Removed."}},
	{17 * time.Second, func(sn *scene) {
		sn.actors.thumb = sn.startPod(deployed(sn.world, "batch", "thumbnailer", imageApp, life{stuck: true}))
	}, caption{What: "thumbnailer is created and never started.", Watch: "Changed: the kubelet does not send this event."}},
	{20 * time.Second, func(sn *scene) {
		for _, c := range sn.actors.search.running() {
			sn.exitContainer(c, exit{code: 137, reason: "OOMKilled"})
		}
	}, caption{What: "search runs out of memory.", Watch: "Died 137 OOMKilled, then Started."}},
	{at: 21800 * time.Millisecond, do: runBackup},
	{27 * time.Second, func(sn *scene) {
		a := &sn.actors
		sn.replaceSandbox(a.replaced[a.turn%len(a.replaced)])
		a.turn++
	}, caption{What: "The sandbox of a pod dies.", Watch: "Died 137 on all containers of the pod, then Started."}},
	{31 * time.Second, func(sn *scene) {
		sn.rollOut(sn.actors.frontend, sn.frontendPod, 5*time.Second, 3*time.Second)
	}, caption{What: "The rolling update of frontend begins.", Watch: "Started on a new pod."}},
	{at: 33 * time.Second, do: runBackup},
	{34 * time.Second, nil, caption{What: "The old frontend pod ignores SIGTERM for 2 s.", Watch: "Died 137."}},
	{41 * time.Second, func(sn *scene) { sn.deletePod(sn.actors.search) }, caption{What: "search is deleted.", Watch: "Died 0, then Removed."}},
	{45 * time.Second, func(sn *scene) { sn.actors.search = sn.startPod(searchPod()) }, caption{What: "search is back with its old name and a new UID.", Watch: "Started."}},
	{47 * time.Second, func(sn *scene) { sn.deletePod(sn.actors.ledger) }, caption{What: "ledger is deleted while it waits for its restart.", Watch: "Removed."}},
	{at: 50 * time.Second, do: runBackup},
	{52 * time.Second, func(sn *scene) { sn.deletePod(sn.actors.thumb) }, caption{What: "thumbnailer is deleted. It never ran.", Watch: "Removed."}},
	{55 * time.Second, func(sn *scene) { sn.deletePod(sn.actors.report) }, caption{What: "report is deleted long after it ended.", Watch: "Removed."}},
	{at: 57 * time.Second, do: runBackup},
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
	return append(all, slices.DeleteFunc(residents, func(p *pod) bool { return p.spec.hostNetwork || p.spec.namespace == "default" })...)
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
