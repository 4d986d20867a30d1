package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/widget"
)

const (
	layerUp, down, left, home, end = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[H", "\x1b[F"
	escape, enter, rub             = "\x1b", "\r", "\x7f"
)

// layerHostile is what a runtime may call a namespace.
const layerHostile = "a\x1b[31m\u009b1mb\n\u202Ec日本語"

// presses returns the key presses that a terminal's bytes stand for.
func presses(bytes string) []tea.KeyPressMsg {
	var all []tea.KeyPressMsg
	for bytes != "" {
		var d uv.EventDecoder
		next := bytes
		if strings.HasPrefix(bytes, escape) && !strings.HasPrefix(bytes, "\x1b[") { // esc, not another key with alt
			next = escape
		}
		n, ev := d.Decode([]byte(next))
		if k, ok := ev.(uv.KeyPressEvent); ok {
			all = append(all, tea.KeyPressMsg(k))
		}
		bytes = bytes[n:]
	}
	return all
}

var layerView = View(Healthy())

// layerStage opens a layer on a screen of w cells and h lines.
func layerStage(p pane.Pane, w, h int) *Stage {
	v := *layerView
	s := NewStage(p, &v, w, h)
	s.Open(p)
	return s
}

// press gives keys to the layer on top, as the screen does: first as they are typed, then
// by what they mean.
func press(s *Stage, bytes string) {
	for _, k := range presses(bytes) {
		if len(s.Layers) == 0 {
			return
		}
		top := s.Layers[len(s.Layers)-1]
		top.Observe(s.V, s.W, s.H)
		if typist, ok := top.(pane.Typist); ok {
			if _, done := typist.Key(k, s); done {
				continue
			}
		}
		top.Do(keymap.Default().Action(k, top.Info().Scope), s)
	}
	s.Refresh()
}

func layerOpen(s *Stage, p pane.Pane) bool { return slices.Contains(s.Layers, p) }

func TestPrompt(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{"abc", "abc"},
		{"ab" + left + "X", "aXb"},
		{"a b\x17c", "a c"},
		{"abc\x15d", "d"},
		{"abc" + home + "X" + end + "Y", "XabcY"},
		{"abc" + left + left + "\x0b", "a"},
		{"abc" + rub, "ab"},
		{"日本" + left + "語", "日語本"},
		{"draft" + layerUp + "x" + down, "draftx"},
		{"a\x16b", "ab"}, // ^v would run a program
	} {
		p := layer.NewPrompt("filter", "")
		press(layerStage(p, 40, 1), tt.keys)
		if p.Value() != tt.want {
			t.Errorf("%q makes %q, want %q", tt.keys, p.Value(), tt.want)
		}
	}
}

func TestHostilePaste(t *testing.T) {
	p := layer.NewPrompt("filter", layerHostile)
	s := layerStage(p, 60, 1)
	p.Paste(layerHostile+"\x00\x1b]0;x\x07", s)
	p.Key(tea.KeyPressMsg{Code: tea.KeyExtended, Text: layerHostile}, s)
	s.Check(t)
	if strings.ContainsFunc(p.Value(), func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
		t.Errorf("the text holds controls: %q", p.Value())
	}
}

func FuzzPrompt(f *testing.F) {
	f.Add("abc"+left+rub+layerUp, layerHostile, 20)
	f.Add(strings.Repeat("日", 30)+home+"\x0b\x17", "x", 3)
	f.Add("e\u0301"+left+left+"\x1b[3~", "\u202e\x1b", 8)
	f.Fuzz(func(t *testing.T, keys, pasted string, w int) {
		p := layer.NewPrompt("filter", pasted)
		p.Changed = func(_ pane.Host, s string) error {
			if len(s)%2 == 1 {
				return errors.New(s)
			}
			return nil
		}
		s := layerStage(p, w&127, 1)
		for i, k := range presses(keys[:min(len(keys), 200)]) {
			p.Key(k, s)
			if i%3 == 0 {
				p.Paste(pasted, s)
			}
			s.Check(t)
		}
		if n := len([]rune(p.Value())); n > 1000+len([]rune(pasted))+len([]rune(keys)) {
			t.Errorf("%d characters", n)
		}
	})
}

func TestConfirm(t *testing.T) {
	for keys, want := range map[string]bool{"y": true, "Y": true, "n": false, enter: false, escape: false, "q": false, "x": false, " ": false} {
		yes := false
		c := layer.NewConfirm("A period under 1s on a real runtime?", func(pane.Host) { yes = true })
		s := layerStage(c, 60, 1)
		if row := s.Row("?"); row != "A period under 1s on a real runtime? y/N" {
			t.Errorf("asked is %q", row)
		}
		c.Paste("y", s)
		if press(s, keys); yes != want || layerOpen(s, c) {
			t.Errorf("%q: yes %v, open %v", keys, yes, layerOpen(s, c))
		}
	}
	s := layerStage(layer.NewConfirm("Inspect all 1203 pods again?", nil), 20, 1)
	if row := s.Row("Inspect"); row != "Inspect all 120… y/N" {
		t.Errorf("with few cells asked is %q", row)
	}
}

func choices() []widget.Choice {
	return []widget.Choice{{Name: "default", Note: "12 pods"}, {Name: "kube-system", Note: "9 pods", On: true}, {Name: layerHostile, Note: "1 pod"}, {Name: "kube-public", Note: "no pod"}}
}

func TestPicker(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{enter, "kube-system"},
		{"k " + enter, "default kube-system"},
		{" k" + enter, "default"}, // none is on: the one under the cursor
		{"gG " + enter, "kube-system kube-public"},
		{" /PUB" + enter + " " + enter, "kube-public"},
		{"/nothing" + enter + " " + enter, "kube-system"},
		{"/pub" + escape + "k " + enter, "default kube-system"},
		{"jjj" + enter + "x", "kube-system"},
		{"q", "closed"},
		{escape, "closed"},
		{"/pub" + enter + escape + "j " + enter, "kube-system " + layerHostile},
	} {
		p := layer.NewPicker("Namespaces", choices())
		got := "closed"
		p.Accepted = func(_ pane.Host, names []string) { got = strings.Join(names, " ") }
		s := layerStage(p, 60, 6)
		if press(s, tt.keys); got != tt.want || layerOpen(s, p) {
			t.Errorf("%q: %q, open %v, want %q", tt.keys, got, layerOpen(s, p), tt.want)
		}
	}
}

const raw = "{\n  \"id\": \"" + "0123456789012345678901234567890123456789012345678901234567890123456789" + "\",\n  \"name\": \"" + layerHostile + "\"\n}\n"

func TestViewer(t *testing.T) {
	v := layer.NewViewer("default/web", raw)
	s := layerStage(v, 40, 3)
	if got := s.Text(); !strings.Contains(got, "6789…\n") {
		t.Errorf("a long line is not cut:\n%s", got)
	}
	press(s, "j")
	if about := v.Info().About; about[0].Text != "2-4/5" {
		t.Errorf("the title says %v", about)
	}
	press(s, "w")
	if got := s.Row(`"id"`); got == "" || strings.Contains(got, "…") {
		t.Errorf("wrapped, the first line is\n%s", s.Text())
	}
	press(s, "w/NAME"+enter)
	if got := s.Row(`"name"`); got == "" || s.Said != "1 lines match; n goes to the next" {
		t.Errorf("the search shows %q and says %q", s.Text(), s.Said)
	}
	press(s, "/"+escape)
	if about := v.Info().About; len(about) != 1 {
		t.Errorf("after esc the search goes on: %v", about)
	}
	s.Act(keymap.Copy)
	if strings.ContainsAny(s.Clip, "\x1b\u202e") || !strings.Contains(s.Clip, "\n  \"name\"") {
		t.Errorf("copied is %q", s.Clip)
	}
	if press(s, "q"); layerOpen(s, v) {
		t.Error("q does not close it")
	}
	if got := layerStage(layer.NewViewer("empty", ""), 20, 2).Text(); strings.TrimSpace(got) != "" {
		t.Errorf("an empty text is %q", got)
	}
}
