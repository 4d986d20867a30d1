package cri

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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
