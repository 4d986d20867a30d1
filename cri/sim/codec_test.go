package sim

import (
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestCodecEncodesAKeptAnswerOnce(t *testing.T) {
	c := newCodec()
	kept, other := &cri.VersionResponse{Version: "kept"}, &cri.VersionResponse{Version: "other"}
	c.keep(kept)
	encode := func(v *cri.VersionResponse) []byte {
		t.Helper()
		data, err := c.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back cri.VersionResponse
		if err := c.Unmarshal(data, &back); err != nil || !proto.Equal(&back, v) {
			t.Errorf("%v is encoded as %v, %v", v, &back, err)
		}
		return data[0].ReadOnlyData()
	}
	if first, second := encode(kept), encode(kept); &first[0] != &second[0] {
		t.Error("a kept answer was encoded twice")
	}
	encode(other)
	c.keep(other)
	encode(kept)
	if _, ok := (*c.kept.Load())[kept]; ok {
		t.Error("an answer is kept for ever")
	}
}

func TestCodecKeepsABufferOfItsOwn(t *testing.T) {
	c := newCodec()
	big := &cri.VersionResponse{Version: string(make([]byte, 1<<16))} // of a size that gRPC takes from a pool
	c.keep(big)
	for range 3 {
		data, err := c.Marshal(big)
		if err != nil {
			t.Fatal(err)
		}
		if _, own := data[0].(mem.SliceBuffer); !own {
			t.Errorf("buffer is a %T, want one that is never reused", data[0])
		}
		data.Free()
	}
}
