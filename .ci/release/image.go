package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// program is where plegtop is in the image: in a PATH, so that `kubectl exec POD -- plegtop` finds it.
const program = "/usr/bin/plegtop"

// A build is what all images of one release have in common.
type build struct {
	Name, Version, Commit string
	At                    time.Time // of every file
}

// index returns the index of the images of all binaries for Linux below dist.
func (b build) index(dist string) (v1.ImageIndex, error) {
	binaries, err := filepath.Glob(filepath.Join(dist, "plegtop_linux_*", "plegtop")) // in the order of their names
	if err == nil && len(binaries) == 0 {
		err = errors.New("none there")
	}
	if err != nil {
		return nil, fmt.Errorf("binaries for linux in %s: %w", dist, err)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, path := range binaries {
		platform, err := platformOf(path)
		if err != nil {
			return nil, err
		}
		image, err := b.image(path, platform)
		if err != nil {
			return nil, fmt.Errorf("image of %s: %w", path, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return mutate.Annotations(index, b.labels()).(v1.ImageIndex), nil
}

// platformOf returns what a binary was built for: Go has noted it there.
func platformOf(path string) (v1.Platform, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return v1.Platform{}, fmt.Errorf("what %s was built for: %w", path, err)
	}
	var p v1.Platform
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			p.OS = s.Value
		case "GOARCH":
			p.Architecture = s.Value
		case "GOARM":
			p.Variant = "v" + s.Value
		}
	}
	return p, nil
}

// image returns the image of one binary. It names no user: what plegtop may read is the
// runtime's socket, which belongs to root nearly everywhere; who runs it with less, as
// docs/deploy does, names the user and the socket's group there.
func (b build) image(path string, platform v1.Platform) (v1.Image, error) {
	layer, err := b.layer(path)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: b.At}, CreatedBy: "plegtop " + b.Version},
	}); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, b.config(image, platform))
}

func (b build) config(image v1.Image, platform v1.Platform) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		panic(err) // it was made here, in memory
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: b.At}
	config.Config = v1.Config{
		Entrypoint: []string{program},
		Env:        []string{"PATH=" + filepath.Dir(program)},
		Labels:     b.labels(),
	}
	return config
}

func (b build) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "plegtop",
		"org.opencontainers.image.description": "Terminal inspector for the kubelet's PLEG",
		"org.opencontainers.image.source":      "https://github.com/plegtop/plegtop",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     b.Version,
		"org.opencontainers.image.revision":    b.Commit,
		"org.opencontainers.image.created":     b.At.Format(time.RFC3339),
	}
}

// layer returns the layer that has the binary, and the folders that lead there.
func (b build) layer(path string) (v1.Layer, error) {
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, dir := range []string{"usr/", "usr/bin/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: b.At}); err != nil {
			return nil, err
		}
	}
	if err := writeFile(w, program[1:], 0o755, binary, b.At); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

func writeFile(w *tar.Writer, name string, mode int64, data []byte, at time.Time) error {
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data)), ModTime: at})
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
