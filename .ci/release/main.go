// Command release makes plegtop's container image of the binaries that goreleaser
// has built: from scratch, one static file, for every architecture of Linux. It needs
// no Docker and no base image. The same binaries give the same bytes.
//
// It is a module of its own, so that nothing that it needs becomes a dependency of plegtop.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	var (
		dist    = flag.String("dist", "../../dist", "goreleaser's `folder`, with the binaries")
		ref     = flag.String("name", "ghcr.io/plegtop/plegtop", "the image's `name`, without a tag")
		version = flag.String("version", "", "the `version`, which is the tag as well")
		commit  = flag.String("commit", "", "the `commit` that it was built from")
		at      = flag.Int64("time", 0, "the commit's time, in `seconds` since 1970")
		out     = flag.String("out", "", "write the image to this `file`, an OCI layout in a tar")
		push    = flag.Bool("push", false, "push it to its registry, with the credentials that docker login or podman login has left")
	)
	flag.Parse()
	b := build{Name: *ref, Version: *version, Commit: *commit, At: time.Unix(*at, 0).UTC()}
	if err := run(b, *dist, *out, *push); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(b build, dist, out string, push bool) error {
	tag, err := name.NewTag(b.Name + ":" + b.Version)
	if err != nil {
		return fmt.Errorf("name the image: %w", err)
	}
	index, err := b.index(dist)
	if err != nil {
		return err
	}
	if out != "" {
		if err := writeTar(out, index, tag, b.At); err != nil {
			return fmt.Errorf("write %s: %w", out, err)
		}
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("digest of the image: %w", err)
	}
	if push {
		if err := remote.WriteIndex(tag, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return fmt.Errorf("push %s: %w", tag, err)
		}
	}
	fmt.Println(tag.Context().Digest(digest.String())) // what cosign is to sign
	return nil
}
