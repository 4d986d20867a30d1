package frozen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"
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
	r.plan(r.typeNumber(), t)(r, p)
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

func (r *Reader) typeNumber() uint64 {
	n := r.number()
	if n >= uint64(len(r.types)) {
		fail("type %d is not described", n)
	}
	return n
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

// elemOf returns the element type of a type; nil for nil.
func elemOf(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	return t.Elem()
}

func (r *Reader) sliceOf(d described, to reflect.Type) decode {
	elem := r.plan(d.elem, elemOf(to))
	return func(r *Reader, p unsafe.Pointer) {
		n, ok := r.present(1)
		if !ok {
			return
		}
		var size uintptr
		var data unsafe.Pointer
		if p != nil {
			size = to.Elem().Size()
			r.spend(n, size)
			v := reflect.NewAt(to, p).Elem()
			v.Set(reflect.MakeSlice(to, n, n))
			data = v.UnsafePointer()
		}
		for i := range uintptr(n) {
			r.inside(elem, at(data, i*size))
		}
	}
}

// at returns the place so far behind p; nil for nil.
func at(p unsafe.Pointer, offset uintptr) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, offset)
}

func (r *Reader) arrayOf(d described, to reflect.Type) decode {
	elem, have := r.plan(d.elem, elemOf(to)), 0
	var size uintptr
	if to != nil {
		have, size = to.Len(), to.Elem().Size()
	}
	return func(r *Reader, p unsafe.Pointer) {
		r.spend(d.n, 1) // an element may be of no bytes
		for i := range d.n {
			if i < have {
				r.inside(elem, at(p, uintptr(i)*size))
			} else {
				r.inside(r.plan(d.elem, nil), nil)
			}
		}
	}
}

func (r *Reader) mapOf(d described, to reflect.Type) decode {
	if to == nil {
		key, elem := r.plan(d.key, nil), r.plan(d.elem, nil)
		return func(r *Reader, _ unsafe.Pointer) {
			n, _ := r.present(2)
			for range n {
				r.inside(key, nil)
				r.inside(elem, nil)
			}
		}
	}
	key, elem := r.plan(d.key, to.Key()), r.plan(d.elem, to.Elem())
	return func(r *Reader, p unsafe.Pointer) {
		n, ok := r.present(2)
		if !ok {
			return
		}
		r.spend(n, 2*(to.Key().Size()+to.Elem().Size()))
		m := reflect.NewAt(to, p).Elem()
		m.Set(reflect.MakeMapWithSize(to, n))
		for range n {
			k, v := reflect.New(to.Key()), reflect.New(to.Elem())
			r.inside(key, k.UnsafePointer())
			r.inside(elem, v.UnsafePointer())
			if !k.Elem().Comparable() {
				fail("a key of %v cannot be compared", to)
			}
			m.SetMapIndex(k.Elem(), v.Elem())
		}
	}
}

func (r *Reader) pointerTo(d described, to reflect.Type) decode {
	elem := r.plan(d.elem, elemOf(to))
	return func(r *Reader, p unsafe.Pointer) {
		switch n := r.number(); {
		case n == 0:
		case n == 1:
			r.target(elem, to, p)
		case n-2 >= uint64(len(r.seen)):
			fail("a pointer to what is not there")
		case p == nil:
		default:
			v := r.seen[n-2]
			if v == nil || reflect.TypeOf(v) != to {
				fail("a pointer to something that is no %v", to)
			}
			reflect.NewAt(to, p).Elem().Set(reflect.ValueOf(v))
		}
	}
}

// target reads what a pointer is the first to point to.
func (r *Reader) target(elem decode, to reflect.Type, p unsafe.Pointer) {
	if p == nil {
		r.spend(1, pointed)
		r.seen = append(r.seen, nil)
		r.inside(elem, nil)
		return
	}
	r.spend(1, pointed+to.Elem().Size())
	v := reflect.New(to.Elem())
	reflect.NewAt(to, p).Elem().Set(v)
	r.seen = append(r.seen, reflect.NewAt(to, p).Elem().Interface())
	r.inside(elem, v.UnsafePointer())
}

func (r *Reader) recordOf(d described, to reflect.Type) decode {
	type field struct {
		at     uintptr
		known  bool
		decode decode
	}
	ours := make(map[string]reflect.StructField)
	if to != nil {
		for _, f := range fieldsOf(to) {
			ours[f.Name] = f
		}
	}
	r.keepType(len(d.fields) * ofField)
	fields := make([]field, len(d.fields))
	for i, f := range d.fields {
		o, known := ours[f.name]
		fields[i] = field{o.Offset, known, r.plan(f.of, o.Type)}
	}
	room := max((len(fields)+7)/8, 1)
	return func(r *Reader, p unsafe.Pointer) {
		there := r.bytes(room)
		for i, f := range fields {
			if there[i/8]&(1<<(i%8)) == 0 {
				continue
			}
			q := at(p, f.at)
			if !f.known {
				q = nil
			}
			r.inside(f.decode, q)
		}
	}
}

func (r *Reader) variant(to reflect.Type, p unsafe.Pointer) {
	name := r.literal()
	if name == "" {
		return
	}
	t := typeOf(name)
	if t == nil || p == nil {
		r.inside(func(r *Reader, _ unsafe.Pointer) { r.value(nil, nil) }, nil)
		if p != nil {
			fail("%q is unknown: recorded by another version", name)
		}
		return
	}
	if !t.AssignableTo(to) {
		fail("a %v is no %v", t, to)
	}
	r.spend(1, t.Size())
	v := reflect.New(t)
	r.inside(func(r *Reader, p unsafe.Pointer) { r.value(t, p) }, v.UnsafePointer())
	reflect.NewAt(to, p).Elem().Set(v.Elem())
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

var errCut = fault{fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)}

func (r *Reader) byte() byte { return r.bytes(1)[0] }

func (r *Reader) bytes(n int) []byte {
	if n > len(r.in) {
		panic(errCut)
	}
	b := r.in[:n]
	r.in = r.in[n:]
	return b
}

func (r *Reader) number() uint64 {
	n, took := binary.Uvarint(r.in)
	return r.took(n, took)
}

func (r *Reader) signed() int64 {
	n, took := binary.Varint(r.in)
	r.took(0, took)
	return n
}

func (r *Reader) took(n uint64, took int) uint64 {
	if took < 0 {
		panic(fault{errors.New("a number is too large")})
	}
	if took == 0 {
		panic(errCut)
	}
	r.in = r.in[took:]
	return n
}

// length returns how many things follow that take so many bytes each at least.
func (r *Reader) length(least int) int {
	n := r.number()
	if n > uint64(len(r.in)/least) {
		panic(errCut)
	}
	return int(n)
}

// present returns how many elements follow, and false for nil.
func (r *Reader) present(least int) (int, bool) {
	n := r.number()
	if n == 0 {
		return 0, false
	}
	if n-1 > uint64(len(r.in)/least) {
		panic(errCut)
	}
	return int(n - 1), true
}

func (r *Reader) octets() []byte {
	n, ok := r.present(1)
	if !ok {
		return nil
	}
	r.spend(n, 1)
	return append(make([]byte, 0, n), r.bytes(n)...)
}

func (r *Reader) text() string {
	n := r.number()
	if n&1 == 1 {
		s := r.string(n >> 1)
		if kept(s) && len(r.texts) < mostTexts {
			r.texts = append(r.texts, s)
		}
		return s
	}
	if n == 0 {
		return ""
	}
	if n/2-1 >= uint64(len(r.texts)) {
		fail("text %d is not there", n/2-1)
	}
	return r.texts[n/2-1]
}

func (r *Reader) literal() string { return r.string(r.number() >> 1) }

func (r *Reader) string(n uint64) string {
	if n > uint64(len(r.in)) {
		panic(errCut)
	}
	r.spend(int(n), 1)
	return string(r.bytes(int(n)))
}

func (r *Reader) moment() time.Time {
	form := r.byte()
	if form&isZero != 0 {
		return time.Time{}
	}
	var t time.Time
	reading, has := int64(0), form&hasReading != 0
	if form&isFar != 0 {
		t = time.Unix(r.signed(), int64(r.number()%1e9)).UTC()
	} else {
		ran := r.signed()
		last := r.clock.last(has)
		*last += ran
		t = time.Unix(0, *last).UTC()
		if has {
			r.clock.monotonic += r.signed() + ran
			reading = r.clock.monotonic
		}
	}
	if form&isUTC == 0 {
		t = r.clock.inZone(t, int(r.signed()%(24*3600)))
	}
	if has {
		t = withMonotonic(t, reading)
	}
	return t
}
