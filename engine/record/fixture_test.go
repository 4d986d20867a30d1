package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// noon is when the engines of these tests start, with a monotonic reading.
var noon = withReading(time.Date(2026, 6, 1, 12, 0, 0, 123456789, time.UTC), 0)

// filled fills all that a value has: each text with one, each list with an element, each time with
// one of the engine's.
func filled(v reflect.Value, text string, at time.Time) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Float64:
		v.SetFloat(2.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), text, at)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), text, at)
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(k, text, at)
		filled(e, text, at)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(at))
			return
		}
		for f, of := range v.Fields() {
			if f.IsExported() {
				filled(of, text, at)
			}
		}
	}
}

// A node lists pods of two containers, and reports what an engine would observe of it.
type node struct {
	sandboxes  []*pleg.ListedSandbox
	containers []*pleg.ListedContainer
	id         uint64
	observe    func(at time.Time, o engine.Observation)
}

func newNode(pods int) *node {
	n := new(node)
	for i := range pods {
		ref := pleg.PodRef{Namespace: "shop", Name: fmt.Sprintf("web-%d", i), UID: pleg.UID(fmt.Sprintf("uid-%d", i))}
		created := time.Unix(1_700_000_000+int64(i), 5)
		n.sandboxes = append(n.sandboxes, &pleg.ListedSandbox{Pod: ref, Sandbox: pleg.Sandbox{ID: fmt.Sprintf("%064x", i), State: pleg.Running, CreatedAt: created}})
		for c := range 2 {
			n.containers = append(n.containers, &pleg.ListedContainer{Pod: ref, Container: pleg.Container{
				ID: fmt.Sprintf("%064x", 1_000_003*(2*i+c+1)), Name: fmt.Sprintf("c%d", c), State: pleg.Running, CreatedAt: created, Image: "registry.corp/web:1", SandboxID: n.sandboxes[i].ID,
			}})
		}
	}
	return n
}

// ends replaces a container by one that has ended.
func (n *node) ends(i int) {
	n.containers = slices.Clone(n.containers)
	c := *n.containers[i]
	c.State, c.Attempt = pleg.Exited, c.Attempt+1
	n.containers[i] = &c
}

func (n *node) call(at time.Time, op call.Operation, a engine.Answer) uint64 {
	n.id++
	n.observe(at, engine.CallBegan{ID: n.id, Flight: call.Flight{Op: op}, Timeout: 2 * time.Minute})
	n.observe(at.Add(3*time.Millisecond), engine.CallEnded{ID: n.id, Answer: a, Trace: call.Trace{RequestBytes: 12, ResponseBytes: 40_000}})
	return n.id
}

// relist reports a relist and a tick.
func (n *node) relist(at time.Time) {
	n.observe(at, engine.Marked{Mark: engine.RelistBegan{}})
	s := n.call(at, call.ListPodSandbox, engine.Answer{Sandboxes: n.sandboxes})
	c := n.call(at.Add(4*time.Millisecond), call.ListContainers, engine.Answer{Containers: n.containers})
	n.observe(at.Add(8*time.Millisecond), engine.Marked{Mark: engine.Listed{Sandboxes: s, Containers: c}})
	n.observe(at.Add(8*time.Millisecond), engine.Marked{Mark: engine.RelistEnded{}})
	n.observe(at.Add(10*time.Millisecond), engine.Ticked{Cost: engine.Cost{CallsPerSecond: 2}})
}

// look reports a look at the processes of all containers, of which none does anything.
func (n *node) look(at time.Time) {
	r := &evidence.Report{At: at.Round(0), Took: 4 * time.Millisecond, OS: "debian", Init: "systemd", Processes: evidence.Processes{Containers: map[string][]evidence.Process{}}}
	for i, c := range n.containers {
		age := at.Sub(noon) + time.Duration(i+1)*time.Hour
		r.Processes.Containers[c.ID] = []evidence.Process{{PID: 1000 + i, Parent: 900, Command: "web", Container: c.ID, Age: age, Start: uint64(i * 7919), State: evidence.Sleeping, For: age / 2}}
	}
	n.observe(at, engine.Looked{Report: r})
}

// A fake is a model whose state is how many observations it has seen, and which rows came last.
type fake struct {
	Seen  int
	Texts []string
	At    time.Time
	rows  []*pleg.ListedContainer
	same  int // how often a list had a pointer of the one before
}

func (f *fake) Apply(at time.Time, o engine.Observation) []engine.Event {
	f.Seen++
	f.At = at
	if end, is := o.(engine.CallEnded); is && end.Answer.Containers != nil {
		for _, row := range end.Answer.Containers {
			if slices.Contains(f.rows, row) {
				f.same++
			}
		}
		f.rows = end.Answer.Containers
	}
	return []engine.Event{{Seq: uint64(f.Seen)}}
}

func (f *fake) Snapshot(at time.Time) *engine.Snapshot {
	return &engine.Snapshot{At: at, Started: f.At, Other: fmt.Sprint(f.Seen)}
}

// record has a recorder take down what do reports, beside a fake model, with a clock of its own
// that wait moves.
func record(t *testing.T, o Options, path string, most int64, do func(f *fake, observe func(time.Time, engine.Observation))) *Recorder {
	t.Helper()
	r := NewRecorder(o)
	synctest.Test(t, func(t *testing.T) {
		if path != "" {
			if err := r.WriteTo(path, most); err != nil {
				t.Fatal(err)
			}
		}
		f := new(fake)
		r.begin(engine.Start{At: noon, Release: 36}, func() any { return *f })
		last := noon
		do(f, func(at time.Time, o engine.Observation) {
			time.Sleep(at.Sub(last))
			last = at
			r.Observe(at, o)
			f.Apply(at, o)
		})
		if err := r.Close(t.Context()); err != nil && r.file == nil {
			t.Error(err)
		}
	})
	return r
}

// player returns a player whose model is a fake.
func player(r *Recording, from time.Time) *Player {
	p := r.Play(from)
	p.restore = func(o *opening) (model, error) {
		f := new(fake)
		err := decodes.Unmarshal(o.Checkpoint, f)
		at := clock{start: o.Start.At, steps: o.Steps}
		*f = at.reading(ages{}).copy(*f).(fake)
		return f, err
	}
	return p
}

// played returns all that a recording shows from a moment on, and why it ends.
func played(r *Recording, from time.Time) (all []engine.Update, err error) {
	p := player(r, from)
	defer p.Close()
	for {
		u, err := p.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, u)
	}
}

func bytesOf(t *testing.T, r *Recording) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// plainOf returns what a recording has after decompression.
func plainOf(t *testing.T, r *Recording) (all []byte) {
	t.Helper()
	for _, s := range r.segments {
		var i items
		if err := i.open(s); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(i.zstd)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
		i.close()
	}
	return all
}

func diff(want, got any) string {
	return cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(func(a, b time.Time) bool {
		return a.Equal(b) && measured(a) == measured(b) && a.Round(0).Equal(b.Round(0))
	}))
}
