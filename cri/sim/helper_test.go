package sim

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// In hung-update one lock holds up what looks at every container, and nothing else.
func TestHungUpdateHoldsOneStatusAndTheListOfContainers(t *testing.T) {
	s, c := start(t, "hung-update")
	victim := victimOf(s)
	if victim.pod.spec.namespace != "payments" {
		t.Errorf("the victim is of %s", victim.pod.ref())
	}
	calls := basicCalls(c)
	calls["victim"], calls["sandbox"] = containerStatus(c, victim.status.Id), sandboxStatus(c, victim.sandbox.status.Id)
	calls["filtered list"] = listOf(c, victim.pod.uid)
	calls["other"] = containerStatus(c, victim.pod.containers[1].status.Id)
	got := answers(t, s, 3, calls)
	for _, name := range []string{"Version", "Status", "ListPodSandbox", "sandbox", "other"} {
		if _, answered := got[name]; !answered {
			t.Errorf("%s hangs", name)
		}
	}
	if err := s.setFault("hung-update", false); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, s, 0, calls); len(got) != len(calls) {
		t.Errorf("after the fault only these are answered: %v", got)
	}
}

func listOf(c cri.RuntimeServiceClient, uid string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.ListContainers(ctx, &cri.ListContainersRequest{
			Filter: &cri.ContainerFilter{LabelSelector: map[string]string{labelPodUID: uid}},
		})
		return err
	}
}

// The helper is a child of the shim, is there for minutes already where it is so from the
// beginning, and gets older.
func TestHelper(t *testing.T) {
	s, _ := start(t, "hung-update")
	victim := victimOf(s)
	p := helperOf(t, s, "runc")
	if p.State != "S" || p.PPID != int(victim.sandbox.shim) || !strings.HasSuffix(strings.Join(p.args, " "), " update --resources - "+victim.status.Id) {
		t.Errorf("process %+v, want a child of %d", p, victim.sandbox.shim)
	}
	if age := float64(upBefore)/float64(time.Second) - float64(p.Starttime)/100; age < sickFor.Seconds()-1 || age > sickFor.Seconds()+1 {
		t.Errorf("the helper was begun %v s before the server, want %v", age, sickFor)
	}
	if err := s.setFault("hung-update", false); err != nil {
		t.Fatal(err)
	}
	wantProcesses(t, s, "")
	if err := s.setFault("hung-update", true); err != nil {
		t.Fatal(err)
	}
	if p := helperOf(t, s, "runc"); float64(p.Starttime)/100 < upBefore.Seconds() {
		t.Error("a helper of now was begun before the server")
	}
}

func helperOf(t *testing.T, s *Server, program string) sighting {
	t.Helper()
	for _, p := range look(t, s) {
		if p.Comm == program {
			return p
		}
	}
	t.Fatalf("no process of %s", program)
	return sighting{}
}

// ask asks the runtime's debug socket, or its metrics' port, where the configuration has it.
func ask(t *testing.T, s *Server, section, uri string) (int, string) {
	t.Helper()
	config, err := os.ReadFile(s.HostRoot() + configPath)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(config), "["+section+"]\n  address = \"")
	address, _, _ := strings.Cut(rest, "\"")
	if !ok {
		t.Fatalf("no %s in %s", section, config)
	}
	network := "tcp"
	if section == "debug" {
		network, address = "unix", s.HostRoot()+address
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial(network, address) },
	}}
	answer, err := client.Get("http://runtime" + uri)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

const dumpURI = "/debug/pprof/goroutine?debug=2"

// The dump has the holder of the lock and those who wait for it, at one address: the
// kubelet's lists of the minutes before, and the calls that are held now.
func TestDumpOfHungUpdate(t *testing.T) {
	s, c := start(t, "hung-update")
	victim := victimOf(s)
	calls := map[string]func(context.Context) error{"victim": containerStatus(c, victim.status.Id), "list": basicCalls(c)["ListContainers"]}
	ctx, giveUp := context.WithCancel(t.Context())
	for _, call := range calls {
		go func() { _ = call(ctx) }()
	}
	defer giveUp()
	if err := s.AwaitHeld(t.Context(), Match{}, len(calls)); err != nil {
		t.Fatal(err)
	}
	_, text := ask(t, s, "debug", dumpURI)
	holder := regexp.MustCompile(`(?s)goroutine \d+ \[select, 4 minutes\]:\n[^\n]*dispatch.*shimTask\)\.Update\(.*statusStorage\)\.UpdateSync\((0x[0-9a-f]+),`).FindStringSubmatch(text)
	if holder == nil {
		t.Fatalf("no holder in %s", text)
	}
	waiters := map[string]int{}
	for stack := range strings.SplitSeq(text, "\n\n") {
		if !strings.Contains(stack, "statusStorage).Get("+holder[1]+")") {
			continue
		}
		head, _, _ := strings.Cut(stack, "\n")
		_, method, _ := strings.Cut(stack, "v1._RuntimeService_")
		method, _, _ = strings.Cut(method, "_Handler")
		_, state, _ := strings.Cut(head, " [")
		waiters[method+" "+state]++
	}
	for waiter, want := range map[string]int{
		"ListContainers sync.RWMutex.RLock, 3 minutes]:": 1, "ListContainers sync.RWMutex.RLock, 1 minutes]:": 1,
		"ListContainers sync.RWMutex.RLock]:": 1, "ContainerStatus sync.RWMutex.RLock]:": 1,
	} {
		if waiters[waiter] != want {
			t.Errorf("waiters %v, want %d of %s", waiters, want, waiter)
		}
	}
	if regexp.MustCompile(`\b(LOCK|CTX|CONTAINER|VERB|METHOD|PARENT)\b`).MatchString(text) {
		t.Error("a word that stands for an address is left")
	}
	for line := range strings.Lines(text) {
		if line == "\n\n" || line == "\t/go/src/\n" {
			t.Fatalf("a part of the stacks is missing")
		}
	}
}
