package stacks

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A dump of containerd 2.4.2 while runc update hung, without the goroutines that play no part in it.
const real = "testdata/containerd-update.txt"

func file(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var noFrames = cmpopts.IgnoreFields(evidence.Goroutine{}, "Frames")

func TestReadOfContainerd(t *testing.T) {
	s, err := Read(bytes.NewReader(file(t, real)))
	if err != nil {
		t.Fatal(err)
	}
	holder := evidence.Goroutine{Number: 18600, State: "select", Call: "UpdateContainerResources", Doing: "ttrpc Task.Update"}
	want := evidence.Stacks{
		Total: 7,
		Locks: []evidence.Lock{{
			Of: evidence.OfContainer, Address: "0x25a8b963b280", Waiters: 2, Calls: []string{"ContainerStatus", "ListContainers"}, Holder: holder,
		}},
		Open: []evidence.Goroutine{holder},
	}
	if diff := cmp.Diff(want, s, noFrames, cmpopts.IgnoreFields(evidence.Stacks{}, "Groups")); diff != "" {
		t.Error(diff)
	}
	frames := s.Locks[0].Holder.Frames
	if len(frames) != 21 || frames[2] != "github.com/containerd/ttrpc.(*Client).Call" || frames[20] != "google.golang.org/grpc.(*Server).serveStreams.func2.1" {
		t.Errorf("the holder's frames are %q", frames)
	}
	var wait evidence.Group
	for _, g := range s.Groups {
		if g.First == 156 {
			wait = g
		}
	}
	if len(s.Groups) != 7 || wait.Count != 1 || wait.State != "select" || wait.Longest != 14*time.Minute || wait.Frames[4] != "github.com/containerd/containerd/v2/core/runtime/v2.(*shimTask).Wait" {
		t.Errorf("%d groups; that of goroutine 156 is %+v", len(s.Groups), wait)
	}
}

// Wherever a dump is cut, nothing is made up.
func TestReadOfWhatIsCut(t *testing.T) {
	text := file(t, real)
	for i := 0; i < len(text); i += 13 {
		s, err := Read(bytes.NewReader(text[:i]))
		if s.Total > 7 || len(s.Locks) > 1 || len(s.Open) > 1 || (err != nil) != (s.Total == 0) {
			t.Fatalf("cut at %d: %+v, error %v", i, s, err)
		}
		for _, l := range s.Locks {
			if l.Of != evidence.OfContainer || l.Waiters > 2 || l.Holder.Number != 18600 {
				t.Fatalf("cut at %d: %+v", i, l)
			}
		}
	}
}

func TestReadOfSomethingElse(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"a page":       "<html>\n<title>404 page not found</title>\n</html>\n",
		"another dump": "goroutine profile: total 3\n1 @ 0x47b1ee 0x47f0c7\n#\t0x47b1ed\truntime.gopark+0x1\n",
		"one line":     strings.Repeat("goroutine 1 [running]:", 1<<20),
		"no number":    "goroutine x [running]:\nmain.main()\n\t/a.go:1\n",
		"not closed":   "goroutine 1 [running]\nmain.main()\n\t/a.go:1\n",
	} {
		s, err := Read(strings.NewReader(text))
		if err == nil || s.Total != 0 || s.Groups != nil || s.Locks != nil || s.Open != nil {
			t.Errorf("%s: %+v, error %v", name, s, err)
		}
	}
}

// The forms that one goroutine may have in the text.
func TestReadOfOneGoroutine(t *testing.T) {
	const frames = "main.f(0x1)\n\t/a.go:1 +0x1\ncreated by main.main in goroutine 1\n\t/a.go:2 +0x2\n\n"
	broken := "broken"
	for _, tt := range []struct{ text, state, longest, names string }{
		{"goroutine 7 [select]:\n" + frames, "select", "0s", "main.f"},
		{"goroutine 7 [select (no cases), 5 minutes]:\n" + frames, "select (no cases)", "5m0s", "main.f"},
		{"goroutine 7 [chan receive (nil chan), 5 minutes, locked to thread]:\n" + frames, "chan receive (nil chan)", "5m0s", "main.f"},
		{"goroutine 7 [sync.Mutex.Lock, synctest bubble 3]:\n" + frames, "sync.Mutex.Lock", "0s", "main.f"},
		{"goroutine 7 gp=0xc000002380 m=nil [select (durable), 100 minutes, synctest bubble 3]:\n" + frames, "select", "1h40m0s", "main.f"},
		{"goroutine 7 gp=0xc000002380 m=3 mp=0xc00001 [IO wait (scan), 2 minutes]:\n" + frames, "IO wait", "2m0s", "main.f"},
		{"goroutine 7 [chan receive (leaked), 2 minutes labels:{\"a\": \"b, 9 minutes\"}]:\n" + frames, "chan receive", "2m0s", "main.f"},
		{"goroutine 7 [select]:\nmain.f(...)\n\t/a.go:1\ncreated by main.main\n\t/a.go:2 +0x1\n\n", "select", "0s", "main.f"}, // Go 1.17
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\n...additional frames elided...\ncreated by main.main\n\t/a.go:2 +0x1\n\n", "select", "0s", "main.f"},
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\n...12 frames elided...\nmain.g()\n\t/a.go:1\n\n", "select", "0s", "main.f main.g"},
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\ncreated by main.g in goroutine 3\n\t/a.go:2 +0x1\n[originating from goroutine 3]:\nmain.h(...)\n\t/a.go:3\ncreated by main.main\n\t/a.go:4\n\n", "select", "0s", "main.f"},
		{"goroutine 7 [select]:\ngopkg.in/yaml%2ev3.(*T[...]).M(0xc000010000, {0x1, 0x2})\n\t/a.go:1 +0x1\n\n", "select", "0s", "gopkg.in/yaml%2ev3.(*T[...]).M"},
		{"goroutine 7 [running]:\n\tgoroutine running on other thread; stack unavailable\ncreated by main.main in goroutine 1\n\t/a.go:2 +0x2\n\n", "", "", ""},
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\n", "", "", broken},                                                   // what started it is not there
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\nruntime.main()\n\t/a.go:1\n", "select", "0s", "main.f runtime.main"}, // the end of a text
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\ncreated by main.g\n\t/a.go", "select", "0s", "main.f"},               // without the end of its last line
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\ncreated by main.g", "", "", broken},
		{"goroutine 8 [select]:\nmain.f()\n\t/a.go:1\ngoroutine 7 [select]:\n" + frames, "select", "0s", "main.f"}, // a gap
		{"goroutine 7 [select]:\nmain.f()\nmain.g()\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain.f()\n\t/a.go:1\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain.f()\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain.f\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain.\x00()\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain.\xff()\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain." + strings.Repeat("f", 2000) + "()\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select]:\nmain.f(" + strings.Repeat("0x1, ", 20<<10) + "0x1)\n\t/a.go:1\n\n", "", "", broken},
		{"goroutine 7 [select, 99999999999999999999 minutes]:\n" + frames, "", "", broken},
		{"goroutine 7 [" + strings.Repeat("x", 2000) + "]:\n" + frames, "", "", broken},
	} {
		s, _ := Read(strings.NewReader("=== BEGIN goroutine stack dump ===\n" + tt.text))
		if tt.names == broken {
			if s.Total != 0 || len(s.Groups) != 0 {
				t.Errorf("%.80q is read as %+v", tt.text, s)
			}
			continue
		}
		if tt.names == "" && s.Total == 1 && len(s.Groups) == 0 {
			continue
		}
		if len(s.Groups) != 1 || s.Total != 1 {
			t.Errorf("%.80q is read as %+v", tt.text, s)
			continue
		}
		g := s.Groups[0]
		if g.Count != 1 || g.First != 7 || g.State != tt.state || g.Longest.String() != tt.longest || strings.Join(g.Frames, " ") != tt.names {
			t.Errorf("%.80q is read as %+v", tt.text, g)
		}
	}
}

// If there are very many groups, those that wait for a lock or answer a call are shown, however few goroutines
// they have.
func TestGroupsThatTell(t *testing.T) {
	var text strings.Builder
	number := 1
	add := func(times int, state, stack string) {
		for range times {
			fmt.Fprintf(&text, "goroutine %d [%s]:\n%s\n\n", number, state, stack)
			number++
		}
	}
	for i := range 2 * shown {
		add(3, "select", fmt.Sprintf("main.idle%d()\n\t/a.go:1\nmain.main()\n\t/a.go:1", i))
	}
	add(1, "sync.Mutex.Lock", "sync.(*Mutex).Lock(...)\n\t/a.go:1\nexample.com/nri.(*Adaptation).Update(0xc000166690)\n\t/a.go:1\nmain.main()\n\t/a.go:1")
	add(1, "select", "main.stop()\n\t/a.go:1\n"+handler("StopContainer")+"\n\t/a.go:1\nmain.main()\n\t/a.go:1")
	s, err := Read(strings.NewReader(text.String()))
	if err != nil || len(s.Groups) != shown {
		t.Fatalf("%d groups, %v", len(s.Groups), err)
	}
	if a, b := s.Groups[shown-2], s.Groups[shown-1]; s.Groups[0].Count != 3 || a.State != "sync.Mutex.Lock" || b.Frames[0] != "main.stop" {
		t.Errorf("the last groups are %+v, %+v", a, b)
	}
}
