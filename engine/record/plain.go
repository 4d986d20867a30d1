package record

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A copier copies a plain value and changes its texts and times: to their recorded form, or
// back. Unexported fields stay as they are, since CBOR leaves them out. An error, the only interface
// that a value may have, becomes a [call.Error].
type copier struct {
	text func(string) string
	time func(time.Time) time.Time
	ages ages // are added to those of processes
}

// ages are how long ago a process began, and how long ago it entered its state. From look to
// look, the ages of all processes grow by the same time. Without that time, a look at unchanged
// processes has the same bytes as before, and they cost almost nothing.
type ages struct{ Age, For time.Duration }

// writing returns the copier to the recorded form: without secrets, and in UTF-8.
func (c *clock) writing(a ages) *copier {
	return &copier{text: clean, time: c.written, ages: ages{-a.Age, -a.For}}
}

// clean returns a text without secrets, and in UTF-8.
func clean(s string) string { return strings.ToValidUTF8(withoutSecrets(s), "\uFFFD") }

// reading returns the copier that undoes writing, except for the secrets.
func (c *clock) reading(a ages) *copier {
	return &copier{text: func(s string) string { return s }, time: c.read, ages: a}
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

// fill makes to a copy of from. It is zero or has the same value.
func (c *copier) fill(to, from reflect.Value) {
	switch t := from.Type(); t.Kind() {
	default: // a number or a bool
		to.Set(from)
	case reflect.String:
		to.SetString(c.text(from.String()))
	case reflect.Struct:
		c.fillStruct(to, from)
	case reflect.Interface:
		if err, is := from.Interface().(error); is {
			plain := *call.ErrorOf(0, err)
			plain.Text = c.text(plain.Text)
			to.Set(reflect.ValueOf(&plain))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(t.Elem()))
			c.fill(to.Elem(), from.Elem())
		}
	case reflect.Array:
		c.fillElements(to, from)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // a message of CRI, which is clean
			to.Set(from)
		} else if !from.IsNil() {
			to.Set(reflect.MakeSlice(t, from.Len(), from.Len()))
			c.fillElements(to, from)
		}
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMapWithSize(t, from.Len()))
			c.fillMap(to, from)
		}
	}
}

func (c *copier) fillElements(to, from reflect.Value) {
	for i := range from.Len() {
		c.fill(to.Index(i), from.Index(i))
	}
}

func (c *copier) fillMap(to, from reflect.Value) {
	for i := from.MapRange(); i.Next(); {
		key, value := reflect.New(from.Type().Key()).Elem(), reflect.New(from.Type().Elem()).Elem()
		c.fill(key, i.Key())
		c.fill(value, i.Value())
		to.SetMapIndex(key, value)
	}
}

func (c *copier) fillStruct(to, from reflect.Value) {
	t := from.Type()
	if t == timeType {
		to.Set(reflect.ValueOf(c.time(from.Interface().(time.Time))))
		return
	}
	p := planOf(t)
	if p.binary {
		to.Set(c.binary(from))
		return
	}
	if to.CanSet() { // else it is embedded, and was set with the struct around it
		to.Set(from)
	}
	for _, i := range p.fields {
		if f := from.Field(i); !f.IsZero() {
			c.fill(to.Field(i), f)
		}
	}
	if t == processType {
		p := to.Addr().Interface().(*evidence.Process)
		p.Age, p.For = p.Age+c.ages.Age, p.For+c.ages.For
	}
}

// binary returns a copy of a value that has a binary form and no texts, such as a distribution.
func (c *copier) binary(from reflect.Value) reflect.Value {
	to := reflect.New(from.Type())
	b, err := from.Interface().(encoding.BinaryMarshaler).MarshalBinary()
	if err == nil {
		err = to.Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	}
	if err != nil {
		panic(fmt.Sprintf("record: copy a %v: %v", from.Type(), err)) // it has written that itself
	}
	return to.Elem()
}

// A plan says how values of a struct type are copied.
type plan struct {
	binary bool  // by their binary form
	fields []int // else these fields are filled: the others are numbers, or unexported
}

// plans remembers the plan of each type. Most of a copier's work is the looks at a node, with
// thousands of processes.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	if known, is := plans.Load(t); is {
		return known.(*plan)
	}
	p := &plan{binary: reflect.PointerTo(t).Implements(binaryType)}
	for i := range t.NumField() {
		f := t.Field(i)
		embedded := f.Anonymous && f.Type.Kind() == reflect.Struct // its exported fields belong to t
		number := f.Type.Kind() <= reflect.Complex128
		if !number && (f.IsExported() || embedded) {
			p.fields = append(p.fields, i)
		}
	}
	plans.Store(t, p)
	return p
}

// agesOf returns the largest Age and the largest For of all processes of a look.
func agesOf(p *evidence.Processes) (a ages) {
	all := [][]evidence.Process{p.Shims, p.Helpers, p.Daemons}
	for _, in := range p.Containers {
		all = append(all, in)
	}
	for _, some := range all {
		for i := range some {
			a.Age, a.For = max(a.Age, some[i].Age), max(a.For, some[i].For)
		}
	}
	return a
}
