package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

var release = build{Name: "registry.example/plegtop", Version: "1.2.3", Commit: "abc", At: time.Unix(1_700_000_000, 0).UTC()}

// dist returns a folder as goreleaser leaves it; the program is this test, of which Go has
// noted the same.
func dist(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "plegtop_linux_x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(folder, "plegtop_linux_x", "plegtop")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestSameBinariesGiveTheSameBytes(t *testing.T) {
	from, to := dist(t), t.TempDir()
	var all [2][]byte
	for i := range all {
		out := filepath.Join(to, "image.tar")
		if err := run(release, from, out, false); err != nil {
			t.Fatal(err)
		}
		var err error
		if all[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("two builds differ")
	}
}

func TestImageHasTheProgramAlone(t *testing.T) {
	out := filepath.Join(t.TempDir(), "image.tar")
	if err := run(release, dist(t), out, false); err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(unpack(t, out))
	if err != nil {
		t.Fatal(err)
	}
	top, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if name := top.Manifests[0].Annotations["io.containerd.image.name"]; name != "registry.example/plegtop:1.2.3" {
		t.Errorf("containerd would name it %q", name)
	}
	inner, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if p := platforms.Manifests[0].Platform; p.OS != runtime.GOOS || p.Architecture != runtime.GOARCH {
		t.Errorf("platform %v", p)
	}
	image, err := inner.Image(platforms.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(config.Config.Entrypoint, []string{program}) || config.Config.User != "" || config.Architecture != runtime.GOARCH {
		t.Errorf("configuration %+v", config)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	var names []string
	each(t, content, func(h *tar.Header, _ []byte) {
		if names = append(names, h.Name); !h.ModTime.Equal(release.At) {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
	})
	if want := []string{"usr/", "usr/bin/", "usr/bin/plegtop"}; !slices.Equal(names, want) {
		t.Errorf("in the layer: %q", names)
	}
}

func TestNoBinaries(t *testing.T) {
	if err := run(release, t.TempDir(), "", false); err == nil {
		t.Error("an image of nothing")
	}
}

func unpack(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	to := t.TempDir()
	each(t, file, func(h *tar.Header, data []byte) {
		at := filepath.Join(to, h.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	return to
}

func each(t *testing.T, r io.Reader, do func(*tar.Header, []byte)) {
	t.Helper()
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		do(h, data)
	}
}
