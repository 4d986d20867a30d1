//go:build linux

package e2e

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plegtop/plegtop/cri/sim"
)

// named matches a line that names the call that hangs, and for how long it has.
var named = regexp.MustCompile(`relist › ContainerStatus of a/victim-0/stuck [0-9.]+m?s`)

func serve(t *testing.T) *sim.Server {
	t.Helper()
	server, err := sim.Start(t.Context(), sim.Config{Scenario: "quiet", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// A ContainerStatus that hangs is named at once: operation, pod, container and for how
// long.
func TestHungCallIsNamed(t *testing.T) {
	t.Parallel()
	server := serve(t)
	pod := server.AddPod(sim.PodSpec{Namespace: "a", Name: "victim-0", Containers: []string{"stuck"}})
	r := start(t, 80, 24, nil, plegtop(t), "-r", server.Endpoint())
	r.see(t, "victim-0")
	r.see(t, "no pod to inspect") // the first relist has settled, and another one
	hung := sim.Match{Method: "ContainerStatus", ID: pod.Containers["stuck"]}
	release := server.AddRule(sim.Rule{Match: hung, Hangs: true})
	defer release()
	if err := server.ExitContainer(pod.Containers["stuck"], 3, "", ""); err != nil {
		t.Fatal(err)
	}
	if err := server.AwaitHeld(t.Context(), hung, 1); err != nil {
		t.Fatal(err)
	}
	_, err := r.Wait("the call in flight", gone, func(lines []string) bool {
		return slices.ContainsFunc(lines, named.MatchString)
	})
	if err != nil {
		t.Error(err)
	}
	release()
	r.see(t, "error")
}

// paused matches the headline of a relist that has been paused for some seconds.
var paused = regexp.MustCompile(`PAUSED  the last look was ([3-9]|\d\d)s ago`)

// The word HEALTHY is gone from the header soon after the runtime is.
// While paused nothing is judged, and only the age of the last look grows.
func TestHeadlineFollowsTheRuntime(t *testing.T) {
	t.Parallel()
	server := serve(t)
	r := start(t, 80, 24, nil, plegtop(t), "-r", server.Endpoint())
	r.see(t, "✔ HEALTHY")
	r.press(t, "p")
	if _, err := r.Wait("PAUSED without a verdict", limit, func(lines []string) bool {
		head := strings.Join(lines[:3], "\n")
		return paused.MatchString(head) && !strings.Contains(head, "HEALTHY") && !strings.Contains(head, "NotReady")
	}); err != nil {
		t.Error(err)
	}
	r.press(t, "p")
	r.see(t, "✔ HEALTHY")
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := r.Wait("no HEALTHY", gone, func(lines []string) bool {
		return !strings.Contains(strings.Join(lines[:3], "\n"), "HEALTHY")
	})
	if err != nil {
		t.Error(err)
	}
	r.press(t, "q")
	r.over(t, 0)
}

// evil is what a runtime, or whoever can name a pod there, may send: it moves
// the cursor, sets the clipboard, and hides itself from the eye. Its plain part
// shows that the text did reach the screen.
const evil = "EVIL\x1b]52;c;UFdO\x07\x1b[666;6H\u009b666m\u0085\u202e\r\n\t\x7f\x08"

// raw lists what of evil must never reach the terminal.
var raw = []string{"\x1b]52;c;UFdO\x07", "\x1b[666", "\u009b", "\u0085", "\u202e", "\x7f"}

// Hostile text in every field that a runtime fills never reaches the terminal
// as it is, in any pane.
func TestHostileTextIsCleaned(t *testing.T) {
	t.Parallel()
	server := serve(t)
	pod := server.AddPod(sim.PodSpec{Namespace: "n", Name: "a-pod", Containers: []string{"c", "d"}})
	must(t, server.ExitContainer(pod.Containers["d"], 1, "r", "m"))
	undo := server.AddRule(sim.Rule{Change: func(m proto.Message) { poison(m.ProtoReflect()) }})
	defer undo()
	r := start(t, 400, 60, nil, plegtop(t), "-r", server.Endpoint())
	r.see(t, "EVIL^[]52;c;UFdO^G^[[666") // a pod's, not the runtime's name, which comes before any pod and is cut
	r.tour(t)

	// The texts of errors: first of one inspection, then of the lists.
	pod = server.AddPod(sim.PodSpec{Namespace: "n", Name: "failing", Containers: []string{"c"}})
	server.AddRule(sim.Rule{Match: sim.Match{Method: "ContainerStatus", ID: pod.Containers["c"]}, Errs: []error{status.Error(codes.Internal, "ERROR"+evil)}})
	if err := server.ExitContainer(pod.Containers["c"], 1, "", ""); err != nil {
		t.Fatal(err)
	}
	r.press(t, "W")
	r.see(t, "failing")
	r.see(t, "ERROR") // in its row, and in its sheet beside that
	server.AddRule(sim.Rule{Match: sim.Match{Method: "ListContainers"}, Errs: []error{status.Error(codes.Unavailable, "LISTING"+evil)}})
	r.see(t, "LISTING")
	r.tour(t)

	r.press(t, "q")
	r.over(t, 0)
	for _, bad := range raw {
		if i := bytes.Index(r.Raw(), []byte(bad)); i >= 0 {
			t.Errorf("%q was written: %q", bad, r.Raw()[max(0, i-60):min(len(r.Raw()), i+60)])
		}
	}
}

// tour shows every pane and dialog that holds text from the runtime. What it waits for after a
// key that opens or closes something is in no footer but the one that comes then: a slow
// terminal still shows what was there before, and an escape with a key right behind it is alt
// and that key.
func (r run) tour(t *testing.T) {
	t.Helper()
	const panes, sheet, viewer, picker = "q quit", "y raw", "w wrap", "space on/off"
	for _, step := range []struct{ keys, see string }{
		{"2", "2 Events"}, {"3", "3 Calls"}, {"1", "1 Pods"}, {"G", panes}, {" ", panes}, {"\r", sheet}, {"y", viewer}, {"w", viewer},
		{"G", "}"}, {"\x1b", sheet}, {"c", "copied"}, {"\x1b", panes}, {"o", picker}, {"\x1b", panes},
	} {
		r.press(t, step.keys)
		r.see(t, step.see)
	}
}

// poison appends evil, and in some fields ten kilobytes, to every text of a
// message but those by which the runtime is asked again, or by which the
// kubelet knows a pod as one.
func poison(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch name := string(f.Name()); {
		case strings.HasSuffix(name, "id"):
		case f.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, v2 protoreflect.Value) bool {
				if f.MapValue().Kind() == protoreflect.StringKind && !strings.HasSuffix(k.String(), ".uid") {
					v.Map().Set(k, protoreflect.ValueOfString(v2.String()+evil))
				}
				return true
			})
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			for i := range v.List().Len() {
				poison(v.List().Get(i).Message())
			}
		case f.IsList() && f.Kind() == protoreflect.StringKind:
			for i := range v.List().Len() {
				v.List().Set(i, protoreflect.ValueOfString(v.List().Get(i).String()+evil))
			}
		case f.Kind() == protoreflect.MessageKind:
			poison(v.Message())
		case f.Kind() == protoreflect.StringKind:
			long := ""
			if name == "message" || name == "image" {
				long = strings.Repeat("long", 2560)
			}
			m.Set(f, protoreflect.ValueOfString(v.String()+evil+long))
		}
		return true
	})
}
