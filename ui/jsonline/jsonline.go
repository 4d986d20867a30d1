// Package jsonline writes values as JSON by the tags "line" of their fields, which have the name
// and options; "-" is for a field that is not written. (A tag "json" would change how the
// inputs of the machine are recorded, which are such values, too.) It does as encoding/json
// does, but:
//
//   - A duration is written in seconds, a moment in UTC, and a slice that is nil as [].
//   - A value with a String method is written as that text, and an error as its text; a
//     structure only if it has no field to be written.
//   - Texts are cleaned. With the option raw they stay as somebody gave them, escaped; clean is
//     for what would be raw. Of several on the way down to a text the first holds.
//   - The option inline writes the fields of a field beside those of its structure, as those of
//     an embedded one are. Where two have one name the outer is written.
//   - omitempty leaves out what would be written as 0, false, null or empty.
//   - What JSON has no words for is left out, and noted: NaN, the infinities, and years before 0
//     or after 9999. Such may be in what a kubelet or a kernel says.
package jsonline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/plegtop/plegtop/ui/text"
)

// An encoder writes one value.
type encoder struct {
	b     []byte
	path  []step   // of what is being written
	notes []string // what was left out, and why
}

// A step leads from a value to a part of it: a field, or an element if it has no name.
type step struct {
	field string
	index int
}

// A writer appends a value of one type. For what JSON has no words for it reports that it is
// wrong if it is optional, which is to say that somebody above can leave it out; else it
// writes zero.
type writer func(e *encoder, v reflect.Value, optional bool) (wrong bool)

// writers are those of the types that were written as a whole, by [reflect.Type].
var writers sync.Map

// Append appends what v points to in one line, with its line feed. No byte of it acts on a
// terminal. If something is left out, and v has a field Notes of texts, that is set to what it
// was. It panics on a type that is not written, such as a map. It may be called from any
// goroutine.
func Append(b []byte, v any) []byte {
	object := reflect.ValueOf(v).Elem()
	write, ok := writers.Load(object.Type())
	if !ok {
		write, _ = writers.LoadOrStore(object.Type(), writerOf(object.Type(), ""))
	}
	e := encoder{b: b}
	write.(writer)(&e, object, false)
	if notes := object.FieldByName("Notes"); len(e.notes) > 0 && notes.IsValid() {
		notes.Set(reflect.ValueOf(e.notes))
		e.b = b
		write.(writer)(&e, object, false)
	}
	return append(e.b, '\n')
}

// writerOf returns the writer of a type, whose texts are as mode says: "raw", "clean", or empty
// for what tags further down say.
func writerOf(t reflect.Type, mode string) writer {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return func(e *encoder, v reflect.Value, optional bool) bool {
			return e.float(time.Duration(v.Int()).Seconds(), optional)
		}
	case t == reflect.TypeFor[time.Time]():
		return func(e *encoder, v reflect.Value, optional bool) bool {
			return e.time(*v.Addr().Interface().(*time.Time), optional)
		}
	case t == reflect.TypeFor[error]():
		return func(e *encoder, v reflect.Value, _ bool) bool {
			said := ""
			if !v.IsNil() {
				said = v.Interface().(error).Error()
			}
			return e.text(said, mode)
		}
	case reflect.PointerTo(t).Implements(reflect.TypeFor[fmt.Stringer]()) && (t.Kind() != reflect.Struct || len(fieldsOf(t, mode)) == 0):
		return func(e *encoder, v reflect.Value, _ bool) bool {
			return e.text(v.Addr().Interface().(fmt.Stringer).String(), mode)
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pointerWriter(writerOf(t.Elem(), mode))
	case reflect.Slice:
		return sliceWriter(writerOf(t.Elem(), mode))
	case reflect.Struct:
		return structWriter(fieldsOf(t, mode))
	case reflect.String:
		return func(e *encoder, v reflect.Value, _ bool) bool { return e.text(v.String(), mode) }
	case reflect.Float64:
		return func(e *encoder, v reflect.Value, optional bool) bool { return e.float(v.Float(), optional) }
	}
	return plainWriter(t)
}

// plainWriter returns the writer of a type that JSON has words for, whatever its value.
func plainWriter(t reflect.Type) writer {
	of := reflect.Zero(t)
	switch {
	case of.CanInt():
		return func(e *encoder, v reflect.Value, _ bool) bool { return e.is(strconv.AppendInt(e.b, v.Int(), 10)) }
	case of.CanUint():
		return func(e *encoder, v reflect.Value, _ bool) bool { return e.is(strconv.AppendUint(e.b, v.Uint(), 10)) }
	case t.Kind() == reflect.Bool:
		return func(e *encoder, v reflect.Value, _ bool) bool { return e.is(strconv.AppendBool(e.b, v.Bool())) }
	}
	panic(fmt.Sprintf("nobody writes a %v as JSON", t))
}

// pointerWriter leaves out what a pointer leads to, if that is wrong.
func pointerWriter(element writer) writer {
	return func(e *encoder, v reflect.Value, _ bool) bool {
		begin := len(e.b)
		if v.IsNil() || e.leftOut(element(e, v.Elem(), true)) {
			e.b = append(e.b[:begin], "null"...)
		}
		return false
	}
}

func sliceWriter(element writer) writer {
	return func(e *encoder, v reflect.Value, optional bool) (wrong bool) {
		e.b = append(e.b, '[')
		for i := range v.Len() {
			if i > 0 {
				e.b = append(e.b, ',')
			}
			e.path = append(e.path, step{index: i})
			wrong = element(e, v.Index(i), optional) || wrong
			e.path = e.path[:len(e.path)-1]
		}
		e.b = append(e.b, ']')
		return wrong
	}
}

func structWriter(fields []field) writer {
	return func(e *encoder, v reflect.Value, optional bool) (wrong bool) {
		e.b = append(e.b, '{')
		for i := range fields {
			wrong = e.field(&fields[i], v.FieldByIndex(fields[i].index), optional) || wrong
		}
		e.b = append(e.b, '}')
		return wrong
	}
}

// field appends a field with its name, unless it is left out.
func (e *encoder) field(f *field, v reflect.Value, optional bool) (wrong bool) {
	if f.omitZero && f.isZero(v) {
		return false
	}
	begin := len(e.b)
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, f.key...)
	value := len(e.b)
	e.path = append(e.path, step{field: f.name})
	may := f.omitEmpty || f.omitZero
	wrong = f.write(e, v, optional || may)
	if may && e.leftOut(wrong) || f.omitEmpty && isEmpty(e.b[value:]) {
		e.b, wrong = e.b[:begin], false
	}
	e.path = e.path[:len(e.path)-1]
	return wrong
}

// isEmpty reports whether what is written says nothing.
func isEmpty(j []byte) bool {
	switch string(j) {
	case `""`, "0", "false", "null", "[]", "{}":
		return true
	}
	return false
}

// leftOut notes what is being written, if it is wrong, and returns whether it is.
func (e *encoder) leftOut(wrong bool) bool {
	if !wrong {
		return false
	}
	var path bytes.Buffer
	for _, s := range e.path {
		switch {
		case s.field == "":
			fmt.Fprintf(&path, "[%d]", s.index)
		case path.Len() > 0:
			path.WriteString("." + s.field)
		default:
			path.WriteString(s.field)
		}
	}
	e.notes = append(e.notes, path.String()+" is left out: its figures cannot be")
	return true
}

// is takes b, to which something was appended, which is never wrong.
func (e *encoder) is(b []byte) (wrong bool) {
	e.b = b
	return false
}

// noWords is for what JSON has no words for: zero stands for it where it is not optional.
func (e *encoder) noWords(zero string, optional bool) (wrong bool) {
	if !optional {
		e.leftOut(true)
		e.b = append(e.b, zero...)
	}
	return optional
}

func (e *encoder) time(t time.Time, optional bool) (wrong bool) {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return e.noWords(`"0001-01-01T00:00:00Z"`, optional)
	}
	return e.is(append(t.AppendFormat(append(e.b, '"'), time.RFC3339Nano), '"'))
}

func (e *encoder) float(f float64, optional bool) (wrong bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return e.noWords("0", optional)
	}
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return e.is(strconv.AppendFloat(e.b, f, 'f', -1, 64))
	}
	j, _ := json.Marshal(f) // it is one, so that there is no error
	return e.is(append(e.b, j...))
}

// text appends s in quotes: cleaned, unless it is to stay raw. DEL, the C1 controls, the bidi
// controls and all other format characters are escaped. [encoding/json] leaves them as they
// are, but a line may end up on a terminal, and some terminals act on them.
func (e *encoder) text(s, mode string) (wrong bool) {
	if mode != "raw" {
		s = text.Clean(s)
	}
	if strings.IndexFunc(s, special) < 0 {
		return e.is(append(append(append(e.b, '"'), s...), '"'))
	}
	j, _ := json.Marshal(s) // it is a text, so that there is no error
	for _, r := range string(j) {
		if acts(r) {
			e.b = appendEscape(e.b, r)
		} else {
			e.b = utf8.AppendRune(e.b, r)
		}
	}
	return false
}

// special reports whether r may have to be escaped.
func special(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r)
}

// appendEscape appends r as JSON escapes it: in two halves where it needs more
// than four digits.
func appendEscape(b []byte, r rune) []byte {
	if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
		return fmt.Appendf(b, `\u%04x\u%04x`, r1, r2)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// acts reports whether a terminal may act on r instead of showing it.
func acts(r rune) bool { return r >= 0x7f && (r <= 0x9f || unicode.Is(unicode.Cf, r)) }
