package cri

import (
	"os"
	"path/filepath"
	"strings"
)

// manyLinks is how many symbolic links one path may lead through, as on Linux.
const manyLinks = 40

// resolveIn returns where path, as a process with the root directory root sees it,
// lies for us. Absolute symbolic links, such as /var/run to /run, are followed
// below root and not out of it. A part that does not exist, or that we may not
// look at, is taken as it stands; the caller finds out when using it.
func resolveIn(root, path string) string {
	seen := "/" // within root, free of links
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		seen = filepath.Join(seen, part) // ".." stops at "/"
		target, err := os.Readlink(filepath.Join(root, seen))
		if err != nil || links == manyLinks {
			continue
		}
		links++
		rest = append(strings.Split(target, "/"), rest...)
		seen = filepath.Dir(seen)
		if filepath.IsAbs(target) {
			seen = "/"
		}
	}
	return filepath.Join(root, seen)
}

// onHost returns where path lies for us: below the host's root, unless it is
// already written so.
func (s Search) onHost(path string) string {
	root := s.root()
	if root == "/" {
		return path
	}
	if inner, ok := strings.CutPrefix(path, root+"/"); ok {
		path = "/" + inner
	}
	return resolveIn(root, path)
}

func (s Search) root() string {
	if s.HostRoot == "" {
		return "/"
	}
	root, err := filepath.Abs(s.HostRoot)
	if err != nil { // no working directory: take it from the root
		return filepath.Clean("/" + s.HostRoot)
	}
	return root
}
