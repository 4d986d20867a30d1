package past

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// fill sets every field of a value, in all that it refers to, to something that is not zero.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(now.Add(123456789)))
			return
		}
		for _, f := range v.Fields() {
			fill(f, depth)
		}
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), depth-1)
		}
	case reflect.Map:
		if depth > 0 {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, depth-1)
			fill(elem, depth-1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, elem)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(&call.Error{Op: call.Status, Kind: call.ErrDeadline, Text: "late"}))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		if v.CanInt() {
			v.SetInt(3)
		} else {
			v.SetUint(3)
		}
	}
}

// Every field of a report or a memory survives.
func TestCheckpointIsWhole(t *testing.T) {
	var was, read KeeperState
	fill(reflect.ValueOf(&was).Elem(), 8)
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := mode.Marshal(was)
	if err == nil {
		err = cbor.Unmarshal(b, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, read); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A keeper that was restored goes on as it would have, and does not write to what it was restored from.
func TestRestore(t *testing.T) {
	var k, restored Keeper
	lose := func(k *Keeper) { k.Lost(pleg.Event{Kind: pleg.Died}, now) }
	lose(&k)
	k.Hung("a", now)
	k.Judged(false, now)
	state := k.State()
	before := fmt.Sprintf("%+v %+v", state, *state.Memory.Losses)
	restored.Restore(state)
	for _, k := range []*Keeper{&k, &restored} {
		lose(k)
		k.Hung("b", now)
		k.Judged(true, now.Add(time.Minute))
	}
	if diff := cmp.Diff(k.Read(), restored.Read()); diff != "" || restored.Read().Losses.Total != 2 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if after := fmt.Sprintf("%+v %+v", state, *state.Memory.Losses); after != before {
		t.Errorf("the state became\n%s\nfrom\n%s", after, before)
	}
}
