package pleg

import "testing"

func TestConfigValidate(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		ok     bool
	}{
		{"zero", Config{}, true},
		{"oldest", Config{Release: Oldest}, true},
		{"newest", Config{Release: Newest}, true},
		{"older", Config{Release: Oldest - 1}, false},
		{"newer", Config{Release: Newest + 1}, false},
		{"no capacity", Config{Capacity: NoCapacity}, true},
		{"negative threshold", Config{Threshold: -1}, false},
	}
	for _, tt := range tests {
		if _, err := New(tt.config); (err == nil) != tt.ok {
			t.Errorf("%s: New = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestParseRelease(t *testing.T) {
	tests := []struct {
		text string
		want Release // 0: an error
	}{
		{"1.36", 36}, {"v1.36.2", 36}, {"v1.30.4-eks-abc", 30}, {"1.30+", 30}, {"1.25", 25}, {"1.37", 37},
		{"1.24", 0}, {"1.38", 0}, {"2.36", 0}, {"", 0}, {"1", 0}, {"1.", 0}, {"1.256", 0}, {"latest", 0},
	}
	for _, tt := range tests {
		if got, err := ParseRelease(tt.text); got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("ParseRelease(%q) = %v, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}
