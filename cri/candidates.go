package cri

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

const endpointEnv = "CONTAINER_RUNTIME_ENDPOINT"

// The files in which a node names its runtime. The flags of a kubelet win over its configuration.
// Crictl's file comes last: nobody may have changed it since the node had another runtime.
var (
	// flagFiles are in the order of their weight: kubeadm's unit puts the flags of the first two behind
	// those of kubeadm-flags.env, and the last flag of a command line counts.
	flagFiles = slices.Concat([]string{"/etc/default/kubelet", "/etc/sysconfig/kubelet", "/var/lib/kubelet/kubeadm-flags.env"}, knowledge.KubeletArgs)
	// kubeletConfigs are, in order: of kubeadm 1.32 and later, which also has the next file; of
	// others; of EKS; of OpenShift. If kubeadm made the node, the last file says how to reach the
	// API server.
	kubeletConfigs = []string{"/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet/config.json", "/etc/kubernetes/kubelet.conf"}
	// silentConfigs mean containerd's usual socket if they name no runtime.
	silentConfigs = kubeletConfigs[1:3]
	crictlConfig  = "/etc/crictl.yaml"
)

// candidates returns the endpoints to look at, each socket once, in the order that [Discover]
// describes.
func (s Search) candidates(ctx context.Context) (all []Candidate) {
	if s.Endpoint != "" {
		return []Candidate{s.candidate("--runtime-endpoint", s.Endpoint, named)}
	}
	if endpoint := os.Getenv(endpointEnv); endpoint != "" {
		return []Candidate{s.candidate(endpointEnv, endpoint, named)}
	}
	var kubelets, others []string
	if s.Running != nil {
		kubelets, others = s.Running(ctx)
	}
	for _, path := range flagFiles {
		all = s.addFile(all, path, kubeletFlag, kubeletNamed)
	}
	for _, path := range kubeletConfigs {
		all = s.addFile(all, path, yamlEndpoint, kubeletNamed)
	}
	for i, c := range all { // a file may be left from an earlier kubelet or runtime
		likely := knowledge.At(c.Endpoint)
		if c.claim == kubeletNamed && (len(kubelets) > 0 || len(likely) > 0 && !s.isThere(c.path) && !s.ran(likely...)) {
			all[i].claim = named
		}
	}
	for _, path := range append([]string{cmp.Or(os.Getenv("CRI_CONFIG_FILE"), crictlConfig)}, knowledge.Crictl...) {
		all = s.addFile(all, path, yamlEndpoint, named)
	}
	all = s.addUsual(all)
	for _, socket := range kubelets {
		all = add(all, s.candidate("a process of the node was started with it", socket, kubeletNamed))
	}
	for _, socket := range others {
		all = add(all, s.candidate("a process of the node was started with it", socket, named))
	}
	return all
}

func (s Search) candidate(source, endpoint string, claim claim) Candidate {
	path, err := socketPath(endpoint)
	if err == nil {
		path, err = socketPath(s.onHost(path)) // the host's root may make it too long
	}
	if err != nil {
		return Candidate{Endpoint: endpoint, Source: source, Outcome: Unusable, Reason: err.Error()}
	}
	return Candidate{
		Endpoint: "unix://" + path, Source: source, path: path, real: resolveIn("/", path), claim: claim, awaited: true,
		Outcome: Silent, Reason: "there, but looking at it hangs", // if no answer comes
	}
}

// add appends a candidate. If its socket is already in the list, under any name, the listed
// candidate gets the stronger claim of the two.
func add(all []Candidate, c Candidate) []Candidate {
	i := slices.IndexFunc(all, func(o Candidate) bool { return o.real != "" && o.real == c.real })
	if i < 0 {
		return append(all, c)
	}
	all[i].claim = max(all[i].claim, c.claim)
	return all
}

// addUsual appends the default sockets of all runtimes. A kubelet whose configuration names no
// runtime means containerd, but files that another runtime has left count more.
func (s Search) addUsual(all []Candidate) []Candidate {
	for _, f := range knowledge.Flavours {
		if f.Socket == "" { // it has the socket of another row
			continue
		}
		var names []string
		claim := usual
		for _, owner := range knowledge.At(f.Socket) {
			names = append(names, owner.Name)
			if s.ran(owner) {
				claim = traced
			}
		}
		all = add(all, s.candidate("usual socket of "+strings.Join(names, " and "), f.Socket, claim))
	}
	if slices.ContainsFunc(silentConfigs, s.isThere) {
		all = append(all, s.candidate("usual socket of the kubelet", knowledge.Containerd.Socket, traced))
	}
	return all
}

// ran reports whether a runtime of one of these flavours has left files on the node.
func (s Search) ran(flavours ...knowledge.Flavour) bool {
	return slices.ContainsFunc(flavours, func(f knowledge.Flavour) bool { return slices.ContainsFunc(f.Traces(), s.isThere) })
}

func (s Search) isThere(path string) bool {
	_, err := os.Lstat(s.onHost(path))
	return err == nil
}

// addFile adds the endpoint that a file names. A file that is not there, or names none, is no
// candidate. A file that cannot be read is a candidate, so that the error names it.
func (s Search) addFile(all []Candidate, path string, endpointIn func(text []byte) (string, error), claim claim) []Candidate {
	text, err := smallfile.Read(s.onHost(path))
	var endpoint string
	if err == nil {
		endpoint, err = endpointIn(text)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && endpoint == "":
		return all
	case errors.Is(err, fs.ErrPermission):
		return append(all, Candidate{Source: path, Outcome: Denied, Reason: sudo})
	case err != nil:
		return append(all, Candidate{Source: path, Outcome: Unusable, Reason: err.Error()})
	}
	return add(all, s.candidate(path, endpoint, claim))
}

// yamlEndpoint finds the endpoint in a configuration, as YAML or JSON, of the kubelet or of crictl.
func yamlEndpoint(text []byte) (string, error) {
	var file struct {
		Kubelet string `yaml:"containerRuntimeEndpoint"`
		Crictl  string `yaml:"runtime-endpoint"`
	}
	err := yaml.Unmarshal(text, &file)
	return cmp.Or(file.Kubelet, file.Crictl), err
}

var (
	commentLine  = regexp.MustCompile(`(?m)^\s*#.*$`)
	endpointFlag = regexp.MustCompile(`--container-runtime-endpoint[= \t]([^\s"']+)`)
)

// kubeletFlag finds the kubelet's flag in a file of shell assignments, or in a list of flags as
// MicroK8s has it. The last one counts, as for the kubelet.
func kubeletFlag(text []byte) (string, error) {
	found := endpointFlag.FindAllSubmatch(commentLine.ReplaceAll(text, nil), -1)
	if found == nil {
		return "", nil
	}
	return os.Expand(string(found[len(found)-1][1]), knowledge.Variable), nil
}

// longestPath is how long the path of a socket may be on Linux (unix(7): sun_path), without the
// closing zero byte.
const longestPath = 107

// socketPath returns the path of the unix socket that an endpoint names: unix:///run/x.sock,
// unix:/run/x.sock or /run/x.sock, as for the kubelet and crictl. The error says what to write.
func socketPath(endpoint string) (string, error) {
	path := endpoint
	if scheme, rest, ok := strings.Cut(endpoint, ":"); ok && strings.EqualFold(scheme, "unix") {
		path = strings.TrimPrefix(rest, "//")
	}
	switch {
	case strings.Contains(path, "://"):
		return "", errors.New("is a network address, or has an unknown scheme: CRI is served on a unix socket, want unix:///path/to/runtime.sock")
	case !filepath.IsAbs(path):
		return "", errors.New("is no absolute path: want unix:///path/to/runtime.sock")
	case len(path) > longestPath:
		return "", fmt.Errorf("is %d bytes long: a socket's path has at most %d", len(path), longestPath)
	}
	return filepath.Clean(path), nil
}

// onHost returns where path lies for us: below the host's root, unless it is already written so.
func (s Search) onHost(path string) string {
	root, err := filepath.Abs(cmp.Or(s.HostRoot, "/"))
	if err != nil || root == "/" { // the only error: there is no working directory
		return path
	}
	if inner, ok := strings.CutPrefix(path, root+"/"); ok {
		path = "/" + inner
	}
	return resolveIn(root, path)
}

// resolveIn returns where path, as a process with the root directory root sees it, lies for us.
// Absolute symbolic links, such as /var/run to /run, are followed below root and not out of it. A
// part that does not exist, or that we may not look at, is taken as it stands.
func resolveIn(root, path string) string {
	const manyLinks = 40 // as Linux allows in one path
	seen := "/"          // within root, free of links
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		seen = filepath.Join(seen, rest[0]) // ".." stops at "/"
		rest = rest[1:]
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
