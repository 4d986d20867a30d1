package cri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestPath is what a socket's path may hold on Linux (sun_path in unix(7)),
// less the closing zero byte.
const longestPath = 107

// ParseEndpoint returns the path of the unix socket that endpoint names.
// It takes unix:///run/x.sock, unix:/run/x.sock and the bare /run/x.sock, as
// the kubelet and crictl do. The error for anything else says what to write.
func ParseEndpoint(endpoint string) (string, error) {
	path, err := socketPath(endpoint)
	if err != nil {
		return "", fmt.Errorf("endpoint %s: %w", printable(endpoint), err)
	}
	return path, nil
}

func socketPath(endpoint string) (string, error) {
	path := endpoint
	if scheme, rest, ok := strings.Cut(endpoint, ":"); ok && !strings.Contains(scheme, "/") {
		if err := checkScheme(scheme); err != nil {
			return "", err
		}
		path = strings.TrimPrefix(rest, "//")
	}
	switch {
	case path == "":
		return "", errors.New("is empty: want unix:///path/to/runtime.sock")
	case !filepath.IsAbs(path):
		return "", errors.New("is relative: want unix:///path/to/runtime.sock")
	case strings.ContainsRune(path, 0):
		return "", errors.New("holds a zero byte")
	case len(path) > longestPath:
		return "", fmt.Errorf("is %d bytes long: a socket's path has at most %d", len(path), longestPath)
	}
	return filepath.Clean(path), nil
}

func checkScheme(scheme string) error {
	switch strings.ToLower(scheme) {
	case "unix":
		return nil
	case "npipe":
		return errors.New("is a Windows pipe: plegtop runs on Linux nodes, want unix:///path/to/runtime.sock")
	case "tcp", "http", "https", "dns", "ipv4", "ipv6":
		return errors.New("is a network address: CRI is served on a unix socket, want unix:///path/to/runtime.sock")
	}
	return fmt.Errorf("has the unknown scheme %s: want unix:///path/to/runtime.sock", printable(scheme))
}

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

// longestText keeps one hostile text from filling an error message.
const longestText = 300

// printable returns s fit for a terminal: what does not print, bidi controls and
// invalid UTF-8 among it, is written as Go escapes, and a long text is cut.
func printable(s string) string {
	cut := ""
	if len(s) > longestText {
		s, cut = strings.ToValidUTF8(s[:longestText], ""), "..."
	}
	if !strings.ContainsFunc(s, hostile) {
		return s + cut
	}
	var b strings.Builder
	for _, r := range s {
		if hostile(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String() + cut
}

func hostile(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
