// Package source opens what plegtop looks at: the node's runtime over CRI, with the
// node's own evidence, or the embedded runtime of a demo. It starts and closes it, and
// judges nothing.
package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/smallfile"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/director"
	"github.com/plegtop/plegtop/ui/options"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/recording"
)

// A Source is a runtime to look at, and the node that it runs on.
type Source struct {
	pane.Source
	Client   *cri.Client
	Director director.Director        // of a demo; nil else
	Clock    engine.Clock             // of a demo; nil else
	Workers  func() podworker.Workers // of a demo's kubelet; nil else
	Other    string                   // as in [engine.Config]
	Tape     *recording.Tape          // takes down what the engine goes by; nil for views that have none
	Note     string                   // on how the runtime was found and what cannot be read, for a person; empty where there is nothing to say

	node  *host.Node // nil where there is none to be seen
	close func()
}

// Close ends the client, and the demo's runtime.
func (s Source) Close() { s.close() }

// Look returns what looks at the node for an engine; nil where there is no node.
func (s Source) Look() engine.Look {
	if s.node == nil {
		return nil
	}
	return func(ctx context.Context, ask engine.Looking) (*evidence.Report, error) {
		return new(s.node.Look(ctx, ask.Deep, ask.Missed...)), context.Cause(ctx)
	}
}

// Config returns what an engine of s goes by, but for event sources. It fails if the kubelet whose
// relist is made has no such mode.
func (s Source) Config(ctx context.Context, o options.Options) (engine.Config, error) {
	if o.Mode != pleg.Generic {
		if err := o.Mode.Check(s.Release(ctx, o)); err != nil {
			return engine.Config{}, err
		}
	}
	return engine.Config{
		Runtime: s.Client, Clock: s.Clock, Look: s.Look(), Workers: s.Workers, Other: s.Other,
		Release: o.Release, Follow: !o.ReleaseGiven, Mode: o.Mode, Period: o.Period, Threshold: o.Threshold, Timeout: o.Timeout,
	}, nil
}

// Streams returns the event sources of s. Those that are named are open from the start;
// forced opens the runtime's also where that does harm.
func (s Source) Streams(on []sources.Source, forced bool) []engine.Stream {
	streams := []engine.Stream{
		{Source: sources.FromCRI, Forced: forced, Run: s.Client.Events},
		{Source: sources.FromCgroup, Refuse: "plegtop sees no node here"},
	}
	if s.node != nil {
		streams[1].Refuse, streams[1].Run = "", s.node.Cgroups
	}
	for i := range streams {
		streams[i].On = slices.Contains(on, streams[i].Source)
	}
	return streams
}

// Release returns whose relist is made: what the flag says, else the node's own
// where its kubelet tells it at once.
func (s Source) Release(ctx context.Context, o options.Options) pleg.Release {
	if o.ReleaseGiven || s.node == nil {
		return o.Release
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	version, ok := s.node.KubeletVersion(ctx)
	if release, err := pleg.ParseRelease(version); ok && err == nil {
		return release
	}
	return o.Release
}

// versionTimeout is how long the screen waits for the kubelet to say its version.
const versionTimeout = 300 * time.Millisecond

// Open starts what the command line names. A check has no more time for that than its
// deadline, counted from started.
func Open(ctx context.Context, o options.Options, started time.Time) (Source, error) {
	if o.Demo != "" {
		return openDemo(ctx, o)
	}
	if err := onLinux(runtime.GOOS, o.Endpoint); err != nil {
		return Source{}, err
	}
	if _, err := host.CheckRoot(o.HostRoot); err != nil {
		return Source{}, err // nothing would be found there
	}
	found, err := discover(ctx, o, started)
	if err != nil {
		return Source{}, err
	}
	node, err := host.New(host.Config{
		Root: o.HostRoot, Endpoint: found.Endpoint, Runtime: host.Runtime(o.Runtime),
		Kubelet: host.Kubelet{
			Metrics: o.Kubelet.Metrics, Cert: o.Kubelet.Cert, Key: o.Kubelet.Key, TokenFile: o.Kubelet.TokenFile, CA: o.Kubelet.CA,
		},
	})
	if err != nil {
		return Source{}, err
	}
	note := host.Lacks(os.Geteuid())
	if found.Other != "" {
		other := fmt.Sprintf("no runtime answers at %s (%s); another one does at %s: to look at that, name it with --runtime-endpoint", found.Endpoint, found.Source, found.Other)
		note = strings.TrimSpace(other + "\n" + note)
	}
	return dial(Source{
		Other:  found.Other,
		Note:   note,
		Source: pane.Source{Kind: "cri", Node: nodeName(o.HostRoot), Endpoint: found.Endpoint},
		node:   node, close: func() {},
	})
}

// onLinux returns an error where no runtime of a node can be found. One that somebody names is asked:
// its socket may be that of another machine.
func onLinux(system, endpoint string) error {
	if system == "linux" || endpoint != "" || os.Getenv("CONTAINER_RUNTIME_ENDPOINT") != "" {
		return nil
	}
	return errors.New("a runtime can only be watched on its Linux node: run plegtop there, or here plegtop --demo or plegtop --replay FILE")
}

// Engine returns an engine of s for a view that goes on, and has s.Tape take down what it goes by.
// Version is that of plegtop.
func (s *Source) Engine(ctx context.Context, o options.Options, version string) (*engine.Engine, error) {
	config, err := s.Config(ctx, o)
	if err != nil {
		return nil, err
	}
	config.Streams = s.Streams(o.Events, o.ForceEvents)
	if s.Tape, err = recording.Open(o, s.Source, version); err != nil {
		return nil, err
	}
	s.Tape.For(&config)
	return engine.New(config)
}

// Engines returns what makes the engines of bench: each relists with its period beside the event
// sources that are named, does not look at the node, and has no mode.
func (s Source) Engines(ctx context.Context, o options.Options) func(time.Duration, ...sources.Source) (*engine.Engine, error) {
	o.Release, o.Mode = s.Release(ctx, o), pleg.Generic
	return func(period time.Duration, on ...sources.Source) (*engine.Engine, error) {
		config, err := s.Config(ctx, o)
		if err != nil {
			return nil, err
		}
		config.Period, config.Look, config.Streams = period, nil, s.Streams(on, o.ForceEvents)
		return engine.New(config)
	}
}

// Wanted returns what was to be looked at, for a check that could open nothing.
func Wanted(o options.Options) pane.Source {
	wanted := pane.Source{Kind: "cri", Node: nodeName(o.HostRoot), Endpoint: o.Endpoint}
	switch {
	case o.Demo != "":
		wanted.Kind = "demo"
	case o.Replay != "":
		wanted = pane.Source{Kind: "replay"}
	}
	return wanted
}

// nodeName returns the name of this node: NODE_NAME where that is set, else what the node whose
// file system is at root calls itself, for the host name of a pod is its own. Without a name the
// header shows none.
func nodeName(root string) string {
	name, _ := os.Hostname()
	if root != "" {
		if of, err := smallfile.Read(filepath.Join(root, "etc/hostname")); err == nil && len(bytes.TrimSpace(of)) > 0 {
			name = string(bytes.TrimSpace(of))
		}
	}
	return cmp.Or(os.Getenv("NODE_NAME"), name)
}

// discover finds the runtime. A check has a quarter of its deadline for each
// endpoint that is silent, and no more than all of it.
func discover(ctx context.Context, o options.Options, started time.Time) (cri.Candidate, error) {
	search := cri.Search{
		Endpoint: o.Endpoint, HostRoot: o.HostRoot, Timeout: time.Second,
		Running: func(ctx context.Context) (kubelets, others []string) { return host.Sockets(ctx, o.HostRoot) },
	}
	if o.View == options.Check {
		late := fmt.Errorf("no runtime was found within --deadline %v: name its socket with --runtime-endpoint", o.Deadline)
		bounded, cancel := context.WithDeadlineCause(ctx, started.Add(o.Deadline), late)
		defer cancel()
		ctx, search.Timeout = bounded, min(search.Timeout, o.Deadline/4)
	}
	return cri.Discover(ctx, search)
}

// incident is how far into a scenario one look is made: incidents begin after 5 s,
// for people to see them come, and crash loops have to have crashed.
const incident = time.Minute

func openDemo(ctx context.Context, o options.Options) (Source, error) {
	config := sim.Config{Scenario: o.Demo, Seed: 1, Speed: o.DemoSpeed, NoExpect: o.NoExpect}
	if o.View == options.Check {
		config.Ahead = incident
	}
	server, err := sim.Start(ctx, config)
	if err != nil {
		return Source{}, fmt.Errorf("start the demo: %w", err)
	}
	src := Source{
		Source: pane.Source{Kind: "demo", Node: "demo-node", Endpoint: server.Endpoint(), Scenario: o.Demo},
		close:  func() { _ = server.Close() }, // the process ends anyway
		Clock:  server, Workers: server.Workers,
	}
	if root := server.HostRoot(); root != "" {
		if src.node, err = host.New(host.Config{Root: root, Endpoint: src.Endpoint, Offline: true}); err != nil {
			src.close()
			return Source{}, fmt.Errorf("start the demo: %w", err)
		}
	}
	src.Director = server
	return dial(src)
}

func dial(src Source) (Source, error) {
	client, err := cri.Dial(src.Endpoint)
	if err != nil {
		src.close()
		return Source{}, err
	}
	src.Client = client
	below := src.close
	src.close = func() {
		_ = client.Close()
		below()
	}
	return src, nil
}

// podLogs is where the kubelet has a folder for the logs of each pod, named NAMESPACE_POD_UID.
const podLogs = "/var/log/pods"

// Namespaces returns those of the pods on this node, by the folders that the kubelet has for their
// logs: nobody is asked. None where there are none, or they cannot be read.
func Namespaces() []string { return namespacesIn(filepath.Join("/", host.FindRoot(""), podLogs)) }

func namespacesIn(folder string) (all []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if namespace, _, ok := strings.Cut(e.Name(), "_"); ok {
			all = append(all, namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
