package sources

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

func evented(t *testing.T, streams ...Stream) *play {
	if streams == nil {
		streams = []Stream{{Source: FromCRI, Forced: true}}
	}
	p := newPlay(t, Config{Mode: pleg.Evented, Streams: streams})
	p.pass(2 * time.Second)
	return p
}

func (p *play) wantMode(want pleg.Mode, reason string) {
	p.t.Helper()
	if m := p.o.Mode; m.Mode != want || m.Asked != pleg.Evented || !strings.Contains(m.Reason, reason) || (reason == "") != (m.Reason == "") {
		p.t.Errorf("mode %+v, want %v, %q", m, want, reason)
	}
}

// kubelet 1.37, evented.go: five ends of the stream, with an error or without, however far
// apart, and none is waited after. Then it is given up for good.
func TestFallBack(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		err          error
	}{
		{"broken", "the event stream ended 5 times: snapped", errSnapped},
		{"closed each time", "the event stream ended 5 times: EOF", io.EOF},
		{"no such stream", "the runtime has no event stream", errUnimplemented},
	} {
		for _, asked := range []bool{false, true} {
			p := evented(t, Stream{Source: FromCRI, Forced: true, On: asked})
			p.breaks = tt.err
			p.snap(FromCRI, errSnapped)
			p.pass(0)
			p.wantMode(pleg.Generic, tt.reason)
			if p.opened[FromCRI] != 5 || p.state(FromCRI).State != StreamFellBack || p.o.Mode.Attempts != 5 {
				t.Errorf("%s: opened %v, %+v", tt.name, p.opened, p.state(FromCRI))
			}
			p.breaks = nil
			p.pass(time.Hour) // a stream that people asked for goes on as a source; the mode does not
			want := StreamFellBack
			if asked {
				want = StreamConnected
			}
			p.wantMode(pleg.Generic, tt.reason)
			if s := p.state(FromCRI); s.State != want || p.o.Open(FromCRI, p.now) != asked {
				t.Errorf("%s, asked for %v: %+v", tt.name, asked, s)
			}
			p.o.Want(p.now, []Source{FromCRI})
			p.pass(2 * lasting)
			if s := p.state(FromCRI); s.State != StreamConnected {
				t.Errorf("%s, asked for at last: %+v", tt.name, s)
			}
			p.sends(FromCRI, p.end("web"))
			if _, asks := p.o.NextAsk(); asks {
				t.Errorf("%s: it asks", tt.name)
			}
		}
	}
}

// A stream that lasts for days has its ends counted all the same, but not those that are our
// doing or another source's.
func TestEndsOfTheStreamAreNeverForgotten(t *testing.T) {
	p := evented(t, Stream{Source: FromCRI, Forced: true}, Stream{Source: FromCgroup, On: true})
	for ends := 1; ends <= 5; ends++ {
		p.pass(time.Hour)
		p.snap(FromCgroup, errSnapped)
		p.o.Suspended = true
		p.pass(time.Second)
		p.o.Suspended = false
		p.pass(time.Hour)
		p.snap(FromCRI, io.EOF)
		if p.o.Mode.Attempts != ends {
			t.Errorf("after %d ends: %+v", ends, p.o.Mode)
		}
		if opens := p.o.Open(FromCRI, p.now); opens != (ends < 5) {
			t.Errorf("after %d ends it is opened at once: %v", ends, opens)
		}
	}
	p.wantMode(pleg.Generic, "ended 5 times: EOF")
}

// A mode whose stream cannot be had is none.
func TestModeWithoutItsStream(t *testing.T) {
	for _, tt := range []struct {
		name   string
		c      Config
		play   func(*play)
		reason string
		want   StreamState
	}{
		{"refused", Config{Streams: []Stream{{Source: FromCRI, Refuse: "for a reason"}}}, func(*play) {}, "for a reason", StreamFellBack},
		{"refused, and asked for", Config{Streams: []Stream{{Source: FromCRI, On: true, Refuse: "for a reason"}}}, func(*play) {}, "for a reason", StreamRefused},
		{"none", Config{Streams: []Stream{{Source: FromCgroup}}}, func(*play) {}, "not switched on", StreamOff},
		{"closed by people", Config{}, func(p *play) { p.o.Want(p.now, nil) }, "not switched on", StreamFellBack},
		{"of an older kubelet", Config{}, func(p *play) { p.o.Config.Release = 36 }, "kubelet 1.37, not of 1.36", StreamFellBack},
		{"switched off", Config{Streams: []Stream{{Source: FromCRI, Forced: true}}}, func(p *play) { p.breaks = io.EOF }, "switched off", StreamFellBack},
		{"looks once", Config{Once: true}, func(*play) {}, "", StreamOff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Mode, tt.c.Release = pleg.Evented, pleg.Newest
			if tt.c.Streams == nil {
				tt.c.Streams = []Stream{{Source: FromCRI, Forced: true}}
			}
			p := &play{t: t, o: New(tt.c, noon), now: noon, opened: make(map[Source]int)}
			p.f = Facts{Records: p}
			if tt.name != "switched off" {
				p.pass(2 * lasting)
			}
			tt.play(p)
			p.pass(time.Minute)
			mode := pleg.Generic
			if tt.c.Once {
				mode = pleg.Evented
			}
			p.wantMode(mode, tt.reason)
			if s := p.o.States()[0]; s.State != tt.want {
				t.Errorf("%+v", s)
			}
		})
	}
}

// end is the end of a container as the runtime's stream has it.
func (p *play) end(pod string) pleg.Upstream {
	u := stopped(pod + "/app")
	u.Status = &pleg.PodStatus{PodRef: pleg.PodRef{UID: pleg.UID(pod)}, Sandboxes: []pleg.SandboxStatus{{ID: pod}}}
	return u
}
