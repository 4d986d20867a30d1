package sources

import (
	"errors"
	"io"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

var (
	errSnapped       = errors.New("snapped")
	errUnimplemented = &call.Error{Op: call.GetContainerEvents, Kind: call.ErrUnimplemented, Text: "no"}
)

// A stream is connected after a second, is opened anew soon after it broke, and waits for twice
// as long each time after that, up to a minute.
func TestStreamOpensBreaksAndComesBack(t *testing.T) {
	p := newPlay(t, Config{Streams: []Stream{{Source: FromCgroup, On: true}}})
	p.pass(999 * time.Millisecond)
	if s := p.state(FromCgroup); s.State != StreamOpening {
		t.Errorf("before a second: %+v", s)
	}
	p.pass(time.Millisecond)
	p.sends(FromCgroup, stopped("a"), stopped("b"))
	if s := p.state(FromCgroup); s.State != StreamConnected || s.Received != 2 {
		t.Errorf("after a second: %+v", s)
	}
	p.breaks = errSnapped
	p.snap(FromCgroup, errSnapped)
	last := time.Duration(0)
	for try := 1; try <= 15; try++ {
		s := p.state(FromCgroup)
		wait, most := s.NextAt.Sub(p.now), min(leastBackOff<<(try-1), mostBackOff)
		if s.State != StreamLost || s.LastErr != "snapped" || s.Tries != try || wait != most {
			t.Errorf("try %d: waits %v of %v after %v: %+v", try, wait, most, last, s)
		}
		p.pass(wait)
	}
	p.breaks = nil
	p.pass(2 * mostBackOff)
	if s := p.state(FromCgroup); s.State != StreamConnected || s.Tries != 0 {
		t.Errorf("at last: %+v", s)
	}
	p.wantChanges("cgroup connected", "cgroup lost: snapped", "cgroup connected")
}

// The runtime's stream waits for the version, and is refused where it does harm.
func TestStreamIsRefusedWhereItDoesHarm(t *testing.T) {
	for _, tt := range []struct {
		name, runtime, version string
		stream                 Stream
		want                   StreamState
		reason                 string
	}{
		{"not known yet", "", "", Stream{}, StreamWaiting, "the version of the runtime is not known yet"},
		{"containerd 2", "containerd", "v2.4.0", Stream{}, StreamConnected, ""},
		{"containerd 1.7", "containerd", "1.7.27", Stream{}, StreamRefused, "containerd 1.7: a second reader would take events from the kubelet; --force-events opens it all the same"},
		{"containerd 1.6", "containerd", "v1.6.9", Stream{}, StreamRefused, "containerd before 1.7 has no event stream; --force-events opens it all the same"},
		{"containerd of no version", "containerd", "dev", Stream{}, StreamRefused, `containerd of unknown version "dev": before 2.0 a second reader would take events from the kubelet; --force-events opens it all the same`},
		{"forced", "containerd", "1.7.27", Stream{Forced: true}, StreamConnected, ""},
		{"cri-o", "cri-o", "1.31.0", Stream{}, StreamConnected, ""},
		{"cannot be", "cri-o", "1.31.0", Stream{Refuse: "no such thing", Forced: true}, StreamRefused, "no such thing"},
	} {
		tt.stream.Source, tt.stream.On = FromCRI, true
		p := newPlay(t, Config{Streams: []Stream{tt.stream}})
		p.o.Version = pleg.Version{RuntimeName: tt.runtime, RuntimeVersion: tt.version}
		p.pass(2 * lasting)
		if s := p.state(FromCRI); s.State != tt.want || s.Reason != tt.reason || p.opened[FromCRI] != 0 != (tt.want == StreamConnected) {
			t.Errorf("%s: %+v, opened %d times", tt.name, s, p.opened[FromCRI])
		}
	}
}

// A stream that we close stays closed until the lane has reported its end, even if somebody
// wants it back meanwhile. That end is no break.
func TestStreamThatIsClosingIsNoneThatBroke(t *testing.T) {
	p := newPlay(t, Config{Streams: []Stream{{Source: FromCgroup, On: true}}})
	p.pass(2 * lasting)
	p.o.Want(p.now, nil)
	p.o.Advance(p.now, p.f)
	p.o.Want(p.now, []Source{FromCgroup})
	if s := p.state(FromCgroup); s.State != StreamEnding || p.o.Open(FromCgroup, p.now) {
		t.Errorf("it goes on: %+v", s)
	}
	p.pass(2 * lasting)
	if s := p.state(FromCgroup); s.State != StreamConnected || s.Tries != 0 || s.LastErr != "" || p.opened[FromCgroup] != 2 {
		t.Errorf("%+v, opened %v", s, p.opened)
	}
	p.o.Opened(p.now, FromRelist)
	p.o.Ended(p.now, FromRelist, call.ErrOther, "")
	p.o.Ended(p.now.Add(time.Second), FromCgroup, call.ErrOther, "once")
	p.o.Ended(p.now.Add(time.Second), FromCgroup, call.ErrOther, "twice")
	if s := p.state(FromCgroup); s.Tries != 1 || s.LastErr != "once" {
		t.Errorf("an end of what is not open: %+v", s)
	}
}

// A runtime that restarts may close a stream at once. A stream that has lasted, or sent
// something, is lost then, and not switched off, unless the runtime says that it has none.
func TestStreamThatIsNotEnabled(t *testing.T) {
	off := "cri not-enabled: the runtime ends its event stream at once: it is switched off there"
	for _, tt := range []struct {
		name string
		err  error
		play func(*play)
		want string
	}{
		{"never worked, closed", io.EOF, func(*play) {}, off},
		{"never worked, broken", errSnapped, func(*play) {}, "cri lost: snapped"},
		{"has lasted, closed", io.EOF, func(p *play) { p.pass(lasting) }, "cri lost: EOF"},
		{"has sent something, closed", io.EOF, func(p *play) { p.sends(FromCRI, stopped("a")) }, "cri lost: EOF"},
		{"has lasted, none such", errUnimplemented, func(p *play) { p.pass(lasting) }, "cri not-enabled: the runtime has no event stream"},
	} {
		p := newPlay(t, Config{Streams: []Stream{{Source: FromCRI, On: true, Forced: true}}})
		tt.play(p)
		p.snap(FromCRI, tt.err)
		all := p.changes()
		wait := p.state(FromCRI).NextAt.Sub(p.now)
		if n := len(all); n == 0 || all[n-1] != tt.want || (wait == mostBackOff) != (p.state(FromCRI).State == StreamNotEnabled) {
			t.Errorf("%s: %q, opened in %v", tt.name, all, wait)
		}
	}
}

// People see the last 64 changes, numbered without gaps; what a snapshot has does not change.
func TestChangesAreBounded(t *testing.T) {
	p := newPlay(t, Config{Streams: []Stream{{Source: FromCgroup, On: true}}})
	var had, copied []SourceChange
	for i := range 100 {
		p.pass(2 * lasting)
		if i == 70 {
			had, copied = p.o.Changes, append([]SourceChange(nil), p.o.Changes...)
		}
		p.snap(FromCgroup, errSnapped)
	}
	if n := len(p.changes()); n != changesKept || p.o.Changes[n-1].Seq != 200 || !gocmp.Equal(had, copied) {
		t.Errorf("%d changes, the last %+v", n, p.o.Changes[n-1])
	}
}
