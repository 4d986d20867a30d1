// Package frozen writes plain values, with all that they point to, as bytes, and reads them
// again: the inputs of a machine, and a whole machine as it stands.
//
// What gob, CBOR and Protobuf lose is kept here: fields that are not exported, two pointers to
// one value, nil and empty slices, and the monotonic reading of a time, by which durations are
// right across a step of the clock. Functions and channels are left out, and so are fields with
// the tag `frozen:"-"`: they are zero when they are read.
//
// A stream describes its types by the names of their fields before it has values of them. A
// reader of another version leaves out the fields that it does not know, and has zero for
// those that it alone knows.
//
// A stream is the work of one [Writer] and is read by one [Reader] from its beginning: texts
// and types that were written once are not written again. Neither is safe for concurrent use.
package frozen

import (
	"fmt"
	"reflect"
	"sync"
	"time"
)

// A kind is what a value looks like in a stream. Their numbers are part of the format.
type kind byte

const (
	boolean kind = iota
	signed
	unsigned
	float
	text
	moment
	octets
	slice
	array
	mapping
	pointer
	variant // an interface
	record  // a struct
	kinds
)

// kindOf returns the kind of a type, and false for one that is left out.
func kindOf(t reflect.Type) (kind, bool) {
	if t == reflect.TypeFor[time.Time]() {
		return moment, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolean, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed, true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsigned, true
	case reflect.Float64:
		return float, true
	case reflect.String:
		return text, true
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return octets, true
		}
		return slice, true
	case reflect.Array:
		return array, true
	case reflect.Map:
		return mapping, true
	case reflect.Pointer:
		return pointer, true
	case reflect.Interface:
		return variant, true
	case reflect.Struct:
		return record, true
	}
	return 0, false
}

// fieldsOf returns the fields of a struct that are written, in their order.
func fieldsOf(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for f := range t.Fields() {
		if _, written := kindOf(f.Type); written && f.Tag.Get("frozen") != "-" && f.Name != "_" {
			fields = append(fields, f)
		}
	}
	return fields
}

// registry has the types that stand behind interfaces, by name.
var registry = struct {
	sync.RWMutex
	names map[reflect.Type]string
	types map[string]reflect.Type
}{names: make(map[reflect.Type]string), types: make(map[string]reflect.Type)}

// Register gives a type that stands behind an interface its name in streams. It is to be
// called while packages are initialised; a name or type that is registered twice is a panic.
// An error of a type without a name is written as its text and what it wraps.
func Register[T any](name string) {
	t := reflect.TypeFor[T]()
	registry.Lock()
	defer registry.Unlock()
	if registry.names[t] != "" || registry.types[name] != nil {
		panic(fmt.Sprintf("frozen: %v or %q is registered twice", t, name))
	}
	registry.names[t], registry.types[name] = name, t
}

func nameOf(t reflect.Type) string {
	registry.RLock()
	defer registry.RUnlock()
	return registry.names[t]
}

func typeOf(name string) reflect.Type {
	registry.RLock()
	defer registry.RUnlock()
	return registry.types[name]
}

// An Error is an error whose type has no name, as it is read: its text, and what it wraps.
type Error struct {
	Text    string
	Wrapped error // nil for none
}

// Error returns the text of the error that was written.
func (e *Error) Error() string { return e.Text }

// Unwrap returns what the error wraps, nil for none.
func (e *Error) Unwrap() error { return e.Wrapped }

func init() { Register[*Error]("error") }
