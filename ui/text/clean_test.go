package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

var cleaned = []struct{ name, in, want string }{
	{"ascii", "kube-proxy-x7f2k", "kube-proxy-x7f2k"},
	{"escape", "a\x1b[31mb", "a^[[31mb"},
	{"osc", "\x1b]0;owned\x07", "^[]0;owned^G"},
	{"line breaks and tabs", "a\r\nb\tc", "a  b c"},
	{"delete", "a\x7fb", "a^?b"},
	{"c1 as runes", "a\u009b31mb\u0080", "a\uFFFD31mb\uFFFD"},
	{"c1 as bytes", "a\x9b31mb", "a\uFFFD31mb"},
	{"broken utf-8", "a\xff\xc3", "a\uFFFD\uFFFD"},
	{"bidi", "a\u202Etxt.exe\u2066b", "a\uFFFDtxt.exe\uFFFDb"},
	{"zero width", "a\u200Bb\u200Dc\uFEFFd\u00ADe", "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe"},
	{"variation selector", "a\uFE0Fb", "a\uFFFDb"},
	{"flag", "\U0001F1E9\U0001F1EA", "\uFFFD\uFFFD"},
	{"wide", "日本語", "日本語"},
	{"accent", "e\u0301te", "e\u0301te"},
	{"lone accent", "\u0301a", "\uFFFDa"},
	{"stacked accents", "e" + strings.Repeat("\u0301", 40), "\uFFFD"},
	{"line separator", "a\u2028b\u00A0c", "a b c"},
	{"hangul filler", "a\u3164b", "a\uFFFDb"},
}

func TestClean(t *testing.T) {
	for _, tt := range cleaned {
		t.Run(tt.name, func(t *testing.T) {
			if got := text.Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%+q) = %+q, want %+q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCleanCutsLongText(t *testing.T) {
	got := text.Clean(strings.Repeat("日", 10_000))
	if len(got) > text.Limit+len("…") || !strings.HasSuffix(got, "日…") {
		t.Errorf("Clean of 30 kB returned %d bytes ending in %+q", len(got), got[len(got)-8:])
	}
	if got := text.CleanLong(strings.Repeat("x\n", 5000)); len(got) != 10_000 {
		t.Errorf("CleanLong returned %d bytes, want 10000", len(got))
	}
}

func TestCleanASCIIDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("kube-system/coredns ", 20)
	if n := testing.AllocsPerRun(100, func() { _ = text.Clean(s) }); n != 0 {
		t.Errorf("Clean of plain ASCII allocates %v times", n)
	}
}

// TestArrowsAndLinesNeedNoCleaning holds that they are left as they are where they are looked
// at one by one, too, and that what they stand beside is not.
func TestArrowsAndLinesNeedNoCleaning(t *testing.T) {
	const other = "\u00e9" // which has the whole text looked at
	for r := rune(0x2030); r < 0x2610; r++ {
		s := "a" + string(r) + "b"
		if got := text.Clean(s); got != strings.TrimPrefix(text.Clean(other+s), other) {
			t.Errorf("%U alone is %q", r, got)
		}
	}
	if got, want := text.Clean("a \u2192\x1b b"), "a \u2192^[ b"; got != want {
		t.Errorf("Clean = %q, want %q", got, want)
	}
	s := "running \u203a exited \u2192 \u2500"
	if n := testing.AllocsPerRun(100, func() { _ = text.Clean(s) }); n != 0 {
		t.Errorf("Clean of arrows and lines allocates %v times", n)
	}
}

func TestPlainASCII(t *testing.T) {
	if got := text.PlainASCII("a…日\x1b[31mé"); got != "a???\x1b[31m?" {
		t.Errorf("PlainASCII = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, tt := range cleaned {
		f.Add(tt.in, 7)
	}
	f.Add("\u0d4eab", 3)
	f.Add("\u1100\u1161\u11a8", 2)
	f.Add("क्ष\u0600", 4)
	f.Add("👩‍👩‍👧👍🏽", 5)
	f.Fuzz(func(t *testing.T, s string, w int) {
		clean := text.Clean(s)
		checkClean(t, s, clean)
		if again := text.Clean(clean); len(clean) < text.Limit && again != clean {
			t.Errorf("Clean(%+q) = %+q, cleaned again %+q", s, clean, again)
		}
		w = w & 127
		for _, fitted := range []string{
			text.Fit(s, w, "…"), text.Fit("a"+s, w, "~"), line(s, w),
		} {
			checkClean(t, s, fitted)
			if g, wc := ansi.StringWidth(fitted), ansi.StringWidthWc(fitted); g != w || wc != w {
				t.Errorf("%+q in %d cells takes %d by graphemes, %d by runes: %+q", s, w, g, wc, fitted)
			}
		}
		for _, l := range text.Wrap(s, max(w, 2)) {
			checkClean(t, s, l)
			if g := ansi.StringWidth(l); g > max(w, 2) {
				t.Errorf("Wrap(%+q, %d) has a line of %d cells", s, w, g)
			}
		}
	})
}

func line(s string, w int) string {
	var l text.Line
	l.Begin(w)
	l.Put(theme.Style{}, s)
	l.Cell(theme.Style{}, s, 9)
	l.Right(theme.Style{}, s, 4)
	l.End()
	return string(l.Buf)
}

func checkClean(t *testing.T, from, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%+q became invalid UTF-8: %+q", from, s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			t.Errorf("%+q became %+q, which holds %U", from, s, r)
		}
	}
}

func BenchmarkCleanASCII(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		text.Clean("kube-system/coredns-6f6b679f8f-x7f2k")
	}
}
