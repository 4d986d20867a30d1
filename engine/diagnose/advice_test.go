package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// lint returns the rules for commands in docs/architecture.md that a command breaks: a command that looks returns
// within 5 s while the trouble lasts, and a command that acts hits the culprit alone.
func lint(command string, acts bool) (broken []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil {
		return []string{"it does not parse: " + err.Error()}
	}
	no := func(what string) { broken = append(broken, what) }
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			lintCall(literals(n.Args), acts, no)
		case *syntax.Word:
			if glob := bareGlob(n); glob != "" && !strings.HasPrefix(glob, "/proc/[0-9]*/") {
				no("the pattern " + glob + " may match what is another pod's")
			}
		case *syntax.Redirect:
			if to := literal(n.Word); n.Op == syntax.RdrOut && !acts && to != "/dev/null" {
				no("a look writes to " + to)
			}
		}
		return true
	})
	return broken
}

// waits are programs that may hang with the runtime, a disk or an init system: commands give them a time limit.
var waits5 = []string{"crictl", "ctr", "df", "journalctl", "lsblk", "smartctl", "fuser", "top", "timedatectl", "snap", "crio", "ss"}

// harmful are programs that no step may name: they choose a process by its name, walk a disk, or repair something that
// is mounted.
var harmful = []string{"pkill", "killall", "find", "du", "lsof", "stat", "findmnt", "fsck", "e2fsck", "xfs_repair", "kubectl", "reboot", "dd"}

func lintCall(args []string, acts bool, no func(string)) {
	if len(args) == 0 {
		return
	}
	timed := false
	if args[0] == "timeout" && len(args) > 2 {
		timed, args = args[1] == "5", args[2:]
	}
	program, rest := args[0], args[1:]
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(rest, w) })
	}
	all := strings.Join(rest, " ")
	switch {
	case slices.Contains(harmful, program):
		no(program + " is no command for a sick node")
	case slices.Contains(waits5, program) && !timed && !acts:
		no(program + " may hang, and has no timeout 5")
	case program == "umount" && has("-a"):
		no("umount -a takes away mounts of other pods")
	case program == "head" && (has("-1", "-n1") || strings.Contains(all, "-n 1")):
		no("the first line may be another's")
	case program == "xargs":
		no("xargs runs a command on whatever comes")
	case program == "ps" && regexp.MustCompile(`\b(args|cmd|command)\b|(^| )(-ef|aux)( |$)`).MatchString(all):
		no("ps reads arguments, which may hang")
	case program == "df" && !strings.Contains(all, "/"):
		no("df asks every file system")
	case program == "cat" && regexp.MustCompile(`/(cmdline|environ)\b`).MatchString(all):
		no("arguments and environment may hang")
	case program == "systemctl" && has("kill") && !has("--kill-whom=main"):
		no("systemctl kill signals all processes of the unit")
	case program == "mount" && strings.Contains(all, "remount,rw"):
		no("a remount for writing loses data")
	case program == "rm" && strings.HasPrefix(all, "-r"):
		no("rm -r")
	case program == "kill" && has("-ABRT", "-USR1") && len(rest) != 2:
		no("ABRT and USR1 go to one process")
	case strings.Contains(all, "io.kubernetes.pod.name") && !strings.Contains(all, "io.kubernetes.pod.namespace"):
		no("pods of that name are in other namespaces, too")
	case has("--force", "--grace-period=0"):
		no("a forced removal leaves the container running")
	}
}

func literals(words []*syntax.Word) (all []string) {
	for _, w := range words {
		all = append(all, literal(w))
	}
	return all
}

// literal returns the literal parts of a word.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				if lit, is := in.(*syntax.Lit); is {
					b.WriteString(lit.Value)
				}
			}
		}
	}
	return b.String()
}

// bareGlob returns a word that the shell would expand to other words.
func bareGlob(w *syntax.Word) string {
	for _, part := range w.Parts {
		if lit, is := part.(*syntax.Lit); is && strings.ContainsAny(lit.Value, "*?") {
			return literal(w)
		}
	}
	return ""
}

// keepsTheRules checks that the commands of a finding keep the rules, with the operands that an incident gives.
// [answered] calls it for all findings of the tests.
func keepsTheRules(t *testing.T, f Finding) {
	t.Helper()
	for _, s := range f.Next {
		for _, broken := range lint(s.Command, s.Kind == Act) {
			t.Errorf("%s: %s: %s", f.ID, s.Command, broken)
		}
		scoped := slices.Contains([]string{"pod", "mount", "runtime", "node"}, s.Scope)
		if s.Kind == Act && (s.Risk == "" || !scoped) || s.Kind == Look && s.Risk+s.Scope != "" || s.Kind != Act && s.Kind != Look || s.Text == "" {
			t.Errorf("%s: an act has a risk and a scope, and every step a text: %+v", f.ID, s)
		}
		if told := s.Command + s.Says() + s.Risk; placeholder.MatchString(told) || strings.Contains(told, "  ") {
			t.Errorf("%s: a value is missing: %+v", f.ID, s)
		}
	}
}

func TestLint(t *testing.T) {
	for command, fine := range map[string]bool{
		"cat /proc/4711/stack":                       true,
		"timeout 5 crictl inspect 8f2a":              true,
		"kill 4711":                                  true,
		"pkill -9 -f x":                              false,
		"umount -a -t nfs":                           false,
		"findmnt -S x | head -n 1":                   false,
		"crictl ps":                                  false,
		"ps -eo pid,args":                            false,
		"df -h":                                      false,
		"mount -o remount,rw /":                      false,
		"kubectl delete pod --force x":               false,
		"systemctl kill -s ABRT k3s":                 false,
		"echo 'unfinished":                           false,
		"crictl ps --label io.kubernetes.pod.name=x": false,
		"ls /var/lib/kubelet/pods/*":                 false,
	} {
		if broken := lint(command, strings.HasPrefix(command, "kill")); (len(broken) == 0) != fine {
			t.Errorf("%s: %q", command, broken)
		}
	}
}
