package jsonline

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// A colour is a text by its method.
type colour uint8

func (c colour) String() string { return [...]string{"red", "gr\x1ben"}[c] }

// A share is not known if it is negative.
type share float64

func (s share) IsZero() bool { return s < 0 }

// A hidden structure has no field to be written: it is a text.
type hidden struct{ Secret string }

func (h hidden) String() string { return h.Secret[:1] }

// A pod has names, and a method that is not asked, since it has fields.
type pod struct {
	Name string `line:"name,omitempty,raw"`
	UID  string `line:"uid,omitempty"`
}

func (p pod) String() string { return "not asked" }

type inner struct {
	Shadowed int `line:"n"`
	Kept     int `line:"kept"`
}

type part struct {
	A share   `line:"a"`
	B float64 `line:"b"`
}

type all struct {
	inner
	N        string         `line:"n"`
	Took     time.Duration  `line:"tookSeconds"`
	Lead     *time.Duration `line:"leadSeconds"`
	At       time.Time      `line:"at,omitzero"`
	Err      error          `line:"error,omitempty"`
	Colours  []colour       `line:"colours"`
	Share    share          `line:"share,omitzero"`
	Hidden   hidden         `line:"hidden"`
	Pod      pod            `line:",inline"`
	Other    pod            `line:"other,clean"`
	Third    pod            `line:"third,omitempty,raw"`
	Some     *bool          `line:"some,omitzero"`
	Parts    []part         `line:"parts,omitempty"`
	Optional *part          `line:"optional,omitempty"`
	Count    uint64         `line:"count,omitempty"`
	Secret   string         `line:"-"`
	Untagged string
	Notes    []string `line:"notes,omitempty"`
}

func TestAppend(t *testing.T) {
	const least = `{"kept":0,"n":"","tookSeconds":0,"leadSeconds":null,"colours":[]`
	for name, tt := range map[string]struct {
		change func(*all)
		want   string
	}{
		"nothing": {func(*all) {}, least + `,"share":0,"hidden":"x","other":{}}`},
		"durations and times": {func(a *all) {
			a.Took, a.Lead, a.At = 412*time.Millisecond, new(-90*time.Second), time.Date(2026, 11, 20, 13, 0, 0, 5e8, time.FixedZone("", 3600))
		}, `{"kept":0,"n":"","tookSeconds":0.412,"leadSeconds":-90,"at":"2026-11-20T12:00:00.5Z","colours":[],"share":0,"hidden":"x","other":{}}`},
		"texts": {func(a *all) {
			a.Err, a.Colours, a.Share, a.N = errors.New("a\nb"), []colour{1, 0}, -1, "<é>"
		}, `{"kept":0,"n":"\u003cé\u003e","tookSeconds":0,"leadSeconds":null,"error":"a b","colours":["gr^[en","red"],"hidden":"x","other":{}}`},
		"raw, clean, and what is said above": {func(a *all) {
			a.Pod, a.Other, a.Third = pod{"\x1b", "\x1b"}, pod{"\x1b", "\x1b"}, pod{"\u202e\U000e0041", "\u202e\x7f"}
		}, least + `,"share":0,"hidden":"x","name":"\u001b","uid":"^[","other":{"name":"^[","uid":"^["},"third":{"name":"\u202e\udb40\udc41","uid":"\u202e\u007f"}}`},
		"what is left out, and what is not": {func(a *all) { a.Some, a.Count, a.Untagged, a.Secret = new(bool), 1<<64-1, "u", "s" },
			least + `,"share":0,"hidden":"x","other":{},"some":false,"count":18446744073709551615}`},
		"no words": {func(a *all) {
			a.Share, a.Parts, a.Optional = share(math.NaN()), []part{{1, 2}, {3, math.Inf(1)}}, &part{share(math.Inf(-1)), 1}
			a.At = time.Date(99_999, 1, 1, 0, 0, 0, 0, time.UTC)
		}, least + `,"hidden":"x","other":{},"notes":["at is left out: its figures cannot be","share is left out: its figures cannot be","parts is left out: its figures cannot be","optional is left out: its figures cannot be"]}`},
	} {
		a := all{Hidden: hidden{"xy"}}
		tt.change(&a)
		if diff := cmp.Diff(tt.want+"\n", string(Append(nil, &a))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNoWordsForWhatMustBe holds that zero stands for what nobody can leave out.
func TestNoWordsForWhatMustBe(t *testing.T) {
	v := struct {
		At    time.Time `line:"at"`
		Parts []part    `line:"parts"`
		Notes []string  `line:"notes,omitempty"`
	}{At: time.Date(-3, 1, 1, 0, 0, 0, 0, time.UTC), Parts: []part{{1, 2}, {3, math.NaN()}}}
	want := `begun {"at":"0001-01-01T00:00:00Z","parts":[{"a":1,"b":2},{"a":3,"b":0}],"notes":["at is left out: its figures cannot be","parts[1].b is left out: its figures cannot be"]}` + "\n"
	if diff := cmp.Diff(want, string(Append([]byte("begun "), &v))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAsEncodingJSON holds that raw texts and figures are what encoding/json reads again, and
// that no text can act on a terminal.
func TestAsEncodingJSON(t *testing.T) {
	type value struct {
		Raw   string  `line:"raw,raw"`
		Text  string  `line:"text"`
		Float float64 `line:"float"`
		Int   int32   `line:"int"`
		Bytes string  `line:"bytes,raw"`
	}
	err := quick.Check(func(raw, clean string, f float64, i int32, bytes []byte) bool {
		v, back := value{raw, clean, f, i, string(bytes)}, value{}
		line := string(Append(nil, &v))
		if err := json.Unmarshal([]byte(line), &back); err != nil {
			t.Error(err)
		}
		acts := strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
		want, _ := json.Marshal(string(bytes)) // with a mark for each byte that is no text
		var replaced string
		return !acts && json.Unmarshal(want, &replaced) == nil && back.Bytes == replaced && back.Raw == raw && back.Float == f && back.Int == i
	}, nil)
	if err != nil {
		t.Error(err)
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1e-6, 9.9e-7, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3} {
		want, _ := json.Marshal(struct{ F float64 }{f})
		if got := Append(nil, &struct {
			F float64 `line:"F"`
		}{f}); string(got) != string(want)+"\n" {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWhatIsNotWritten holds that a mistake in a type shows at once.
func TestWhatIsNotWritten(t *testing.T) {
	for _, v := range []any{
		&struct {
			M map[string]int `line:"m"`
		}{},
		&struct {
			N int `line:"n,omitnil"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is written", v)
				}
			}()
			Append(nil, v)
		}()
	}
}
