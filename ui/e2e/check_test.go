//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegtop/plegtop/cri/sim"
)

// A checked is what a check said and how it ended.
type checked struct {
	exit           int
	stdout, stderr string
}

func check(t *testing.T, args ...string) checked {
	t.Helper()
	cmd := exec.Command(plegtop(t), args...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if exit := (*exec.ExitError)(nil); !errors.As(cmd.Run(), &exit) && cmd.ProcessState == nil {
		t.Fatal("it did not run")
	}
	return checked{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// a finding as the JSON has it.
type finding struct {
	ID, Severity, Cause string
	Subject             struct{ Operation, Namespace, Pod, Container string }
}

func (c checked) findings(t *testing.T) []finding {
	t.Helper()
	var all struct{ Findings []finding }
	if err := json.Unmarshal([]byte(c.stdout), &all); err != nil {
		t.Fatalf("%v in %q; standard error: %s", err, c.stdout, c.stderr)
	}
	return all.Findings
}

// Each scenario of the demo that plays an incident is found by a check of the
// whole program, with what it is about, and the quiet ones are not accused.
func TestCheckFindsWhatTheDemoPlays(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "check.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		scenario, id, operation string
		exit                    int
	}{
		{"quiet", "", "", 0},
		{"hung-inspect", "inspect-hung", "ContainerStatus", 2},
		{"status-lock", "inspect-hung", "ContainerStatus", 2},
		{"deadlock", "runtime-unresponsive", "", 2},
		{"inspect-failing", "inspect-failing", "ContainerStatus", 1},
		{"list-too-big", "list-too-big", "ListContainers", 2},
		{"slow", "runtime-slow", "", 1},
		{"churn-storm", "relist-slow-churn", "", 1},
		{"network-not-ready", "network-not-ready", "Status", 2},
		{"ghost", "ghost-running", "", 1},
		{"failing-store", "store-failing", "", 2},
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			t.Parallel()
			got := check(t, "--demo="+tt.scenario, "check", "-o", "json")
			object, err := jsonschema.UnmarshalJSON(strings.NewReader(got.stdout))
			if err != nil {
				t.Fatalf("%v; standard error: %s", err, got.stderr)
			}
			if err := schema.Validate(object); err != nil {
				t.Errorf("not of the schema: %v", err)
			}
			if got.exit != tt.exit || got.stderr != "" {
				t.Errorf("exit code %d, want %d; standard error: %q", got.exit, tt.exit, got.stderr)
			}
			findings := got.findings(t)
			switch {
			case tt.id == "" && len(findings) > 0:
				t.Errorf("a healthy node is accused: %+v", findings)
			case tt.id != "" && (len(findings) == 0 || findings[0].ID != tt.id):
				t.Errorf("findings = %+v, want %s first", findings, tt.id)
			case tt.operation != "" && findings[0].Subject.Operation != tt.operation:
				t.Errorf("it is about %s, want %s", findings[0].Subject.Operation, tt.operation)
			}
		})
	}
}

func TestCheckAsPlugin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, says string
		exit       int
	}{
		{"--demo=quiet", `^ok`, 0},
		{"--demo=network-not-ready", `^network-not-ready`, 1},
		{"-r /nowhere/at-all.sock", `^runtime-down: `, 1},
		{"-r /dev/null", `^runtime-down: .* a device in the place`, 1},
		{"-r tcp://10.0.0.1:1", `^unknown: `, 2},
		{"--nonsense", `^unknown: unknown flag`, 2},
		{"--config=/dev/zero", `^unknown: read settings: .*not a regular file`, 2},
		{"--theme=none", `^unknown: --theme`, 2},
	} {
		got := check(t, append(strings.Fields(tt.args), "check", "--exit-codes=npd")...)
		if got.exit != tt.exit || len(got.stdout) > 80 || strings.Count(got.stdout, "\n") != 1 || !regexp.MustCompile(tt.says).MatchString(got.stdout) {
			t.Errorf("%s: exit code %d and %q, want %d and one line like %s", tt.args, got.exit, got.stdout, tt.exit, tt.says)
		}
	}
}

// What cannot be looked at is not a verdict.
func TestCheckCannotTell(t *testing.T) {
	t.Parallel()
	gone := check(t, "-r", "/nowhere/at-all.sock", "check", "-o", "json")
	if gone.exit != 2 || !strings.Contains(gone.stdout, `"id":"runtime-down"`) { // a runtime belongs there
		t.Errorf("exit code %d, standard output %q, standard error %q", gone.exit, gone.stdout, gone.stderr)
	}
	root := check(t, "--host-root", "/nowhere", "check")
	if root.exit != 3 || !strings.Contains(root.stderr, "--host-root /nowhere: no such file or directory; name the folder") {
		t.Errorf("exit code %d, standard output %q, standard error %q", root.exit, root.stdout, root.stderr)
	}
	for _, tt := range []struct{ args, says, stderr string }{
		{"-r tcp://10.0.0.1:1 check -o json", "is a network address", "plegtop --demo"},
		{"check -o json --nonsense", "unknown flag: --nonsense", "plegtop --help"},
		{"check --output=json --theme=none", "--theme", "--theme"},
		{"check -o json --config=/dev/zero", "not a regular file", "not a regular file"},
		{"--demo=nonsense check -ojson", "nonsense", "--demo"},
	} {
		got := check(t, strings.Fields(tt.args)...)
		if said := got.unknown(t); got.exit != 3 || !strings.Contains(said, tt.says) || !strings.Contains(got.stderr, tt.stderr) {
			t.Errorf("%s: exit code %d, standard output %q, standard error %q", tt.args, got.exit, got.stdout, got.stderr)
		}
	}
	if got := check(t, "watch", "-o", "json", "--nonsense"); got.exit != 3 || got.stdout != "" {
		t.Errorf("watch: exit code %d, standard output %q", got.exit, got.stdout)
	}
}

// unknown returns why a check could not look, by its JSON, which it holds against the schema.
func (c checked) unknown(t *testing.T) string {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "check.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	object, err := jsonschema.UnmarshalJSON(strings.NewReader(c.stdout))
	if err == nil {
		err = schema.Validate(object)
	}
	var said struct{ Error string }
	if err = errors.Join(err, json.Unmarshal([]byte(c.stdout), &said)); err != nil {
		t.Errorf("%v in %q; standard error: %s", err, c.stdout, c.stderr)
	}
	return said.Error
}

// A node whose kubelet is told to take a runtime that is down is not healthy because
// another runtime answers on it.
func TestCheckOfTheRuntimeThatIsMeant(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	server, err := sim.Start(t.Context(), sim.Config{Scenario: "quiet", Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	socket := filepath.Join(root, "run", "containerd", "containerd.sock")
	config := filepath.Join(root, "var", "lib", "kubelet", "config.yaml")
	text := []byte("containerRuntimeEndpoint: unix:///run/crio/crio.sock")
	err = errors.Join(os.MkdirAll(filepath.Dir(socket), 0o700), os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, text, 0o600),
		os.Symlink(strings.TrimPrefix(server.Endpoint(), "unix://"+root), socket))
	if err != nil {
		t.Fatal(err)
	}
	got := check(t, "--host-root", root, "check", "-o", "json")
	if got.exit != 2 || !strings.Contains(got.stdout, `"id":"runtime-down"`) || !strings.Contains(got.stderr, "(/var/lib/kubelet/config.yaml); another one does at") {
		t.Errorf("exit code %d, standard output %q, standard error %q", got.exit, got.stdout, got.stderr)
	}
}

// A verdict that nobody can read is none. Where only the status is wanted, it is.
func TestCheckToAClosedOutput(t *testing.T) {
	t.Parallel()
	for redirection, want := range map[string]int{">&-": 3, ">/dev/null": 0, ">/dev/null 2>&1": 0, "1<>/dev/null 2>&1": 0} {
		cmd := exec.Command("sh", "-c", `"$0" --demo=quiet check `+redirection, plegtop(t))
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		_ = cmd.Run() // its status tells
		if got := cmd.ProcessState.ExitCode(); got != want || want == 3 && !strings.Contains(stderr.String(), "write >/dev/null if") {
			t.Errorf("%s: exit code %d, want %d; standard error %q", redirection, got, want, stderr.String())
		}
	}
}

// The search for the runtime is part of the time that a check has: a socket that
// takes connections and never answers does not cost more.
func TestCheckKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "cri.sock")
	silent, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	plegtop(t) // builds it
	took := func(endpoint string) time.Duration {
		began := time.Now()
		if got := check(t, "-r", endpoint, "check", "--deadline", "400ms"); got.exit == 0 {
			t.Errorf("exit code 0: %s%s", got.stdout, got.stderr)
		}
		return time.Since(began)
	}
	least := time.Hour // a busy machine adds to it, now and then, and to one that has nobody to ask as well
	for tries := 0; tries < 40 && (tries < 3 || least > 900*time.Millisecond); tries++ {
		nobody := took(socket + ".none")
		least = min(least, took(socket)-nobody)
	}
	if least > 900*time.Millisecond {
		t.Errorf("it took %v more than where nobody is to be asked", least)
	}
}
