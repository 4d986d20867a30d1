package cri

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/mem"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// pluginsMethod is containerd's own list of its plugins, with the error of each that
// did not start (api/services/introspection/v1 of containerd 1.3 and later).
const pluginsMethod = "/containerd.services.introspection.v1.Introspection/Plugins"

// failedPlugin asks containerd why it serves no CRI; empty if it does not say, or is
// none. Of one that has not answered within a second it is not known.
func (c *Client) failedPlugin(ctx context.Context) (why string, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var all plugins
	// A request without filters has no bytes, as this one.
	if err := c.conn.Invoke(ctx, pluginsMethod, &runtimev1.VersionRequest{}, &all); err != nil {
		return "", ctx.Err() == nil
	}
	ofCRI := func(p plugin) bool { return strings.Contains(p.kind, ".cri.") || p.id == "cri" }
	failed := slices.IndexFunc(all, func(p plugin) bool { return ofCRI(p) && p.err != "" })
	switch {
	case failed >= 0:
		return "containerd's plugin " + all[failed].kind + "." + all[failed].id + " did not start: " + printable(all[failed].err), true
	case !slices.ContainsFunc(all, ofCRI):
		return "containerd runs without its plugin cri: it is disabled, or not built in", true
	}
	return "", true
}

// A plugged remembers, for as long as a connection lasts, why there is no CRI behind it.
type plugged struct {
	mu   sync.Mutex
	last *question // nil before anybody asked
}

// A question is what [Client.failedPlugin] is asked once for a connection.
type question struct {
	conn     uint64        // its number
	answered chan struct{} // closed when why is known
	why      string
}

// because returns what [Client.failedPlugin] says of the connection. Calls that need it at
// the same time wait for the same answer, each no longer than its own context allows.
func (p *plugged) because(ctx context.Context, c *Client) string {
	q := p.ask(c)
	select {
	case <-q.answered:
		return q.why
	case <-ctx.Done():
		return ""
	}
}

// ask lasts for as long as the client, and not as the call that happens to be first.
func (p *plugged) ask(c *Client) *question {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := c.dialer.made.Load(); p.last == nil || p.last.conn != made {
		q := &question{conn: made, answered: make(chan struct{})}
		p.last = q
		go func() {
			defer close(q.answered)
			var answered bool
			if q.why, answered = c.failedPlugin(c.alive); !answered {
				p.forget(q)
			}
		}()
	}
	return p.last
}

// forget has the next who wants to know ask again.
func (p *plugged) forget(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == q {
		p.last = nil
	}
}

// A plugin is one of containerd's.
type plugin struct{ kind, id, err string }

// plugins decodes itself from a PluginsResponse, as far as it is wanted.
type plugins []plugin

func (all *plugins) decode(data mem.BufferSlice) error {
	var p plugin
	failed := form{2: textTo(&p.err)} // a google.rpc.Status
	one := form{1: textTo(&p.kind), 2: textTo(&p.id), 7: func(f field) bool { return failed.read(f.bytes) }}
	read := form{1: func(f field) bool {
		p = plugin{}
		one.read(f.bytes) // as far as it can be
		*all = append(*all, p)
		return true
	}}.read(data.Materialize())
	if !read {
		return errors.New("the list of plugins cannot be read")
	}
	return nil
}
