//go:build linux

package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever imports an image follows digests from the index down to the program;
// each must lead to a blob of that digest and size.
func TestImageLeadsToTheProgram(t *testing.T) {
	var image bytes.Buffer
	must(t, WriteImage(&image, []byte("program"), "example.com/a:1", "example.com/b:2"))
	files := untar(t, image.Bytes())

	var index struct{ Manifests []descriptor }
	must(t, json.Unmarshal(files["index.json"], &index))
	var names []string
	for _, d := range index.Manifests {
		names = append(names, d.Annotations["io.containerd.image.name"])
	}
	if diff := cmp.Diff([]string{"example.com/a:1", "example.com/b:2"}, names); diff != "" {
		t.Errorf("image names (-want +got):\n%s", diff)
	}

	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	must(t, json.Unmarshal(blob(t, files, index.Manifests[1]), &manifest))
	var config struct {
		Rootfs struct {
			Diffs []string `json:"diff_ids"`
		}
	}
	must(t, json.Unmarshal(blob(t, files, manifest.Config), &config))
	if len(manifest.Layers) != 1 || !cmp.Equal(config.Rootfs.Diffs, []string{manifest.Layers[0].Digest}) {
		t.Fatalf("layers %+v do not fit diff ids %v", manifest.Layers, config.Rootfs.Diffs)
	}
	if got := untar(t, blob(t, files, manifest.Layers[0])); !cmp.Equal(got, map[string][]byte{"workload": []byte("program")}) {
		t.Errorf("the layer holds %q", got)
	}
}

func blob(t *testing.T, files map[string][]byte, d descriptor) []byte {
	t.Helper()
	data := files["blobs/sha256/"+d.Digest[len("sha256:"):]]
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); sum != d.Digest || len(data) != d.Size {
		t.Fatalf("%s is %s of %d bytes, want %s of %d", d.MediaType, sum, len(data), d.Digest, d.Size)
	}
	return data
}

func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must(t, err)
		files[header.Name], err = io.ReadAll(r)
		must(t, err)
	}
}
