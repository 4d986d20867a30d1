//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	onScreen = 15 * time.Second // how soon the screen has to name what is wrong
	longest  = 75 * time.Second // until every helper is late, where the node is busy, too
)

// The commonest real reason for an unhealthy PLEG is a status that stays locked while runc
// changes limits. Started afterwards, told of nothing but the socket, plegtop names the
// container, the program, the goroutine and the lock.
func TestHolderOfStatusLockIsNamed(t *testing.T) {
	node := newestContainerd(t)
	node.startPod("innocent", "sleep")
	h := node.update("holder")

	v := check(t, node.socket)
	f := v.holder(t, h)
	f.says(t, `goroutine [0-9]+ `, `Task\.Update`)
	f.leads(t, `^relist `, `^call .*ListContainers`, `^lock `, `^goroutine `, `^(container|shim) `, `^helper .*runc update`)

	out, _, _ := runCheck(t, node.socket)
	first, _, _ := strings.Cut(string(out), "\n")
	if !strings.Contains(first, h.helper()) {
		t.Errorf("the first line ends with no proven link of the chain: %s", first)
	}
	h.shown(t, node.socket, "hang")

	check(t, node.socket, "--host-root", node.hostRoot()).holder(t, h)
}

// Of what hangs but holds no lock the lists do not tell: the processes do.
func TestHelpersThatHangAreNamed(t *testing.T) {
	node := newestContainerd(t)
	node.startPod("innocent", "sleep")
	hangs := hangList{
		node.startHangs("create", "creates"), node.startHangs("start", "starts"),
		node.stopHangs("runc", "kill", "kills"), node.stopHangs("runc", "delete", "deletes"),
		node.networkHangs("DEL", "dels"), node.networkHangs("ADD", "adds"), node.stopHangs("umount", "", "unmounts"),
	}
	var v verdict
	unnamed := hangs
	for began := time.Now(); len(unnamed) > 0 && time.Since(began) < longest; {
		v = check(t, node.socket)
		if v.took > withinCheck {
			t.Errorf("the verdict took %v, want it within %v", v.took, withinCheck)
		}
		v.blamesOnly(t, hangs.pods()...)
		unnamed = slices.DeleteFunc(slices.Clone(unnamed), v.tells)
	}
	for _, h := range unnamed {
		t.Errorf("%s of %s is not named", h.helper(), h.pod)
	}
	if t.Failed() {
		t.Log(v.text)
	}
	hangs[0].shown(t, node.socket, hangs[0].helper())
}

// A hangList is all that hangs at a time.
type hangList []hang

func (l hangList) pods() (names []string) {
	for _, h := range l {
		names = append(names, h.pod)
	}
	return names
}

// newestContainerd skips where what hangs, and who is to blame, is another matter.
func newestContainerd(t *testing.T) *private {
	t.Helper()
	node := containerd(t)
	if which == "debian" {
		t.Skip("1.6 has other locks")
	}
	return node
}

// holder returns the finding that names h as what holds a list up: the first one, critical, and no
// other pod is in any.
func (v verdict) holder(t *testing.T, h hang) finding {
	t.Helper()
	if v.took > withinCheck {
		t.Errorf("the verdict took %v, want it within %v", v.took, withinCheck)
	}
	v.blamesOnly(t, h.pod)
	i := slices.IndexFunc(v.Findings, func(f finding) bool {
		return f.Severity == "critical" && (f.ID == "list-hung" || f.ID == "inspect-hung") && f.Subject.Pod == h.pod && f.Subject.ContainerID == h.id
	})
	if i < 0 {
		t.Fatalf("no critical finding names container %s of %s:\n%s", h.id, h.pod, v.text)
	}
	return v.Findings[i]
}

// tells reports whether a finding has the helper that hangs, with its age and container, in its
// words and in its chain.
func (v verdict) tells(h hang) bool {
	helper := regexp.MustCompile(regexp.QuoteMeta(h.helper()) + `.*\b[0-9]+s\b`)
	return slices.ContainsFunc(v.Findings, func(f finding) bool {
		return f.Subject.Pod == h.pod && (h.id == "" || h.program == "umount" || f.Subject.ContainerID == h.id) &&
			helper.MatchString(f.Summary+" "+strings.Join(f.Evidence, " ")) &&
			slices.ContainsFunc(f.Chain, func(l link) bool { return l.Kind == "helper" && strings.Contains(l.Name, h.helper()) })
	})
}

// says fails the test where neither the summary nor the evidence matches each of the patterns.
func (f finding) says(t *testing.T, patterns ...string) {
	t.Helper()
	said := f.Summary + "\n" + strings.Join(f.Evidence, "\n")
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(said) {
			t.Errorf("%s of %s does not say %s:\n%s", f.ID, f.Subject.Pod, p, said)
		}
	}
}

// leads fails the test where the chain has no links that match the patterns, in that order.
func (f finding) leads(t *testing.T, patterns ...string) {
	t.Helper()
	rest := f.Chain
	for _, p := range patterns {
		i := slices.IndexFunc(rest, func(l link) bool { return regexp.MustCompile(p).MatchString(l.Kind + " " + l.Name) })
		if i < 0 {
			t.Errorf("%s of %s: the chain has no %s where it should be: %+v", f.ID, f.Subject.Pod, p, f.Chain)
			return
		}
		rest = rest[i+1:]
	}
}

// shown starts the screen, which must name the pod or its container on a line with that word.
func (h hang) shown(t *testing.T, socket, word string) {
	t.Helper()
	who := h.pod
	if h.id != "" {
		who = fmt.Sprintf("(%s|%.12s)", h.pod, h.id)
	}
	began := time.Now()
	s := plegtop(t, socket, 120, 40)
	if word == h.helper() {
		s.press("4")
	}
	named := regexp.MustCompile(fmt.Sprintf("(?i)%s.*%s|%s.*%s", word, who, who, word))
	s.until(fmt.Sprintf("%s of %s", h.helper(), h.pod), onScreen, named.MatchString)
	t.Logf("%s of %s on the screen after %v", h.helper(), h.pod, time.Since(began))
	s.press("q")
	s.endsWith(0)
}

// hostRoot returns a folder where the node's root is mounted, to be read only, with its /proc.
// It lies in no folder that is emptied by anyone.
func (p *private) hostRoot() string {
	root := filepath.Join(p.folder, "host")
	must(p.t, os.MkdirAll(root, 0o755))
	for _, m := range []struct{ from, to string }{{"/", root}, {"/proc", filepath.Join(root, "proc")}} {
		must(p.t, unix.Mount(m.from, m.to, "", unix.MS_BIND, ""))
		p.t.Cleanup(func() { must(p.t, unix.Unmount(m.to, unix.MNT_DETACH)) })
	}
	must(p.t, unix.Mount("", root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	return root
}
