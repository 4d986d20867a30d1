//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// withinCheck is how soon a check has to name what is wrong here: half of its deadline. That
// it takes 5 s is tested in package engine, by a clock that no load slows down.
const withinCheck = 10 * time.Second

// A verdict is what `plegtop check -o json` said, as far as these tests look.
type verdict struct {
	exit     int
	took     time.Duration
	text     string
	Counts   struct{ Pods, Containers, Exited int }
	Pleg     struct{ Healthy bool }
	Findings []finding
}

type finding struct {
	ID, Severity, Summary string
	Subject               struct{ Operation, Namespace, Pod, Container, ContainerID string }
	Evidence              []string
	Chain                 []link
	Next                  []step
	Cause                 string
}

// A step is one thing to do next.
type step struct{ Kind, Command, Text, When, Risk, Scope string }

// A link is one of the chain from the relist down to what holds it up.
type link struct{ Kind, ID, Name, Proof string }

// check runs the built program once, with further arguments, and holds its output
// to the schema. That the disk of the machine under test is full is no fault that a test
// has put there: it is logged and taken out of the verdict.
func check(t *testing.T, socket string, args ...string) verdict {
	t.Helper()
	v := checkAll(t, socket, args...)
	v.Findings = slices.DeleteFunc(v.Findings, func(f finding) bool {
		if f.ID != "disk-full" {
			return false
		}
		t.Logf("this machine: %s", f.Summary)
		return true
	})
	if len(v.Findings) == 0 && v.exit == 1 {
		v.exit = 0
	}
	return v
}

// checkAll is check that takes nothing out of the verdict.
func checkAll(t *testing.T, socket string, args ...string) verdict {
	t.Helper()
	out, stderr, v := runCheck(t, socket, append(args, "-o", "json")...)
	hold(t, out, stderr)
	must(t, json.Unmarshal(out, &v))
	return v
}

// runCheck returns what the program printed, and how it went.
func runCheck(t *testing.T, socket string, args ...string) (out []byte, stderr string, v verdict) {
	t.Helper()
	program, err := buildOnce()
	must(t, err)
	cmd := exec.Command(program, append([]string{"-r", "unix://" + socket, "check"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	out, err = cmd.Output()
	took := time.Since(began)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, said.String(), verdict{exit: cmd.ProcessState.ExitCode(), took: took, text: string(out)}
}

// hold checks an output against docs/check.schema.json.
func hold(t *testing.T, out []byte, stderr string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "check.schema.json"))
	must(t, err)
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatalf("output is no JSON: %v\n%s\nstandard error:\n%s", err, out, stderr)
	}
	if err := schema.Validate(object); err != nil {
		t.Errorf("output breaks its schema: %v\n%s", err, out)
	}
}

// names reports whether the verdict has a finding of that id on that pod and
// container; an empty name stands for none in particular.
func (v verdict) names(id, pod, container string) bool {
	return slices.ContainsFunc(v.Findings, func(f finding) bool {
		return f.ID == id && (pod == "" || f.Subject.Pod == pod) && (container == "" || f.Subject.Container == container)
	})
}

// blamesOnly fails the test if a finding is about another pod than these.
func (v verdict) blamesOnly(t *testing.T, pods ...string) {
	t.Helper()
	for _, f := range v.Findings {
		if p := f.Subject.Pod; p != "" && !slices.Contains(pods, p) {
			t.Errorf("%s blames %s: %s", f.ID, p, f.Summary)
		}
	}
}

// found checks that the first finding is that one, and in time.
func (v verdict) found(t *testing.T, id, pod string) {
	t.Helper()
	if len(v.Findings) == 0 || v.Findings[0].ID != id || v.Findings[0].Subject.Pod != pod {
		t.Fatalf("want %s of %q first, have:\n%s", id, pod, v.text)
	}
	if v.took > withinCheck {
		t.Errorf("the verdict took %v, want it within %v", v.took, withinCheck)
	}
}

func TestCheckOfHealthyNode(t *testing.T) {
	node := containerd(t)
	node.startPod("web", "sleep")
	v := check(t, node.socket)
	if v.exit != 0 || len(v.Findings) > 0 || !v.Pleg.Healthy || v.Counts.Pods != 1 {
		t.Errorf("exit code %d of a healthy node:\n%s", v.exit, v.text)
	}
}

// Nothing that the runtime says shows a stopped shim: its process does.
func TestCheckNamesStoppedShim(t *testing.T) {
	node := containerd(t)
	_, id := node.startPod("stuck", "sleep")
	node.startPod("other", "sleep")
	node.freeze(parent(node.process(id)), "containerd-shim")
	v := check(t, node.socket)
	v.found(t, "process-stuck", "stuck")
	v.blamesOnly(t, "stuck")
	if v.exit == 0 {
		t.Error("exit code 0 although a shim is stopped")
	}
}

func TestCheckOfStoppedContainerd(t *testing.T) {
	node := containerd(t)
	node.startPod("web", "sleep")
	node.freeze(node.pid(), "containerd")
	v := check(t, node.socket)
	v.found(t, "process-stuck", "") // the cause of the other one
	if !strings.Contains(v.text, `"id":"runtime-unresponsive"`) {
		t.Errorf("it is not said that nothing is answered:\n%s", v.text)
	}
	v.blamesOnly(t, "")
	if v.exit != 2 {
		t.Errorf("exit code %d, want 2", v.exit)
	}
}

func TestCheckOfKilledContainerd(t *testing.T) {
	node := containerd(t)
	node.startPod("web", "sleep")
	node.kill()
	v := check(t, node.socket)
	v.found(t, "runtime-down", "")
	if v.exit != 2 {
		t.Errorf("exit code %d, want 2", v.exit)
	}
	node.restart()
	eventually(t, "the node is healthy again", func() bool { return check(t, node.socket).exit == 0 })
}

// A container whose processes the freezer holds answers every call and does
// nothing.
func TestCheckNamesFrozenContainer(t *testing.T) {
	node := containerd(t)
	_, id := node.startPod("cold", "sleep")
	node.startPod("warm", "sleep")
	freezeGroup(t, node.process(id))
	v := check(t, node.socket)
	v.found(t, "process-stuck", "cold")
	v.blamesOnly(t, "cold")
}

// freezeGroup has the cgroup freezer hold a process until the test ends.
func freezeGroup(t *testing.T, pid int) {
	t.Helper()
	file, freeze, thaw := freezer(t, pid)
	must(t, os.WriteFile(file, []byte(freeze), 0o644))
	t.Cleanup(func() { must(t, os.WriteFile(file, []byte(thaw), 0o644)) })
	eventually(t, "the processes are frozen", func() bool {
		state, err := os.ReadFile(file)
		must(t, err)
		return strings.TrimSpace(string(state)) == freeze
	})
}

// freezer returns the file that holds the processes of a container, and what to
// write there, for either version of cgroups.
func freezer(t *testing.T, pid int) (file, freeze, thaw string) {
	t.Helper()
	groups, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	must(t, err)
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if part[1] == "freezer" {
			return filepath.Join("/sys/fs/cgroup/freezer", part[2], "freezer.state"), "FROZEN", "THAWED"
		}
		if part[0] == "0" {
			file = filepath.Join("/sys/fs/cgroup", part[2], "cgroup.freeze")
		}
	}
	return file, "1", "0"
}

// A shim that is killed leaves a sandbox that is not ready: at no moment is
// another pod blamed, and the containers are seen to have ended.
func TestCheckOfKilledShim(t *testing.T) {
	node := containerd(t)
	_, id := node.startPod("orphan", "sleep")
	node.startPod("other", "sleep")
	shim := parent(node.process(id))
	node.signal(shim, "containerd-shim", 9)
	var v verdict
	eventually(t, "the check says what became of the pod", func() bool {
		v = check(t, node.socket)
		return v.names("ghost-running", "orphan", "")
	})
	v.blamesOnly(t, "orphan")
}
