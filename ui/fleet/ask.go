package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	width  = 50                     // nodes that are asked at once: what an API server hardly notices
	within = 3 * time.Second        // a node has for its answer, which it has at hand
	pace   = 250 * time.Millisecond // between two looks at how far a round is
	every  = 10 * time.Second       // from the begin of one round to that of the next, at the least
)

// A fleet is the nodes of a cluster.
type fleet struct {
	api       api
	namespace string // of the DaemonSet; empty if it may be in any
}

// look asks all nodes once. As long as that takes it shows how far it is, if that is not nil.
func (f *fleet) look(ctx context.Context, show func(Round)) (Round, error) {
	r := Round{At: time.Now()}
	pods, err := f.pods(ctx)
	if err != nil {
		return r, err
	}
	names, err := f.api.nodes(ctx)
	if err != nil {
		return r, err
	}
	nodes := joined(pods, names)
	done := f.ask(ctx, nodes)
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for answered := 0; answered < len(nodes); {
		select {
		case a := <-done:
			*nodes[a.index] = a.node
			answered++
		case <-ticks.C:
			if show != nil {
				show(snapshot(r.At, nodes))
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	r = snapshot(r.At, nodes)
	r.Done = true
	return r, forbidden(r.Nodes)
}

// pods returns the pods of the DaemonSet, or an error if there are none.
func (f *fleet) pods(ctx context.Context) ([]pod, error) {
	pods, err := f.api.pods(ctx, f.namespace, "")
	if err == nil && len(pods) == 0 {
		err = fmt.Errorf("no pod has the label %s%s: apply docs/deploy/daemonset.yaml, or name the right cluster with --context", Label, inNamespace(f.namespace))
	}
	return pods, err
}

func inNamespace(name string) string {
	if name == "" {
		return ""
	}
	return " in namespace " + name
}

// joined returns a node for each pod, and for each name that has none. Of two pods on a node the
// one that runs is asked.
func joined(pods []pod, names []string) (nodes []*Node) {
	by := map[string]*Node{}
	for i := range pods {
		p := &pods[i]
		n := &Node{Name: p.Spec.NodeName, Namespace: p.Metadata.Namespace, Pod: p.Metadata.Name}
		n.miss(Asking, "")
		if why := p.missing(); why != "" {
			n.miss(NotRunning, why)
		}
		switch was := by[n.key()]; {
		case was == nil:
			by[n.key()] = n
			nodes = append(nodes, n)
		case was.State == NotRunning:
			*was = *n
		}
	}
	for _, name := range names {
		if by[name] == nil {
			n := &Node{Name: name}
			n.miss(NoPod, "")
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// snapshot returns how far a round is.
func snapshot(at time.Time, nodes []*Node) Round {
	r := Round{At: at, Nodes: make([]*Node, len(nodes))}
	for i, n := range nodes {
		r.Nodes[i] = new(*n)
	}
	r.sort()
	return r
}

// forbidden returns an error if nobody may be asked at all.
func forbidden(nodes []*Node) error {
	why := ""
	for _, n := range nodes {
		switch {
		case n.denied:
			why = n.Why
		case n.State != NotRunning && n.State != NoPod:
			return nil
		}
	}
	if why == "" {
		return nil
	}
	return explained("ask the pods", &refusal{Code: http.StatusForbidden, Kind: "Status", Message: why})
}

// A told is a node, by its place, with what came of asking it.
type told struct {
	index int
	node  Node
}

// ask asks all nodes that can be asked, so many at once, and returns a channel with each of all
// nodes once, whatever happens.
func (f *fleet) ask(ctx context.Context, nodes []*Node) <-chan told {
	done, next := make(chan told, len(nodes)), make(chan told, len(nodes))
	for i, n := range nodes {
		if n.State == Asking {
			next <- told{i, *n}
		} else {
			done <- told{i, *n}
		}
	}
	close(next)
	for range width {
		go func() {
			for t := range next {
				f.check(ctx, &t.node)
				done <- t
			}
		}()
	}
	return done
}

// check asks one node.
func (f *fleet) check(ctx context.Context, n *Node) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	path := "/api/v1/namespaces/" + url.PathEscape(n.Namespace) + "/pods/" + url.PathEscape(n.Pod) + ":" + port + "/proxy/check"
	var a answer
	err := f.api.get(ctx, path, "application/json", checkMost, &a)
	r, of := errors.AsType[*refusal](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		n.miss(NoAnswer, fmt.Sprintf("in %v", within))
	case of && r.Kind == "" && r.Code < http.StatusInternalServerError, errors.Is(err, errGarbled):
		n.miss(NotPlegtop, err.Error())
	case err != nil:
		n.miss(Refused, err.Error())
		n.denied = of && r.Code == http.StatusForbidden
	case !strings.HasPrefix(a.Schema, checkSchema):
		n.miss(NotPlegtop, "its answer has no schema "+checkSchema+"1")
	default:
		n.take(&a)
	}
}
