package widget_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// hostile is what a runtime may call a thing.
const hostile = "a\x1b[31m\u009b1mb\n\u202Ec日本語"

func pen() widget.Pen {
	t := theme.Default()
	return widget.Pen{Theme: &t}
}

// styled returns line y of a widget, exactly w cells wide.
func styled(t *testing.T, draw func(l *text.Line, p widget.Pen, y int, focused bool), w, y int) string {
	t.Helper()
	var l text.Line
	l.Begin(w)
	draw(&l, pen(), y, true)
	l.Under()
	l.End()
	line := string(l.Buf)
	if g, wc := ansi.StringWidth(line), ansi.StringWidthWc(line); g != w || wc != w {
		t.Errorf("line %d has %d cells (%d by runes), want %d: %q", y, g, wc, w, line)
	}
	return line
}

var looks = regexp.MustCompile("\x1b\\[[0-9;]*m")

func plain(line string) string { return looks.ReplaceAllString(line, "") }

// lines returns h lines without their looks and what is blank at their ends.
func lines(t *testing.T, draw func(l *text.Line, p widget.Pen, y int, focused bool), w, h int) []string {
	t.Helper()
	all := make([]string, h)
	for y := range all {
		all[y] = strings.TrimRight(plain(styled(t, draw, w, y)), " ")
	}
	return all
}
