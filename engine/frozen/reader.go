package frozen

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

const (
	mostTypes = 1 << 12 // of a stream: a machine has some 400
	deepest   = 1000    // values within values
	pointed   = 48      // bytes that a pointer takes beside what it points to, while a value is read
	ofField   = 64      // and each field of a struct in what is kept of its type
	ofPlan    = 256     // and how one type is read into another
	mostTyped = 8 << 20 // bytes that are kept of types, for the whole stream: a machine's take some 300 KiB
)

// A Reader reads one stream. Make it with [NewReader]. After an error it is of no use.
type Reader struct {
	// Budget is how many bytes of memory values may still take. What would take more is an error.
	Budget int64

	texts []string
	types []described
	plans map[planned]decode
	typed int // bytes, about, that both take
	clock clock

	in    []byte
	seen  []any // what pointers of the value under way point to, in the order of the stream
	depth int
}

// A described type is one as the stream describes it.
type described struct {
	kind      kind
	n         int // of an array
	key, elem uint64
	fields    []describedField
}

type describedField struct {
	name string
	of   uint64
}

// planned is a type of the stream with the type that it is read into; nil for nothing.
type planned struct {
	from uint64
	to   reflect.Type
}

// decode reads a value into p; nil to pass over it.
type decode func(r *Reader, p unsafe.Pointer)

// NewReader returns the reader of a stream from its beginning.
func NewReader(budget int64) *Reader {
	return &Reader{Budget: budget, plans: make(map[planned]decode)}
}

// Read reads one value from b into v, and returns what follows it. The error says what is
// wrong with the bytes, or which type differs; v is then of no use.
func Read[T any](r *Reader, b []byte, v *T) (rest []byte, err error) {
	defer func() {
		r.in, r.seen, r.depth = nil, nil, 0
		if p := recover(); p != nil {
			broken, is := p.(fault)
			if !is {
				panic(p)
			}
			err = broken.error
		}
	}()
	r.in = b
	r.value(reflect.TypeFor[T](), unsafe.Pointer(v))
	return r.in, nil
}

// A fault is what is wrong with a stream, on its way up to [Read].
type fault struct{ error }

func fail(format string, a ...any) { panic(fault{fmt.Errorf(format, a...)}) }

func (r *Reader) value(t reflect.Type, p unsafe.Pointer) {
	for range r.length(1) {
		r.describe()
	}
	r.plan(r.number(), t)(r, p)
}

func (r *Reader) describe() {
	if len(r.types) >= mostTypes {
		fail("more than %d types", mostTypes)
	}
	d := described{kind: kind(r.byte())}
	switch d.kind {
	case slice, pointer:
		d.elem = r.number()
	case array:
		d.n = int(min(r.number(), math.MaxInt32))
		d.elem = r.number()
	case mapping:
		d.key, d.elem = r.number(), r.number()
	case record:
		n := r.length(2)
		r.keepType(n * int(unsafe.Sizeof(describedField{})))
		d.fields = make([]describedField, n)
		for i := range d.fields {
			d.fields[i] = describedField{r.literal(), r.number()}
			r.keepType(len(d.fields[i].name))
		}
	}
	r.types = append(r.types, d)
}

// plan returns how values of a type of the stream are read into one of ours; nil for none.
func (r *Reader) plan(from uint64, to reflect.Type) decode {
	if from >= uint64(len(r.types)) {
		fail("type %d is not described", from)
	}
	id := planned{from, to}
	if d := r.plans[id]; d != nil {
		return d
	}
	r.keepType(ofPlan)
	var made decode
	r.plans[id] = func(r *Reader, p unsafe.Pointer) { made(r, p) } // a type may be part of itself
	d := r.types[from]
	if to != nil {
		if k, _ := kindOf(to); k != d.kind {
			fail("%v is of another kind: recorded by another version", to)
		}
	}
	made = r.make(d, to)
	r.plans[id] = made
	return made
}

func (r *Reader) make(d described, to reflect.Type) decode {
	switch d.kind {
	case boolean:
		return func(r *Reader, p unsafe.Pointer) { set(p, r.byte() != 0) }
	case signed:
		return func(r *Reader, p unsafe.Pointer) { setSigned(to, p, r.signed()) }
	case unsigned:
		return func(r *Reader, p unsafe.Pointer) { setUnsigned(to, p, r.number()) }
	case float:
		return func(r *Reader, p unsafe.Pointer) {
			set(p, math.Float64frombits(binary.LittleEndian.Uint64(r.bytes(8))))
		}
	case text:
		return func(r *Reader, p unsafe.Pointer) { set(p, r.text()) }
	case moment:
		return func(r *Reader, p unsafe.Pointer) { set(p, r.moment()) }
	case octets:
		return func(r *Reader, p unsafe.Pointer) { set(p, r.octets()) }
	case slice:
		return r.sliceOf(d, to)
	case array:
		return r.arrayOf(d, to)
	case mapping:
		return r.mapOf(d, to)
	case pointer:
		return r.pointerTo(d, to)
	case variant:
		return func(r *Reader, p unsafe.Pointer) { r.variant(to, p) }
	case record:
		return r.recordOf(d, to)
	}
	fail("kind %d is unknown: recorded by a newer version", d.kind)
	return nil
}

func set[T any](p unsafe.Pointer, v T) {
	if p != nil {
		*(*T)(p) = v
	}
}

func setSigned(t reflect.Type, p unsafe.Pointer, n int64) {
	if p == nil {
		return
	}
	if v := reflect.NewAt(t, p).Elem(); v.OverflowInt(n) {
		fail("%d is no %v", n, t)
	} else {
		v.SetInt(n)
	}
}

func setUnsigned(t reflect.Type, p unsafe.Pointer, n uint64) {
	if p == nil {
		return
	}
	if v := reflect.NewAt(t, p).Elem(); v.OverflowUint(n) {
		fail("%d is no %v", n, t)
	} else {
		v.SetUint(n)
	}
}

// inside reads a value that is part of another.
func (r *Reader) inside(d decode, p unsafe.Pointer) {
	if r.depth++; r.depth > deepest {
		fail("more than %d values within each other", deepest)
	}
	d(r, p)
	r.depth--
}

// spend takes the memory of n values from what there is for them.
func (r *Reader) spend(n int, size uintptr) {
	if r.Budget -= int64(n) * int64(size); r.Budget < 0 {
		fail("its values take too much memory")
	}
}

// keepType takes the memory of what is kept of types, as long as the stream is read.
func (r *Reader) keepType(size int) {
	if r.typed += size; r.typed > mostTyped {
		fail("its types take too much memory")
	}
}
