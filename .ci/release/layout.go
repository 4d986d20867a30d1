package main

import (
	"archive/tar"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// writeTar writes an OCI layout with index in it, which `ctr images import`, `docker load`
// and `podman load` take. The first goes by containerd's annotation for the name.
func writeTar(out string, index v1.ImageIndex, tag name.Tag, at time.Time) error {
	dir, err := os.MkdirTemp("", "plegtop-image-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at = at.UTC()
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := to.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          tag.Name(),
		"org.opencontainers.image.ref.name": tag.TagStr(),
	})); err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	w := tar.NewWriter(file)
	if err := addAll(w, dir, at); err != nil {
		file.Close()
		return err
	}
	if err := w.Close(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// addAll adds every file below dir, in the order of their names.
func addAll(w *tar.Writer, dir string, at time.Time) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		in, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return writeFile(w, filepath.ToSlash(in), 0o644, data, at)
	})
}
