package record

import (
	"encoding"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A copier copies a plain value and changes its texts and times on the way: to what is written
// down, or back. Unexported fields are left out, as by CBOR. An error, the only interface that a
// value may have, becomes a [call.Error].
type copier struct {
	text func(string) string
	time func(time.Time) time.Time
	ages ages // are added to those of processes
}

// ages are how long ago processes began, and entered their state. Those of all processes grow by
// the same from look to look. Recorded without that, a look at processes that do what they did
// before is the same bytes, which cost almost nothing.
type ages struct{ Age, For time.Duration }

// writing returns the copier of what is recorded: without secrets, and in UTF-8.
func (c *clock) writing(a *ages) *copier {
	if a == nil {
		a = new(ages)
	}
	return &copier{text: clean, time: c.written, ages: ages{-a.Age, -a.For}}
}

// clean returns a text without secrets, and in UTF-8.
func clean(s string) string { return strings.ToValidUTF8(withoutSecrets(s), "\uFFFD") }

// reading returns the copier that undoes writing, but for the secrets.
func (c *clock) reading(a *ages) *copier {
	if a == nil {
		a = new(ages)
	}
	return &copier{text: func(s string) string { return s }, time: c.read, ages: *a}
}

// copy returns a copy of a value, of the same type.
func (c *copier) copy(v any) any {
	to := reflect.New(reflect.TypeOf(v)).Elem()
	c.fill(to, reflect.ValueOf(v))
	return to.Interface()
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	binaryType  = reflect.TypeFor[encoding.BinaryMarshaler]() // has no texts and no times
	processType = reflect.TypeFor[evidence.Process]()
)

// fill makes to, which is zero, a copy of from.
func (c *copier) fill(to, from reflect.Value) {
	switch t := from.Type(); {
	case t == timeType:
		to.Set(reflect.ValueOf(c.time(from.Interface().(time.Time))))
	case bare(t) || t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(binaryType):
		to.Set(from)
	case t.Kind() == reflect.String:
		to.SetString(c.text(from.String()))
	case t.Kind() == reflect.Struct:
		c.fillStruct(to, from)
	case t.Kind() == reflect.Array:
		for i := range from.Len() {
			c.fill(to.Index(i), from.Index(i))
		}
	case from.IsNil():
	case t.Kind() == reflect.Interface:
		if err, is := from.Interface().(error); is {
			plain := *call.ErrorOf(0, err)
			plain.Text = c.text(plain.Text)
			to.Set(reflect.ValueOf(&plain))
		}
	case t.Kind() == reflect.Pointer:
		to.Set(reflect.New(t.Elem()))
		c.fill(to.Elem(), from.Elem())
	case t.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(t, from.Len(), from.Len()))
		for i := range from.Len() {
			c.fill(to.Index(i), from.Index(i))
		}
	case t.Kind() == reflect.Map:
		to.Set(reflect.MakeMapWithSize(t, from.Len()))
		for i := from.MapRange(); i.Next(); {
			k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			c.fill(k, i.Key())
			c.fill(v, i.Value())
			to.SetMapIndex(k, v)
		}
	}
}

func (c *copier) fillStruct(to, from reflect.Value) {
	for i := range from.NumField() {
		switch f := from.Type().Field(i); {
		case f.IsExported():
			c.fill(to.Field(i), from.Field(i))
		case f.Anonymous && f.Type.Kind() == reflect.Struct: // its exported fields belong to from
			c.fillStruct(to.Field(i), from.Field(i))
		}
	}
	if from.Type() == processType {
		p := to.Addr().Interface().(*evidence.Process)
		p.Age, p.For = p.Age+c.ages.Age, p.For+c.ages.For
	}
}

// bares remembers of each type whether it is bare.
var bares sync.Map

// bare reports whether values of a type have nothing that a copier changes.
func bare(t reflect.Type) bool {
	if known, is := bares.Load(t); is {
		return known.(bool)
	}
	is := true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			is = is && f.IsExported() && bare(f.Type)
		}
	case reflect.String, reflect.Pointer, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan:
		is = false
	case reflect.Slice, reflect.Array:
		is = bare(t.Elem())
	}
	bares.Store(t, is)
	return is
}

// agesOf returns the ages of the oldest process of a look.
func agesOf(p *evidence.Processes) *ages {
	a := new(ages)
	see := func(all []evidence.Process) {
		for i := range all {
			a.Age, a.For = max(a.Age, all[i].Age), max(a.For, all[i].For)
		}
	}
	for _, all := range p.Containers {
		see(all)
	}
	see(p.Shims)
	see(p.Helpers)
	see(p.Daemons)
	return a
}
