package jsonline

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A tag is what the source says of a field.
type tag struct {
	name                string // empty for one that is not written itself
	mode                string // of its texts: "raw", "clean"; empty if it says nothing of them
	inline              bool
	omitEmpty, omitZero bool
}

func tagOf(f reflect.StructField) tag {
	text, tagged := f.Tag.Lookup("line")
	options := strings.Split(text, ",")
	t := tag{name: options[0], inline: f.Anonymous && !tagged}
	if t.name == "-" {
		t.name = ""
	}
	for _, option := range options[1:] {
		switch option {
		case "inline":
			t.inline = true
		case "omitempty":
			t.omitEmpty = true
		case "omitzero":
			t.omitZero = true
		case "raw", "clean":
			t.mode = option
		default:
			panic("field " + f.Name + " has the unknown option " + option)
		}
	}
	return t
}

// A field is one that is written.
type field struct {
	tag
	index    []int  // in the structure, and in what is within it
	key      string // the name as it is written
	isZeroer bool   // it says itself whether it is zero
	write    writer
}

// fieldsOf returns the fields of a type that are written, in their order.
func fieldsOf(t reflect.Type, mode string) []field {
	var all []field
	for f := range t.Fields() {
		of := tagOf(f)
		of.mode = cmp.Or(mode, of.mode)
		switch {
		case of.inline:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			for _, one := range fieldsOf(inner, of.mode) {
				one.index = slices.Concat(f.Index, one.index)
				all = append(all, one)
			}
		case of.name != "":
			all = append(all, field{
				tag: of, index: f.Index, key: strconv.Quote(of.name) + ":", write: writerOf(f.Type, of.mode),
				isZeroer: reflect.PointerTo(f.Type).Implements(reflect.TypeFor[zeroer]()),
			})
		}
	}
	return slices.DeleteFunc(all, func(f field) bool {
		return slices.ContainsFunc(all, func(o field) bool { return o.name == f.name && len(o.index) < len(f.index) })
	})
}

// A zeroer says itself whether the option omitzero leaves it out.
type zeroer interface{ IsZero() bool }

// isZero reports whether the option omitzero leaves v out.
func (f *field) isZero(v reflect.Value) bool {
	if f.isZeroer {
		return v.Addr().Interface().(zeroer).IsZero()
	}
	return v.IsZero()
}
