package cri

import (
	"strings"
	"testing"
)

func TestKubeletFlag(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{`KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/x.sock --node-ip=10.0.0.1"`, "unix:///run/x.sock"},
		{`KUBELET_EXTRA_ARGS=--container-runtime-endpoint=/run/x.sock`, "/run/x.sock"},
		{`KUBELET_EXTRA_ARGS="--v=2 --container-runtime-endpoint /run/x.sock"`, "/run/x.sock"},
		{"A='--container-runtime-endpoint=/run/x.sock'\nB='--container-runtime-endpoint=/run/y.sock'", "/run/y.sock"},
		{"# --container-runtime-endpoint=/run/x.sock\n", ""},
		{"--container-runtime=remote\n--container-runtime-endpoint=${SNAP_COMMON}/run/containerd.sock\n", "/var/snap/microk8s/common/run/containerd.sock"},
		{"--container-runtime-endpoint=$SNAP_DATA/x.sock", "/var/snap/microk8s/current/x.sock"},
		{"--container-runtime-endpoint=${HOME}/x.sock", "${HOME}/x.sock"},
		{"--container-runtime-endpoint", ""},
		{"--container-runtime-endpoints=/run/x.sock", ""},
	}
	for _, tt := range tests {
		got, err := kubeletFlag([]byte(tt.text))
		if got != tt.want || err != nil {
			t.Errorf("kubeletFlag(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestYAMLKey(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{"", "", ""},
		{"runtime-endpoint: unix:///run/x.sock\ntimeout: 10", "unix:///run/x.sock", ""},
		{`{"runtime-endpoint": "/run/x.sock"}`, "/run/x.sock", ""},
		{"runtime-endpoint:", "", ""},
		{"runtime-endpoint: 7", "", "not a text"},
		{"other: x", "", ""},
		{"runtime-endpoint: [/run/x.sock]", "", "not a text"},
		{"# nothing\n---\n", "", ""},
		{"runtime-endpoint: /run/x.sock\nruntime-endpoint: /run/y.sock", "/run/y.sock", ""},
		{"other: &x /run/x.sock\nruntime-endpoint: *x", "/run/x.sock", ""},
		{"{\n\t\"other\": {\"a\": 1},\n\t\"runtime-endpoint\": \"/run/x.sock\"\n}", "/run/x.sock", ""},
		{"[1, 2]", "", "no mapping"},
		{"{", "", "yaml"},
	}
	for _, tt := range tests {
		got, err := yamlKey("runtime-endpoint")([]byte(tt.text))
		if got != tt.want {
			t.Errorf("yamlKey(%q) = %q, want %q", tt.text, got, tt.want)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("yamlKey(%q) error = %v, want %q in it", tt.text, err, tt.err)
		}
	}
}

func TestOnHost(t *testing.T) {
	tests := []struct{ root, path, want string }{
		{"", "/run/x.sock", "/run/x.sock"},
		{"/", "/run/x.sock", "/run/x.sock"},
		{"/nowhere", "/run/x.sock", "/nowhere/run/x.sock"},
		{"/nowhere/", "/run/x.sock", "/nowhere/run/x.sock"},
		{"/nowhere", "/nowhere/run/x.sock", "/nowhere/run/x.sock"},
		{"/nowhere", "/nowhereelse/x.sock", "/nowhere/nowhereelse/x.sock"},
	}
	for _, tt := range tests {
		if got := (Search{HostRoot: tt.root}).onHost(tt.path); got != tt.want {
			t.Errorf("%q onHost(%q) = %q, want %q", tt.root, tt.path, got, tt.want)
		}
	}
}
