package cri

import (
	"strings"
	"testing"
)

func TestParseEndpoint(t *testing.T) {
	tests := []struct{ endpoint, want, err string }{
		{"unix:///run/x.sock", "/run/x.sock", ""},
		{"unix:/run/x.sock", "/run/x.sock", ""},
		{"UNIX:///run/x.sock", "/run/x.sock", ""},
		{"/run/x.sock", "/run/x.sock", ""},
		{"/run//a/../x.sock", "/run/x.sock", ""},
		{"/run/with:colon.sock", "/run/with:colon.sock", ""},
		{"", "", "is empty"},
		{"unix://", "", "is empty"},
		{"run/x.sock", "", "is relative"},
		{"unix://run/x.sock", "", "is relative"},
		{"npipe:////./pipe/containerd", "", "Windows pipe"},
		{"tcp://127.0.0.1:2375", "", "network address"},
		{"http://localhost/", "", "network address"},
		{"vsock://3:1024", "", "unknown scheme vsock"},
		{"localhost:1234", "", "unknown scheme localhost"},
		{"/run/\x00.sock", "", "zero byte"},
		{"/" + strings.Repeat("a", 107), "", "108 bytes long"},
		{"/" + strings.Repeat("a", 106), "/" + strings.Repeat("a", 106), ""},
	}
	for _, tt := range tests {
		got, err := ParseEndpoint(tt.endpoint)
		if got != tt.want {
			t.Errorf("ParseEndpoint(%q) = %q, want %q", tt.endpoint, got, tt.want)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("ParseEndpoint(%q) error = %v, want %q in it", tt.endpoint, err, tt.err)
		}
	}
}

func TestDialRefusesOtherEndpoints(t *testing.T) {
	if _, err := Dial("tcp://\x1b[31m10.0.0.1:80"); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("Dial error = %v, want one without the escape sequence", err)
	}
}

func TestPlain(t *testing.T) {
	tests := []struct{ in, want string }{
		{"/run/x.sock", "/run/x.sock"},
		{"größer 漢字", "größer 漢字"},
		{"\x1b[2Jx\r\n\t", `\x1b[2Jx\r\n\t`},
		{"a\u202eb", `a\u202eb`},
		{"a\u009bb", `a\u009bb`},
		{"a\xffb\x7f", `a` + "\uFFFD" + `b\x7f`},
		{strings.Repeat("x", longestText+1), strings.Repeat("x", longestText) + "..."},
		{strings.Repeat("x", longestText-1) + "漢", strings.Repeat("x", longestText-1) + "..."},
	}
	for _, tt := range tests {
		if got := printable(tt.in); got != tt.want {
			t.Errorf("printable(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
