package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// TestFooterOfARecordingThatEnded holds that the footer says when and why the recording ended, as long
// as that is so, and names keys behind it. An answer to a key takes its place for a moment.
func TestFooterOfARecordingThatEnded(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	s := newStage(t, 120, 24)
	footer := func() string {
		lines := strings.Split(withoutStyles(s.m.frame()), "\n")
		return lines[len(lines)-1]
	}
	node := Healthy()
	node.Recording = engine.Recording{File: "/var/f.plegrec"}
	if s.show(node); strings.Contains(footer(), "recording") {
		t.Errorf("it goes on: %q", footer())
	}
	node = Healthy()
	node.Recording.File = "/var/f.plegrec"
	node.Recording.Ended, node.Recording.EndedAt = "no space left on device", at
	const ended = " ▲ recording ended at 03:04:05: no space left on device (/var/f.plegrec)  "
	if s.show(node); !strings.HasPrefix(footer(), ended) || !strings.Contains(footer(), "? help") {
		t.Errorf("%q, want %q and keys", footer(), ended)
	}
	if s.press("W"); s.m.flash.text == "" || strings.Contains(footer(), "ended at") {
		t.Errorf("an answer is covered: %q", footer())
	}
	if s.elapse(); !strings.HasPrefix(footer(), ended) {
		t.Errorf("after the answer: %q", footer())
	}
}
