package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A noted object says what was left out of it.
type noted interface{ note([]string) }

// appendJSON appends v, a pointer to one of this package's own objects, in one
// line. What JSON has no words for is left out, and v notes what that was.
func appendJSON(b []byte, v any) []byte {
	var c censor
	c.figure(reflect.ValueOf(v).Elem(), "", false)
	if n, ok := v.(noted); ok {
		n.note(c.out)
	}
	j, err := json.Marshal(v)
	if err != nil { // nothing is known that could do that
		j = fmt.Appendf(nil, `{"error":%q}`, err)
	}
	return append(append(b, escapeC1(j)...), '\n')
}

// A censor takes out of an object what is no figure: NaN, the infinities, and times
// before the year 0 or after 9999. Such may be in what a kubelet or a kernel says.
type censor struct {
	out []string // the fields that were left out
}

// figure looks through v, the field of that path, and reports whether v is to be
// left out as a whole. That is done with the nearest pointer above a wrong figure;
// without one, the figure is made zero.
func (c *censor) figure(v reflect.Value, path string, optional bool) (wrong bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && c.figure(v.Elem(), path, true) {
			c.leaveOut(v, path)
		}
		return false
	case reflect.Slice:
		for i := range v.Len() {
			wrong = c.figure(v.Index(i), fmt.Sprintf("%s[%d]", path, i), optional) || wrong
		}
		return wrong
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			year := v.Interface().(time.Time).Year()
			wrong = year < 0 || year > 9999
			break
		}
		for i := range v.NumField() {
			wrong = c.figure(v.Field(i), fieldPath(path, v.Type().Field(i)), optional) || wrong
		}
		return wrong
	case reflect.Float64:
		wrong = math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	}
	if wrong && !optional {
		c.leaveOut(v, path)
		return false
	}
	return wrong
}

func (c *censor) leaveOut(v reflect.Value, path string) {
	v.SetZero()
	c.out = append(c.out, path+" is left out: its figures cannot be")
}

// fieldPath returns the path of a field by its name in the JSON.
func fieldPath(path string, f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// escapeC1 returns the JSON text j with DEL, the C1 controls, the bidi controls
// and all other format characters written as escapes. [encoding/json] leaves
// them as they are, but a line may end up on a terminal, and some terminals act
// on them.
func escapeC1(j []byte) []byte {
	if bytes.IndexFunc(j, acts) < 0 {
		return j
	}
	out := make([]byte, 0, len(j)+16)
	for len(j) > 0 {
		r, n := utf8.DecodeRune(j)
		if acts(r) {
			out = appendEscape(out, r)
		} else {
			out = append(out, j[:n]...)
		}
		j = j[n:]
	}
	return out
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
