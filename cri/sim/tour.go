package sim

import "time"

// The tour's lap. Whatever a lap changes is back as it was at its end, so that
// it can go on for ever: the pods that crash are deleted before their back-off
// gets long, and each lap replaces the sandbox of another pod, whose back-off
// has been forgotten when its turn comes again.
const lap = 60 * time.Second

// A guide leads through the tour. It knows the pods that it changes.
type guide struct {
	*stage
	checkout  []*pod // the replicas of a Deployment that is rolled out each lap
	frontend  []*pod // another
	search    *pod   // of a StatefulSet; runs out of memory
	ledger    *pod   // crashes
	report    *pod   // a job
	thumbs    *pod   // is stuck in Created
	replaced  []*pod // those whose sandboxes are replaced, in turn
	lapNumber int    // from 0
}

// tour is the scenario of that name.
func tour(st *stage) {
	g := &guide{stage: st}
	g.replaced = g.replaceable(st.settle())
	g.checkout = g.settleDeployment(g.checkoutPod, 3)
	g.frontend = g.settleDeployment(g.frontendPod, 2)
	g.search = st.placePod(g.searchPod(), st.between(time.Hour, 20*time.Hour), 0)
	st.laps(lap, g.beats())
}

// beats is the plan of a lap. Between two beats pods go on by themselves, so
// that something happens all the time.
func (g *guide) beats() []beat {
	return []beat{
		{300 * time.Millisecond, g.startLedger},
		{1500 * time.Millisecond, g.rollOutCheckout},
		{8 * time.Second, g.startReport},
		{12 * time.Second, g.backUp},
		{17 * time.Second, g.startStuck},
		{20 * time.Second, g.outOfMemory},
		{21800 * time.Millisecond, g.backUp},
		{27 * time.Second, g.replace},
		{31 * time.Second, g.rollOutFrontend},
		{33 * time.Second, g.backUp},
		{41 * time.Second, func() { g.deletePod(g.search) }},
		{45 * time.Second, func() { g.search = g.startPod(g.searchPod()) }},
		{47 * time.Second, func() { g.deletePod(g.ledger) }},
		{50 * time.Second, g.backUp},
		{52 * time.Second, func() { g.deletePod(g.thumbs) }},
		{55 * time.Second, func() { g.deletePod(g.report) }},
		{57 * time.Second, g.backUp},
	}
}

// replaceable returns the pods whose sandboxes are replaced in turn: some of
// the residents and some more that it places. There have to be more of them
// than laps in the ten minutes after which a back-off is forgotten.
func (g *guide) replaceable(residents []*pod) []*pod {
	var all []*pod
	for _, name := range [...]string{"cart", "catalog", "payments", "profile", "inventory", "reviews"} {
		spec := g.world.replica(plain("shop", name, one(name, imageApp)), g.hash())
		all = append(all, g.placePod(spec, g.between(2*time.Hour, 200*time.Hour), 0))
	}
	for _, p := range residents {
		if !p.spec.hostNetwork && p.spec.namespace != "default" {
			all = append(all, p)
		}
	}
	return all
}

func (g *guide) settleDeployment(spec func(hash string) podSpec, replicas int) []*pod {
	hash := g.hash()
	var all []*pod
	for range replicas {
		all = append(all, g.placePod(spec(hash), g.between(time.Hour, 40*time.Hour), 0))
	}
	return all
}

func (g *guide) checkoutPod(hash string) podSpec {
	p := plain("shop", "checkout", one("checkout", imageApp), one("envoy", imageProxy))
	p.containers[0].life = life{stops: 1500 * time.Millisecond, stopCode: 143}
	p.init = []containerSpec{{name: "migrate", image: imageApp, life: life{runs: 900 * time.Millisecond}}}
	return g.world.replica(p, hash)
}

// frontendPod has a container that ignores SIGTERM, and little patience for it.
func (g *guide) frontendPod(hash string) podSpec {
	p := plain("shop", "frontend", containerSpec{name: "nginx", image: "docker.io/library/nginx:1.29", life: life{stops: time.Hour}})
	p.grace = 2 * time.Second
	return g.world.replica(p, hash)
}

func (g *guide) searchPod() podSpec {
	return plain("shop", "search", one("opensearch", "docker.io/opensearchproject/opensearch:3.2.0")).ordinal(0)
}

// rollOut replaces the pods of a Deployment one by one: a new one, then, when
// it runs, an old one less.
func (g *guide) rollOut(pods []*pod, spec func(hash string) podSpec, each, overlap time.Duration) {
	hash := g.hash()
	for i := range pods {
		g.after(time.Duration(i)*each, func() {
			old := pods[i]
			pods[i] = g.startPod(spec(hash))
			g.after(overlap, func() { g.deletePod(old) })
		})
	}
}

func (g *guide) rollOutCheckout() {
	g.rollOut(g.checkout, g.checkoutPod, 5*time.Second, 4*time.Second)
}

func (g *guide) rollOutFrontend() {
	g.rollOut(g.frontend, g.frontendPod, 5*time.Second, 3*time.Second)
}

func (g *guide) startLedger() {
	g.ledger = g.startPod(deployed(g.world, "shop", "ledger", imageApp, life{runs: 2 * time.Second, exit: crashes[0]}))
}

func (g *guide) startReport() {
	p := job(g.world, "report", 7*time.Second)
	p.init = []containerSpec{{name: "fetch", image: imageJob, life: life{runs: 1500 * time.Millisecond}}}
	g.report = g.startPod(p)
}

func (g *guide) startStuck() {
	g.thumbs = g.startPod(deployed(g.world, "batch", "thumbnailer", imageApp, life{stuck: true}))
}

func (g *guide) outOfMemory() {
	for _, c := range g.search.running() {
		g.exitContainer(c, exit{code: 137, reason: "OOMKilled"})
	}
}

func (g *guide) replace() {
	g.replaceSandbox(g.replaced[g.lapNumber%len(g.replaced)])
	g.lapNumber++
}

// backUp runs a short job; its pod is deleted soon after.
func (g *guide) backUp() {
	p := g.startPod(job(g.world, "backup", 1500*time.Millisecond))
	g.after(5*time.Second, func() { g.deletePod(p) })
}
