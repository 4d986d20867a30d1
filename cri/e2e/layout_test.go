//go:build linux

package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
)

// A descriptor points at a blob of an OCI image layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// A layout is an OCI image layout on its way into a tar file.
type layout struct{ tw *tar.Writer }

// WriteImage writes an image to w, as a tar of the OCI image layout, whose only
// file is the static program binary at /workload. A runtime that imports it
// knows the image by each of names.
func WriteImage(w io.Writer, binary []byte, names ...string) error {
	var root bytes.Buffer
	files := tar.NewWriter(&root)
	if err := addFile(files, "workload", 0o755, binary); err != nil {
		return fmt.Errorf("pack workload: %w", err)
	}
	if err := files.Close(); err != nil {
		return fmt.Errorf("pack workload: %w", err)
	}
	l := layout{tar.NewWriter(w)}
	if err := l.write(root.Bytes(), names); err != nil {
		return fmt.Errorf("write image: %w", err)
	}
	return l.tw.Close()
}

func (l layout) write(root []byte, names []string) error {
	layer, err := l.blob(layerType, root)
	if err != nil {
		return err
	}
	config, err := l.document(configType, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/workload"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layer.Digest}},
	})
	if err != nil {
		return err
	}
	manifest, err := l.document(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer},
	})
	if err != nil {
		return err
	}
	return l.index(manifest, names)
}

// index writes the entry points of the layout: one per name, in the annotation
// that containerd reads it from.
func (l layout) index(manifest descriptor, names []string) error {
	var named []descriptor
	for _, name := range names {
		d := manifest
		d.Annotations = map[string]string{"io.containerd.image.name": name}
		named = append(named, d)
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": named})
	if err != nil {
		return err
	}
	if err := addFile(l.tw, "index.json", 0o644, index); err != nil {
		return err
	}
	return addFile(l.tw, "oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`))
}

func (l layout) document(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, err
	}
	return l.blob(mediaType, data)
}

func (l layout) blob(mediaType string, data []byte) (descriptor, error) {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	d := descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
	return d, addFile(l.tw, "blobs/sha256/"+sum, 0o644, data)
}

func addFile(tw *tar.Writer, name string, mode int64, data []byte) error {
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := tw.Write(data)
	return err
}
