package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

func TestValidate(t *testing.T) {
	run := func(context.Context, func(pleg.Upstream)) error { return nil }
	streams := func(all ...engine.Stream) func(*engine.Config) {
		return func(c *engine.Config) { c.Streams = all }
	}
	for _, tt := range []struct {
		want string // empty if it is valid
		edit func(*engine.Config)
	}{
		{"", func(*engine.Config) {}},
		{"engine: no runtime", func(c *engine.Config) { c.Runtime = nil }},
		{"mode 2: want generic or evented", func(c *engine.Config) { c.Mode = pleg.Evented + 1 }},
		{"kubelet version 1.24: want 1.25 to 1.37", func(c *engine.Config) { c.Release = pleg.Oldest - 1 }},
		{"kubelet version 1.38: want 1.25 to 1.37", func(c *engine.Config) { c.Release = pleg.Newest + 1 }},
		{"relist period 1ms: want 100ms to 10m0s", func(c *engine.Config) { c.Period = time.Millisecond }},
		{"relist period 1h0m0s: want 100ms to 10m0s", func(c *engine.Config) { c.Period = time.Hour }},
		{"relist threshold -1ns: want more than 0", func(c *engine.Config) { c.Threshold = -1 }},
		{"timeout -1ns: want more than 0", func(c *engine.Config) { c.Timeout = -1 }},
		{"event channel capacity -1: want more than 0", func(c *engine.Config) { c.Capacity = -1 }},
		{"kept events -1: want more than 0", func(c *engine.Config) { c.Events = -1 }},
		{"event source relist: want cri or cgroup", streams(engine.Stream{Source: sources.FromRelist, Run: run})},
		{"event source unknown: want cri or cgroup", streams(engine.Stream{Source: 99, Run: run})},
		{"event source cri: has no stream", streams(engine.Stream{Source: sources.FromCRI})},
		{"event source cri: given twice", streams(engine.Stream{Source: sources.FromCRI, Run: run}, engine.Stream{Source: sources.FromCRI, Run: run})},
		{"", streams(engine.Stream{Source: sources.FromCgroup, Refuse: "not allowed"}, engine.Stream{Source: sources.FromCRI, Run: run})},
	} {
		c := engine.Config{Runtime: newScripted(t)}
		tt.edit(&c)
		_, err := engine.New(c)
		if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("New returned %v, want %q", err, tt.want)
		}
	}
}

func TestExamineRefusesWhatCannotWork(t *testing.T) {
	for _, x := range []engine.Examination{{Timeout: -1}, {Deadline: -1}} {
		if _, err := engine.Examine(t.Context(), engine.Config{Runtime: newScripted(t)}, x); err == nil {
			t.Errorf("%+v: no error", x)
		}
	}
	if _, err := engine.Examine(t.Context(), engine.Config{}, engine.Examination{}); err == nil {
		t.Error("no runtime: no error")
	}
}
