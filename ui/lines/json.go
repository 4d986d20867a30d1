package lines

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
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
