package frozen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type animal interface{ name() string }

type dog struct{ called string }

func (d dog) name() string { return d.called }

func init() { Register[dog]("test dog") }

type inner struct {
	a int8
	B string
}

type outer struct {
	flag    bool
	small   int16
	large   uint64
	ratio   float64
	word    string
	at, end time.Time
	raw     []byte
	list    []inner
	empty   []inner
	row     [3]uint8
	table   map[string]*inner
	one     *inner
	same    *inner
	itself  *outer
	pet     animal
	err     error
	run     func()
	left    int `frozen:"-"`
}

var allow = cmp.AllowUnexported(outer{}, inner{}, dog{})

func again[T any](t *testing.T, v T) (read T) {
	t.Helper()
	b := Append(NewWriter(nil), nil, &v)
	rest, err := Read(NewReader(1<<20), b, &read)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%v, %d bytes are left", err, len(rest))
	}
	return read
}

func TestValuesComeBack(t *testing.T) {
	shared := &inner{-3, "shared by two"}
	v := outer{
		flag: true, small: -300, large: math.MaxUint64, ratio: -0.5, word: "word", raw: []byte{0, 1},
		list: []inner{{1, "x"}, {}}, empty: []inner{}, row: [3]uint8{1, 0, 3},
		table: map[string]*inner{"shared": shared, "none": nil}, one: shared, same: shared, pet: dog{"rex"},
	}
	read := again(t, v)
	if diff := cmp.Diff(v, read, allow); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if read.one != read.same || read.table["shared"] != read.one {
		t.Error("what was one value is several")
	}
	if read.empty == nil || read.itself != nil {
		t.Error("empty is nil, or nil is none")
	}
}

// An error without a name is its text, and what it wraps is still found in it.
func TestErrorsComeBack(t *testing.T) {
	err := fmt.Errorf("list pods: %w", fmt.Errorf("read: %w", io.EOF))
	read := again(t, outer{err: err}).err
	for err != nil {
		if read == nil || read.Error() != err.Error() {
			t.Fatalf("got %v, want %v", read, err)
		}
		err, read = errors.Unwrap(err), errors.Unwrap(read)
	}
}

// Times keep both readings and their zone, also across a step of the clock.
func TestMomentsAreGoTimes(t *testing.T) {
	now := time.Now()
	reading, has := monotonic(&now)
	if !has || withMonotonic(now.Round(0), reading) != now {
		t.Fatalf("Go keeps times in another way: %#v", now)
	}
	stepped := withMonotonic(now.Add(time.Hour).Round(0), reading+int64(time.Second))
	if d := stepped.Sub(now); d != time.Second {
		t.Errorf("a second and a step of an hour are %v", d)
	}
	for _, at := range []time.Time{
		{}, now, stepped, now.UTC(), now.Round(0), now.In(time.FixedZone("", 3*3600+1800)), time.Unix(0, 1).UTC(), time.Unix(1<<40, 5),
		time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1<<40, 0).UTC(), now.Add(-time.Hour),
	} {
		read := again(t, outer{at: now, end: at})
		if read.end != at && read.end.Format(time.RFC3339Nano) != at.Format(time.RFC3339Nano) || read.end.Sub(read.at) != at.Sub(now) {
			t.Errorf("%v came back as %v", at, read.end)
		}
	}
}

// Another version knows other fields, in another order.
func TestFieldsGoByName(t *testing.T) {
	type older struct {
		Gone  map[string][]inner
		Row   [4]int
		Kept  string
		Other *inner
	}
	type newer struct {
		Fresh []int
		Kept  string
		Row   [2]int
	}
	v := older{Gone: map[string][]inner{"a": {{1, "b"}}}, Row: [4]int{1, 2, 3, 4}, Kept: "kept", Other: &inner{1, "c"}}
	b := Append(NewWriter(nil), nil, &v)
	var read newer
	if _, err := Read(NewReader(1<<20), b, &read); err != nil || !reflect.DeepEqual(read, newer{Kept: "kept", Row: [2]int{1, 2}}) {
		t.Errorf("got %+v, %v", read, err)
	}
	var wrong struct{ Kept int }
	if _, err := Read(NewReader(1<<20), b, &wrong); err == nil {
		t.Error("a text was read as a number")
	}
}

func TestTextsCanBeReplaced(t *testing.T) {
	w := NewWriter(func(s string) string { return strings.ReplaceAll(s, "secret", "pod-1") })
	v := []inner{{1, "the secret"}, {2, "the secret"}}
	var read []inner
	if _, err := Read(NewReader(1<<20), Append(w, nil, &v), &read); err != nil || read[0].B != "the pod-1" || read[1].B != "the pod-1" {
		t.Errorf("got %+v, %v", read, err)
	}
}

func TestABudgetIsKept(t *testing.T) {
	v := make([]outer, 1000) // a byte or two each
	b := Append(NewWriter(nil), nil, &v)
	var read []outer
	if _, err := Read(NewReader(10_000), b, &read); err == nil {
		t.Errorf("%d bytes became %d of memory", len(b), 1000*reflect.TypeFor[outer]().Size())
	}
}

// What is kept of types is bounded for the whole stream, whatever the budget of its values is.
func TestTypesAreBounded(t *testing.T) {
	const fields = 1 << 20
	b := binary.AppendUvarint([]byte{1, byte(record)}, fields)
	b = append(b, make([]byte, 2*fields)...) // each has no name, and is of the type itself
	var read inner
	if _, err := Read(NewReader(1<<40), b, &read); err == nil || !strings.Contains(err.Error(), "types") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	shared := &inner{1, "shared"}
	v := outer{list: []inner{{1, "x"}}, one: shared, same: shared, table: map[string]*inner{"k": shared}, pet: dog{"rex"}, at: time.Now(), err: io.EOF}
	f.Add(Append(NewWriter(nil), nil, &v))
	f.Fuzz(func(t *testing.T, b []byte) {
		var read outer
		if _, err := Read(NewReader(1<<20), b, &read); err != nil {
			return
		}
		var twice outer // what was read can be written
		if _, err := Read(NewReader(1<<30), Append(NewWriter(nil), nil, &read), &twice); err != nil {
			t.Errorf("what was read cannot be written and read again: %v", err)
		}
	})
}

func TestWhatIsLeftOut(t *testing.T) {
	read := again(t, outer{run: func() {}, left: 7})
	if read.run != nil || read.left != 0 {
		t.Errorf("got %+v", read)
	}
}
