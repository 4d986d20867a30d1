package record

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An entry is one observation in a segment.
type entry struct {
	Kind string          // the name of the type in package engine; for a mark the mark's type
	At   time.Duration   // since the start of the engine, monotonic
	Step *time.Duration  `cbor:",omitempty"` // if the wall clock was set: how far it is ahead from now on (see step)
	Ages *ages           `cbor:",omitempty"` // for a look: its largest ages, subtracted from all its ages
	Of   cbor.RawMessage // the fields of the observation; for CallEnded those of callEnded
}

// A callEnded is an [engine.CallEnded] with CRI's messages in the place of the answer. Only the
// message of the called method is not null.
type callEnded struct {
	ID         uint64
	Trace      call.Trace
	Err        *call.Error
	Version    []byte // VersionResponse
	Status     []byte // RuntimeStatus
	Sandbox    []byte // PodSandboxStatus
	Container  []byte // ContainerStatus
	Sandboxes  *list  // of PodSandbox
	Containers *list  // of Container
}

// kinds are the types of observations and marks by name.
var kinds = map[string]reflect.Type{}

func init() {
	for _, v := range []any{
		engine.CallBegan{}, callEnded{}, engine.Looked{}, engine.Streamed{}, engine.StreamEnded{}, engine.Requested{}, engine.Ticked{},
		engine.Halted{}, engine.RelistBegan{}, engine.Listed{}, engine.RelistFailed{}, engine.Inspected{}, engine.RelistEnded{},
		engine.LookBegan{}, engine.StreamOpened{}, engine.Closed{},
	} {
		kinds[kindOf(v)] = reflect.TypeOf(v)
	}
}

func kindOf(v any) string {
	if _, is := v.(callEnded); is {
		return "CallEnded"
	}
	return reflect.TypeOf(v).Name()
}

const (
	// mostItem is how long one CBOR item may be. mostElements is how many elements all its arrays
	// may have: one byte of a hostile file would become a struct of hundreds.
	mostItem     = 64 << 20
	mostElements = 1 << 19
)

var (
	encodes = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano, Sort: cbor.SortBytewiseLexical}.EncMode())
	decodes = must(cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, MaxArrayElements: mostElements, MaxMapPairs: mostElements, MaxNestedLevels: 24,
	}.DecMode())
)

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err)
	}
	return mode
}

// A codec writes the observations of one engine, or reads them. It remembers the last lists,
// because the next lists are differences to them.
type codec struct {
	clock      clock
	sandboxes  *rows[pleg.ListedSandbox]
	containers *rows[pleg.ListedContainer]
}

func newCodec(c clock) *codec {
	clean := c.writing(ages{}).copy
	return &codec{c, newSandboxes(clean), newContainers(clean)}
}

// begin begins a segment.
func (c *codec) begin() {
	c.sandboxes.begin()
	c.containers.begin()
}

// write returns an observation as it is recorded.
func (c *codec) write(e entry, o engine.Observation) (item []byte, err error) {
	var v any = o
	var a ages
	switch o := o.(type) {
	case engine.CallEnded:
		v, err = c.ended(o)
	case engine.Marked:
		v = o.Mark
	case engine.Looked:
		if o.Report != nil {
			a = agesOf(&o.Report.Processes)
			e.Ages = &a
		}
	}
	e.Kind = kindOf(v)
	if err == nil {
		e.Of, err = encodes.Marshal(c.clock.writing(a).copy(v))
	}
	if err == nil {
		item, err = encodes.Marshal(e)
	}
	if err != nil {
		return nil, fmt.Errorf("record: write %s: %w", e.Kind, err)
	}
	return item, nil
}

// ended returns a call's end as it is written.
func (c *codec) ended(o engine.CallEnded) (e callEnded, err error) {
	e = callEnded{ID: o.ID, Trace: o.Trace, Err: o.Err}
	a, clean := o.Answer, c.clock.writing(ages{}).copy
	switch {
	case a.Version != nil:
		e.Version, err = cri.Message(clean(a.Version))
	case a.Conditions != nil:
		e.Status, err = cri.Message(clean(a.Conditions))
	case a.Sandbox != nil:
		e.Sandbox, err = cri.Message(clean(a.Sandbox))
	case a.Container != nil:
		e.Container, err = cri.Message(clean(a.Container))
	case a.Sandboxes != nil:
		e.Sandboxes, err = c.sandboxes.write(a.Sandboxes)
	case a.Containers != nil:
		e.Containers, err = c.containers.write(a.Containers)
	}
	return e, err
}

// read returns the observation of an entry.
func (c *codec) read(e *entry) (at time.Time, o engine.Observation, err error) {
	if e.Step != nil {
		c.clock.steps = append(c.clock.steps, step{e.At, *e.Step})
	}
	at = c.clock.at(e.At)
	t, known := kinds[e.Kind]
	if !known {
		return at, nil, fmt.Errorf("%q is no observation", e.Kind)
	}
	v := reflect.New(t)
	err = decodes.Unmarshal(e.Of, v.Interface())
	if err == nil {
		switch v := c.clock.reading(*cmp.Or(e.Ages, new(ages))).copy(v.Elem().Interface()).(type) {
		case engine.Mark:
			o = engine.Marked{Mark: v}
		case engine.Observation:
			o = v
		case callEnded:
			o, err = c.answered(&v)
		}
	}
	if err != nil {
		return at, nil, fmt.Errorf("%s: %w", e.Kind, err)
	}
	return at, o, nil
}

// answered undoes ended.
func (c *codec) answered(e *callEnded) (o engine.CallEnded, err error) {
	o = engine.CallEnded{ID: e.ID, Trace: e.Trace, Err: e.Err}
	a := &o.Answer
	switch {
	case e.Version != nil:
		a.Version, err = pointer(cri.ReadVersion(e.Version))
	case e.Status != nil:
		a.Conditions, err = cri.ReadConditions(e.Status)
	case e.Sandbox != nil:
		a.Sandbox, err = pointer(cri.ReadSandbox(e.Sandbox))
	case e.Container != nil:
		a.Container, err = pointer(cri.ReadContainer(e.Container))
	case e.Sandboxes != nil:
		a.Sandboxes, err = c.sandboxes.read(e.Sandboxes)
	case e.Containers != nil:
		a.Containers, err = c.containers.read(e.Containers)
	}
	return o, err
}

func pointer[T any](v T, err error) (*T, error) { return &v, err }

// unmarshal reads an item that may be hostile.
func unmarshal(item cbor.RawMessage, to any) error {
	if tooLarge(item) {
		return errors.New("it is larger than what can be played")
	}
	return decodes.Unmarshal(item, to)
}

// tooLarge reports whether no player takes an item.
func tooLarge(item []byte) bool { return len(item) > mostItem || elements(item) > mostElements }

// elements returns how many elements all arrays in well-formed CBOR have.
func elements(b []byte) (n uint64) {
	for len(b) > 0 {
		major, value, size := b[0]>>5, uint64(b[0]&31), 1
		if value >= 24 {
			size += 1 << (value - 24)
			value = 0
			for _, octet := range b[1:size] {
				value = value<<8 | uint64(octet)
			}
		}
		b = b[size:]
		switch major {
		case 2, 3: // bytes, text
			b = b[value:]
		case 4: // array
			n += value
		}
	}
	return n
}
