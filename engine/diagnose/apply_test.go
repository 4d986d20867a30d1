package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// reporting returns a rule of crash loops that reports these matches.
func reporting(most int, byOwner bool, all ...Match) *Rule {
	return &Rule{ID: CrashLoop, Most: most, ByOwner: byOwner, Find: func(_ *Facts, report func(Match)) {
		for _, m := range all {
			report(m)
		}
	}}
}

// A sayer is a detail that counts its calls.
type sayer func(*Match)

func (s sayer) say(_ *Facts, m *Match) { s(m) }
func (sayer) draw(*Facts, *Match)      {}

// matchOf returns a match about the i-th of some pods, each of another owner.
func matchOf(i int) Match {
	ref := pleg.PodRef{Namespace: "shop", Name: fmt.Sprintf("web%d", i)}
	return Match{Severity: Warning, Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: ref, ID: ref.Name}}, Values: Values{"path": ref.String()}}
}

func TestMatchesThatAreAloneCountForNoLimit(t *testing.T) {
	var all []Match
	for i := range 7 {
		m := matchOf(i)
		m.Alone = i%2 == 1
		all = append(all, m)
	}
	for _, byOwner := range []bool{false, true} {
		var names []string
		for _, d := range healthy(1).facts().apply(reporting(2, byOwner, all...), nil) {
			names = append(names, fmt.Sprintf("%s%s %d", d.Group, d.Subject.ID, d.Count))
		}
		want := "web1 0, web3 0, web5 0, web0 0, web2 0,  2"
		if byOwner { // the owner is the key
			want = strings.NewReplacer("web0", "shop/web0web0", "web2", "shop/web2web2").Replace(want)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("by owner %v: %s, want %s", byOwner, got, want)
		}
	}
}

// A rest of one match gets its own finding. A rest of more is as bad as the worst of them, even if that one comes late.
func TestARestIsOfSeveralAndAsBadAsTheWorst(t *testing.T) {
	for n, want := range map[int]string{4: "warning 0, warning 0, warning 0, critical 0", 5: "warning 0, warning 0, warning 0, critical 2", 90: "warning 0, warning 0, warning 0, critical 87"} {
		var all []Match
		for i := range n {
			all = append(all, matchOf(i))
		}
		all[n-1].Severity = Critical
		for _, byOwner := range []bool{false, true} {
			var got []string
			for _, d := range healthy(1).facts().apply(reporting(3, byOwner, all...), nil) {
				got = append(got, fmt.Sprint(d.Severity, " ", d.Count))
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%d, by owner %v: %s, want %s", n, byOwner, got, want)
			}
		}
	}
}

func TestOnlyWhatIsNamedIsPutIntoWords(t *testing.T) {
	said := 0
	var all []Match
	for i := range 1000 {
		m := matchOf(i)
		m.Of = sayer(func(m *Match) { said++; m.Values = Values{"path": "a"} })
		all = append(all, m)
	}
	drafts := healthy(1).facts().apply(reporting(3, true, all...), nil)
	if len(drafts) != 4 || drafts[3].Count != 997 || said != 3+membersMost {
		t.Errorf("%d findings, the last of %d; %d matches put into words, want %d", len(drafts), drafts[3].Count, said, 3+membersMost)
	}
}

func TestARestHasTheNodesOfAll(t *testing.T) {
	var all []Match
	for i := range 80 {
		m := matchOf(i)
		m.Nodes = []string{fmt.Sprint("process ", i)}
		all = append(all, m)
	}
	r := reporting(3, true, all...)
	if d := healthy(1).facts().apply(r, nil)[3]; len(d.Nodes) != 77 {
		t.Errorf("%d nodes of 77 processes", len(d.Nodes))
	}
	for i := range all { // only what is named costs something
		nodes := all[i].Nodes
		all[i].Nodes, all[i].Of = nil, sayer(func(m *Match) { m.Nodes = nodes })
	}
	if d := healthy(1).facts().apply(reporting(3, true, all...), nil)[3]; len(d.Nodes) != membersMost {
		t.Errorf("%d nodes of those that are named, want %d", len(d.Nodes), membersMost)
	}
}

func TestAHealthyNodeAllocatesNothing(t *testing.T) {
	in := healthy(200).input()
	var k kept
	k.read(in.Snapshot, "", nil).diagnose()
	if n := testing.AllocsPerRun(20, func() {
		if found := k.read(in.Snapshot, "", nil).diagnose(); found != nil {
			t.Fatal(gist(found))
		}
	}); n != 0 {
		t.Errorf("a diagnosis of a healthy node makes %v allocations", n)
	}
}

func TestWhatIsNotKnownIsNotWritten(t *testing.T) {
	for value, want := range map[any]string{time.Time{}: "a", pid(0): "a", pid(7): "a b 7", now: "a b " + clock(now, now)} {
		if text, _ := sentence("a[ b {v}]", Values{"v": value}, now); text != want {
			t.Errorf("%v is written as %q, want %q", value, text, want)
		}
	}
	if v := processValues(evidence.Process{}); len(v) != 0 {
		t.Errorf("commands about a process that nobody has found have %v", v)
	}
}

// Lists that fail now and then, and a PLEG that was unhealthy now and then, are one finding: each figure is about its
// own time, and the look at the runtime's log, which both ask for, is there once.
func TestTurnsOfListsAndOfPLEG(t *testing.T) {
	const minute = time.Minute
	f := flapped(healthy(2), 3*minute, turn{30 * minute, 0, true}, turn{20 * minute, 1, false}, turn{15 * minute, 2, true}, turn{10 * minute, 3, false}, turn{5 * minute, 4, true}).facts()
	m := f.failingByTurns()
	m.Values, m.Steps["+flaps"] = m.Values.with(f.spellValues(f.Memory.Spells)), f.advise("pleg.flaps", nil)
	d := f.draft(&plegUnhealthy, &m)
	f.draw(&d)
	text := strings.Join(d.Evidence, "\n")
	for _, want := range []string{"of the last " + going(answers.FlakyFor) + " failed", "unhealthy 2 times in 20m"} {
		if !strings.Contains(text, want) {
			t.Errorf("the evidence lacks %q:\n%s", want, text)
		}
	}
	for i, s := range d.Next {
		if slices.ContainsFunc(d.Next[i+1:], s.Same) {
			t.Errorf("%s twice", s.Command)
		}
	}
}

// A line about the kubelet's verdict on the node stays if the kubelet gives no message.
func TestNotReadyWithoutAMessage(t *testing.T) {
	n := healthy(2).condition("NetworkReady")
	n.Node = kubelet.Node{Known: true, Since: ago(time.Minute)}
	found := find(&networkNotReady, n.facts())
	if len(found) != 1 || !slices.Contains(found[0].Evidence, "by the kubelet's rules the node is NotReady since "+clock(ago(time.Minute), now)) {
		t.Errorf("%v", found)
	}
}

// What kills because memory is short is looked for in the kernel's log, and not among the processes that live.
func TestAKilledProcessIsLookedForInTheLog(t *testing.T) {
	n := healthy(2)
	in := n.input()
	in.Evidence = looked(n)
	in.Evidence.Limits = []evidence.Limit{{What: evidence.OOMKills, Of: "containerd", PID: 9, Used: 2, Most: 1, Path: "/sys/fs/cgroup/system.slice/containerd.service/memory.events"}}
	found := find(&limitsNear, factsOf(in))
	if len(found) != 1 || !slices.ContainsFunc(found[0].Next, func(s Step) bool { return strings.HasPrefix(s.Command, "dmesg") }) {
		t.Errorf("%v", found)
	}
}

// A hang of Status or Version explains nothing about lists. Every other limit on what explains what holds for it, too.
func TestWhatExplainsWhat(t *testing.T) {
	status := Finding{ID: RuntimeUnresponsive, Severity: Critical, Subject: Subject{Operation: "Status"}}
	socket := status
	socket.Group = groupSocket
	notReady, lists := Finding{ID: RuntimeNotReady, Severity: Critical}, Finding{ID: ListHung, Severity: Critical}
	for _, c := range []struct {
		cause, effect *Finding
		rule          *Rule
		want          bool
	}{{&status, &notReady, &runtimeNotReady, true}, {&socket, &notReady, &runtimeNotReady, false}, {&status, &lists, &listHung, false}} {
		if got := accountsFor(c.cause, c.effect, c.rule); got != c.want {
			t.Errorf("%s %s explains %s: %v", c.cause.ID, c.cause.Group, c.effect.ID, got)
		}
	}
}
