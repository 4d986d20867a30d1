package frozen

import (
	"reflect"
	"unsafe"
)

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
