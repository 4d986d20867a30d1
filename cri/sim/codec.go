package sim

import (
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// A codec is gRPC's own, but it encodes a list that has not changed since it
// was last asked for only once: of a thousand pods that takes milliseconds,
// and a relist asks every second.
type codec struct {
	encoding.CodecV2
	kept atomic.Pointer[map[any]*encoded]
}

// An encoded is an answer that may be sent many times.
type encoded struct {
	once sync.Once
	data mem.BufferSlice
	err  error
}

func newCodec() *codec { return &codec{CodecV2: encoding.GetCodecV2(proto.Name)} }

// keep replaces the answers that are worth keeping in their encoded form. They
// must not be changed any more.
func (c *codec) keep(answers ...any) {
	kept := make(map[any]*encoded, len(answers))
	for _, a := range answers {
		kept[a] = &encoded{}
	}
	c.kept.Store(&kept)
}

// Marshal encodes v.
func (c *codec) Marshal(v any) (mem.BufferSlice, error) {
	var e *encoded
	if kept := c.kept.Load(); kept != nil {
		e = (*kept)[v]
	}
	if e == nil {
		return c.CodecV2.Marshal(v)
	}
	e.once.Do(func() {
		data, err := c.CodecV2.Marshal(v)
		if e.err = err; err == nil { // a buffer of our own: gRPC gives its own back to a pool
			e.data = mem.BufferSlice{mem.SliceBuffer(data.Materialize())}
			data.Free()
		}
	})
	return e.data, e.err
}
