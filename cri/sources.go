package cri

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

const endpointEnv = "CONTAINER_RUNTIME_ENDPOINT"

// A source is a file that may name the endpoint.
type source struct {
	path     string
	endpoint func(text []byte) (string, error) // empty if the file names none
	kubelet  bool                              // it is the kubelet's own
}

// sources are the files in which a node says what its runtime is. The kubelet's come
// before crictl's, which nobody may have touched since the node had another runtime, and its
// flags before its configuration file because they win over it. k3s, RKE2 and MicroK8s keep
// their own.
var sources = slices.Concat(
	kubelets(files(kubeletFlag, "/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet")),
	kubelets(files(kubeletFlag, knowledge.KubeletArgs...)),
	kubelets(files(yamlKey("containerRuntimeEndpoint"), kubeletConfigs...)),
	kubelets(files(yamlKey("containerRuntimeEndpoint"), openShiftConfig)),
	files(yamlKey("runtime-endpoint"), usualCrictl),
	files(yamlKey("runtime-endpoint"), knowledge.Crictl...),
)

// usualCrictl is crictl's own, unless its variable names another one.
const usualCrictl = "/etc/crictl.yaml"

func kubelets(all []source) []source {
	for i := range all {
		all[i].kubelet = true
	}
	return all
}

func files(endpoint func([]byte) (string, error), paths ...string) (all []source) {
	for _, path := range paths {
		all = append(all, source{path: path, endpoint: endpoint})
	}
	return all
}

// kubeletConfigs are of kubeadm 1.32 and later, which stands beside the next, of others, and
// of EKS. One that names no runtime means containerd's.
var kubeletConfigs = []string{"/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet/config.json"}

// openShiftConfig is the configuration of OpenShift's kubelet, whose runtime is CRI-O though
// it may not say so. Where kubeadm made the node it has how to reach the API server.
const openShiftConfig = "/etc/kubernetes/kubelet.conf"

// candidates returns what there is to try, each path once, in the order that
// [Discover] promises.
func (s Search) candidates() []Candidate {
	if s.Endpoint != "" {
		return []Candidate{s.named("--runtime-endpoint", s.Endpoint)}
	}
	if endpoint := s.Getenv(endpointEnv); endpoint != "" {
		return []Candidate{s.named(endpointEnv, endpoint)}
	}
	all := s.configured()
	for known := knowledge.Flavours; len(known) > 0; {
		var owners, traces []string
		at := known[0].Socket
		if at == "" { // it has that of another row
			known = known[1:]
			continue
		}
		for ; len(known) > 0 && known[0].Socket == at; known = known[1:] {
			owners, traces = append(owners, known[0].Name), append(traces, known[0].Traces()...)
		}
		all = append(all, s.usual(strings.Join(owners, " and "), at, traces))
	}
	return unique(append(all, s.usual("the kubelet", knowledge.Containerd.Socket, kubeletConfigs[1:])))
}

// usual returns where a runtime listens unless it is told otherwise. It belongs there if
// it has left a trace.
func (s Search) usual(owner, path string, traces []string) Candidate {
	c := s.candidate("usual socket of "+owner, path)
	c.belongs = slices.ContainsFunc(traces, s.isThere)
	return c
}

// configured returns the endpoints that files name. A file that is not there
// or names none is no candidate; one that can't be read is, to be reported.
func (s Search) configured() []Candidate {
	all := sources
	if path := s.Getenv("CRI_CONFIG_FILE"); path != "" { // crictl's; it replaces the usual file
		all = slices.Clone(sources)
		all[slices.IndexFunc(all, func(f source) bool { return f.path == usualCrictl })].path = path
	}
	var named []Candidate
	for _, file := range all {
		endpoint, err := file.read(s.onHost(file.path))
		switch {
		case errors.Is(err, fs.ErrPermission):
			named = append(named, Candidate{Source: file.path, Outcome: Denied, Reason: sudo})
		case err != nil:
			if e, ok := errors.AsType[*fs.PathError](err); ok { // the path is told anyway
				err = e.Err
			}
			named = append(named, Candidate{Source: file.path, Outcome: Unusable, Reason: printable(err.Error())})
		case endpoint != "":
			c := s.named(file.path, endpoint)
			c.kubelet = file.kubelet && s.wasThere(c)
			named = append(named, c)
		}
	}
	return named
}

// named returns a candidate that somebody has named: a runtime belongs there.
func (s Search) named(from, endpoint string) Candidate {
	c := s.candidate(from, endpoint)
	c.named, c.belongs = true, true
	return c
}

// wasThere reports whether a runtime has left a trace of itself, or none that is known would
// have: else the file of the kubelet's that names it may be older than the node's runtime.
func (s Search) wasThere(c Candidate) bool {
	likely := knowledge.At(c.Endpoint)
	if _, err := os.Lstat(c.path); err == nil || len(likely) == 0 {
		return true
	}
	return slices.ContainsFunc(likely, func(f knowledge.Flavour) bool { return slices.ContainsFunc(f.Traces(), s.isThere) })
}

func (s Search) isThere(path string) bool {
	_, err := os.Lstat(s.onHost(path))
	return err == nil
}

func (s Search) candidate(from, endpoint string) Candidate {
	path, err := socketPath(endpoint)
	if err == nil {
		path, err = socketPath(s.onHost(path)) // the host's root may make it too long
	}
	if err != nil {
		return Candidate{Endpoint: endpoint, Source: from, Outcome: Unusable, Reason: err.Error()}
	}
	return Candidate{Endpoint: "unix://" + path, Source: from, path: path}
}

// unique leaves out what names a socket that an earlier candidate has named,
// under whatever name, unless only the later one knows that a runtime belongs there.
func unique(all []Candidate) []Candidate {
	seen := make(map[string]bool, len(all))
	var kept []Candidate
	for _, c := range all {
		if c.path != "" {
			real := resolveIn("/", c.path)
			if belongs, known := seen[real]; known && belongs == c.belongs {
				continue
			}
			seen[real] = c.belongs
		}
		kept = append(kept, c)
	}
	return kept
}

func (f source) read(path string) (string, error) {
	text, err := smallfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return f.endpoint(text)
}

// yamlKey returns a reader of one text at the top of a YAML or JSON file. What
// else the file says does not matter to it; of a key given twice the last holds.
func yamlKey(key string) func([]byte) (string, error) {
	return func(text []byte) (string, error) {
		var file yaml.Node
		if err := yaml.Unmarshal(text, &file); err != nil {
			return "", err
		}
		value, err := lastValue(&file, key)
		if err != nil || value == nil || value.ShortTag() == "!!null" {
			return "", err
		}
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.ShortTag() != "!!str" {
			return "", fmt.Errorf("%s is not a text", key)
		}
		return value.Value, nil
	}
}

// lastValue returns nil if file has no such key. An empty file has none.
func lastValue(file *yaml.Node, key string) (*yaml.Node, error) {
	if len(file.Content) == 0 || file.Content[0].ShortTag() == "!!null" {
		return nil, nil
	}
	top := file.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("no mapping of keys to values")
	}
	var value *yaml.Node
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == key {
			value = top.Content[i+1]
		}
	}
	return value, nil
}

// kubeletFlag finds the kubelet's flag in a file of shell assignments or in one
// of MicroK8s's lists of flags. The last one counts, as for the kubelet.
func kubeletFlag(text []byte) (string, error) {
	const flag = "--container-runtime-endpoint"
	var endpoint string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'", r) })
		for i, word := range words {
			_, value, ok := strings.Cut(word, flag)
			switch {
			case ok && strings.HasPrefix(value, "="):
				endpoint = value[1:]
			case ok && value == "" && i+1 < len(words):
				endpoint = words[i+1]
			}
		}
	}
	return os.Expand(endpoint, knowledge.Variable), nil
}
