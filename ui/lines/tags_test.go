package lines

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// roots are all that is written as JSON.
var roots = []reflect.Type{
	reflect.TypeFor[checkObject](), reflect.TypeFor[benchObject](),
	reflect.TypeFor[headlineLine](), reflect.TypeFor[eventLine](), reflect.TypeFor[healthLine](), reflect.TypeFor[nodeLine](), reflect.TypeFor[loopLine](),
	reflect.TypeFor[gapLine](), reflect.TypeFor[findingLine](), reflect.TypeFor[sourceLine](), reflect.TypeFor[driftLine](),
}

// TestEveryFieldHasATag holds that whoever adds a field to a value that is written says whether
// it is in the JSON, which the schemas and docs know then; and that a duration's name has its
// unit.
func TestEveryFieldHasATag(t *testing.T) {
	looked := map[reflect.Type]bool{}
	for _, root := range roots {
		untagged(root, looked, func(said string) { t.Error(said) })
	}
	if len(looked) < 40 {
		t.Errorf("only %d types were looked at", len(looked))
	}
	for _, bad := range []reflect.Type{
		reflect.TypeFor[struct {
			Tagged   int `line:"n"`
			Untagged int
		}](),
		reflect.TypeFor[struct {
			Took time.Duration `line:"took"`
		}](),
		reflect.TypeFor[struct {
			In []struct{ Untagged int } `line:"in"`
		}](),
	} {
		found := ""
		if untagged(bad, map[reflect.Type]bool{}, func(said string) { found = said }); found == "" {
			t.Errorf("nothing is said of %v", bad)
		}
	}
}

// untagged says what is missing in the tags of a type and of all that is written with it.
func untagged(t reflect.Type, looked map[reflect.Type]bool, say func(string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || looked[t] {
		return
	}
	looked[t] = true
	tags := 0
	for f := range t.Fields() {
		if _, ok := f.Tag.Lookup("line"); ok || f.Anonymous {
			tags++
		}
	}
	if tags == 0 && reflect.PointerTo(t).Implements(reflect.TypeFor[fmt.Stringer]()) {
		return // it is a text
	}
	for f := range t.Fields() {
		tag, ok := f.Tag.Lookup("line")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case !ok && !f.Anonymous && f.IsExported():
			say(fmt.Sprintf("%v.%s has no tag: line:%q, or line:%q if it is not to be written", t, f.Name, "name", "-"))
		case f.Type == reflect.TypeFor[time.Duration]() && name != "-" && !strings.HasSuffix(name, "Seconds"):
			say(fmt.Sprintf("%v.%s is written in seconds as %q", t, f.Name, name))
		case name != "-" && (ok || f.Anonymous):
			untagged(f.Type, looked, say)
		}
	}
}
