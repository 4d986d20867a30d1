package frozen

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Which texts a stream refers to after it has had them once.
const (
	shortest, longest = 4, 256
	mostTexts         = 1 << 16
)

// A Writer writes one stream. Make it with [NewWriter].
type Writer struct {
	// Spent is how many bytes of memory the values that were written take of the Budget of
	// their [Reader], about.
	Spent int64

	texts   map[string]uint64
	types   map[reflect.Type]uint64 // by their numbers in the stream
	plans   map[reflect.Type]encode
	clock   clock
	replace func(string) string

	out  []byte
	seen map[target]uint64 // what pointers of the value under way point to
}

// A target is what a pointer points to: a struct and its first field have the same address.
type target struct {
	at unsafe.Pointer
	of reflect.Type
}

// encode writes the value at p.
type encode func(w *Writer, p unsafe.Pointer)

// NewWriter returns the writer of a new stream. It writes replace of each text, or the
// text itself if replace is nil.
func NewWriter(replace func(string) string) *Writer {
	return &Writer{
		texts: make(map[string]uint64), types: make(map[reflect.Type]uint64), plans: make(map[reflect.Type]encode),
		seen: make(map[target]uint64), replace: replace,
	}
}

// Append appends the value that v points to, and returns the extended bytes.
func Append[T any](w *Writer, b []byte, v *T) []byte {
	w.out = b
	w.value(reflect.TypeFor[T](), unsafe.Pointer(v))
	clear(w.seen)
	b, w.out = w.out, nil
	return b
}

// value writes the type of a value, where the stream has not had it, and the value.
func (w *Writer) value(t reflect.Type, p unsafe.Pointer) {
	if _, known := w.types[t]; known {
		w.number(0)
	} else {
		w.define(t)
	}
	w.number(w.types[t])
	w.plan(t)(w, p)
}

// define writes the descriptions of a type and of all types in it that the stream has not had:
// how many, and each as its kind and of what it is made.
func (w *Writer) define(t reflect.Type) {
	var fresh []reflect.Type
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		if _, known := w.types[t]; known {
			return
		}
		w.types[t] = uint64(len(w.types))
		fresh = append(fresh, t)
		switch k, _ := kindOf(t); k {
		case slice, array, pointer:
			visit(t.Elem())
		case mapping:
			visit(t.Key())
			visit(t.Elem())
		case record:
			for _, f := range fieldsOf(t) {
				visit(f.Type)
			}
		}
	}
	visit(t)
	w.number(uint64(len(fresh)))
	for _, t := range fresh {
		w.describe(t)
	}
}

func (w *Writer) describe(t reflect.Type) {
	k, _ := kindOf(t)
	w.out = append(w.out, byte(k))
	switch k {
	case slice, pointer:
		w.number(w.types[t.Elem()])
	case array:
		w.number(uint64(t.Len()))
		w.number(w.types[t.Elem()])
	case mapping:
		w.number(w.types[t.Key()])
		w.number(w.types[t.Elem()])
	case record:
		fields := fieldsOf(t)
		w.number(uint64(len(fields)))
		for _, f := range fields {
			w.literal(f.Name)
			w.number(w.types[f.Type])
		}
	}
}

// plan returns how values of a type are written.
func (w *Writer) plan(t reflect.Type) encode {
	if e := w.plans[t]; e != nil {
		return e
	}
	var made encode
	w.plans[t] = func(w *Writer, p unsafe.Pointer) { made(w, p) } // a type may be part of itself
	made = w.make(t)
	w.plans[t] = made
	return made
}

func (w *Writer) make(t reflect.Type) encode {
	switch k, _ := kindOf(t); k {
	case boolean:
		return func(w *Writer, p unsafe.Pointer) { w.out = append(w.out, *(*byte)(p)) }
	case signed:
		return func(w *Writer, p unsafe.Pointer) { w.signed(reflect.NewAt(t, p).Elem().Int()) }
	case unsigned:
		return func(w *Writer, p unsafe.Pointer) { w.number(reflect.NewAt(t, p).Elem().Uint()) }
	case float:
		return func(w *Writer, p unsafe.Pointer) {
			w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(*(*float64)(p)))
		}
	case text:
		return func(w *Writer, p unsafe.Pointer) { w.text(*(*string)(p)) }
	case moment:
		return func(w *Writer, p unsafe.Pointer) { w.moment((*time.Time)(p)) }
	case octets:
		return func(w *Writer, p unsafe.Pointer) { w.octets(*(*[]byte)(p)) }
	case slice:
		return w.sliceOf(t)
	case array:
		return w.arrayOf(t.Len(), t.Elem())
	case mapping:
		return w.mapOf(t)
	case pointer:
		return w.pointerTo(t.Elem())
	case variant:
		return func(w *Writer, p unsafe.Pointer) { w.variant(reflect.NewAt(t, p).Elem()) }
	}
	return w.recordOf(t)
}

func (w *Writer) sliceOf(t reflect.Type) encode {
	size, elem := t.Elem().Size(), w.plan(t.Elem())
	return func(w *Writer, p unsafe.Pointer) {
		s := (*header)(p)
		if s.data == nil {
			w.number(0)
			return
		}
		w.number(uint64(s.n) + 1)
		w.spend(s.n, size)
		for i := range uintptr(s.n) {
			elem(w, unsafe.Add(s.data, i*size))
		}
	}
}

// header is a slice as Go keeps it.
type header struct {
	data   unsafe.Pointer
	n, cap int
}

func (w *Writer) arrayOf(n int, t reflect.Type) encode {
	size, elem := t.Size(), w.plan(t)
	return func(w *Writer, p unsafe.Pointer) {
		for i := range uintptr(n) {
			elem(w, unsafe.Add(p, i*size))
		}
	}
}

// mapOf writes maps, those by texts in the order of these, so that what has not changed is written
// as it was before.
func (w *Writer) mapOf(t reflect.Type) encode {
	key, elem := w.plan(t.Key()), w.plan(t.Elem())
	return func(w *Writer, p unsafe.Pointer) {
		m := reflect.NewAt(t, p).Elem()
		if m.IsNil() {
			w.number(0)
			return
		}
		w.number(uint64(m.Len()) + 1)
		w.spend(m.Len(), 2*(t.Key().Size()+t.Elem().Size()))
		keys := m.MapKeys()
		if t.Key().Kind() == reflect.String {
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		}
		k, v := reflect.New(t.Key()), reflect.New(t.Elem())
		for _, one := range keys {
			k.Elem().Set(one)
			v.Elem().Set(m.MapIndex(one))
			key(w, k.UnsafePointer())
			elem(w, v.UnsafePointer())
		}
	}
}

// pointerTo writes what a pointer points to once, and its number after that: 0 for nil, 1 for
// what follows, and from 2 on what the value has had.
func (w *Writer) pointerTo(t reflect.Type) encode {
	elem := w.plan(t)
	return func(w *Writer, p unsafe.Pointer) {
		at := *(*unsafe.Pointer)(p)
		if at == nil {
			w.number(0)
			return
		}
		if n, had := w.seen[target{at, t}]; had {
			w.number(n + 2)
			return
		}
		w.seen[target{at, t}] = uint64(len(w.seen))
		w.number(1)
		w.spend(1, pointed+t.Size())
		elem(w, at)
	}
}

// recordOf writes which fields are not zero, a bit each, and then those.
func (w *Writer) recordOf(t reflect.Type) encode {
	type field struct {
		at, size uintptr
		encode   encode
	}
	var fields []field
	for _, f := range fieldsOf(t) {
		fields = append(fields, field{f.Offset, f.Type.Size(), w.plan(f.Type)})
	}
	room := max((len(fields)+7)/8, 1)
	return func(w *Writer, p unsafe.Pointer) {
		at := len(w.out)
		w.out = append(w.out, make([]byte, room)...)
		for i, f := range fields {
			if q := unsafe.Add(p, f.at); !zero(q, f.size) {
				w.out[at+i/8] |= 1 << (i % 8)
				f.encode(w, q)
			}
		}
	}
}

// zero reports whether so many bytes are all zero.
func zero(p unsafe.Pointer, size uintptr) bool {
	for _, b := range unsafe.Slice((*byte)(p), size) {
		if b != 0 {
			return false
		}
	}
	return true
}

// variant writes what an interface holds: the name of its type, empty for nil, and the value.
func (w *Writer) variant(v reflect.Value) {
	if v.IsNil() {
		w.literal("")
		return
	}
	v = v.Elem()
	if err, is := v.Interface().(error); is && nameOf(v.Type()) == "" {
		wrapped := errors.Unwrap(err)
		v = reflect.ValueOf(&Error{Text: err.Error(), Wrapped: wrapped})
	}
	name := nameOf(v.Type())
	if name == "" {
		panic("frozen: " + v.Type().String() + " has no name: see Register")
	}
	w.literal(name)
	w.spend(1, v.Type().Size())
	held := reflect.New(v.Type())
	held.Elem().Set(v)
	w.value(v.Type(), held.UnsafePointer())
}

func (w *Writer) number(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

func (w *Writer) signed(n int64) { w.out = binary.AppendVarint(w.out, n) }

func (w *Writer) octets(b []byte) {
	if b == nil {
		w.number(0)
		return
	}
	w.number(uint64(len(b)) + 1)
	w.spend(len(b), 1)
	w.out = append(w.out, b...)
}

// text writes a text, or its number if the stream has had it: an even number, with the odd
// ones for the length of a text that follows.
func (w *Writer) text(s string) {
	if n, had := w.texts[s]; had {
		w.number(2 * (n + 1))
		return
	}
	written := s
	if w.replace != nil {
		written = w.replace(s)
	}
	if kept(written) && len(w.texts) < mostTexts {
		w.texts[s] = uint64(len(w.texts))
	}
	w.literal(written)
}

// literal writes a text that is not looked for and not kept.
func (w *Writer) literal(s string) {
	if s == "" {
		w.number(0)
		return
	}
	w.number(2*uint64(len(s)) + 1)
	w.spend(len(s), 1)
	w.out = append(w.out, s...)
}

func (w *Writer) spend(n int, size uintptr) { w.Spent += int64(n) * int64(size) }

func kept(s string) bool { return len(s) >= shortest && len(s) <= longest }

func (w *Writer) moment(t *time.Time) {
	if t.IsZero() && t.Location() == time.UTC {
		w.out = append(w.out, isZero)
		return
	}
	reading, has := monotonic(t)
	form := byte(0)
	if has {
		form |= hasReading
	}
	if t.Location() == time.UTC {
		form |= isUTC
	}
	if !isNear(*t) {
		w.out = append(w.out, form&isUTC|isFar)
		w.signed(t.Unix())
		w.number(uint64(t.Nanosecond()))
	} else {
		w.out = append(w.out, form)
		wall := t.UnixNano()
		ran := w.clock.to(has, wall)
		w.signed(ran)
		if has {
			w.signed(reading - w.clock.monotonic - ran)
			w.clock.monotonic = reading
		}
	}
	if form&isUTC == 0 {
		w.signed(int64(offsetOf(*t)))
	}
}
