package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
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
	namespace string        // of the DaemonSet; empty if it may be in any
	patience  time.Duration // with each node; 0 is [within]

	rounds int // that were begun
	pods   []pod
	names  []string // of all nodes
}

// look asks all nodes once, and shows now and then how far it is.
func (f *fleet) look(ctx context.Context, show func(Round)) (Round, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := Round{At: time.Now()}
	if err := f.list(ctx); err != nil {
		return r, err
	}
	nodes := joined(f.pods, f.names)
	done := f.ask(ctx, nodes)
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	var denied []error
	for left := len(nodes); left > 0; {
		select {
		case a := <-done:
			*nodes[a.index] = a.node
			if left--; a.err != nil {
				denied = append(denied, a.err)
			}
		case <-ticks.C:
			show(snapshot(r.At, nodes))
		}
	}
	r = snapshot(r.At, nodes)
	r.Done = true
	if asked := len(nodes) - r.unasked(); asked > 0 && len(denied) == asked { // one that says so may lie
		return r, denied[0]
	}
	return r, context.Cause(ctx)
}

// list finds the pods of the DaemonSet, and the nodes. Where that is more than one answer of the API
// server, which may read them from its store, it is every sixth round: each minute.
func (f *fleet) list(ctx context.Context) (err error) {
	if f.rounds++; f.rounds%6 != 1 && len(f.pods) > page {
		return nil
	}
	if f.pods, err = f.api.pods(ctx, f.namespace, ""); err != nil {
		return err
	}
	if len(f.pods) == 0 {
		return fmt.Errorf("no pod in %s has the label %s: apply docs/deploy/daemonset.yaml, or name the right cluster with --context", cmp.Or(f.namespace, "any namespace"), Label)
	}
	f.names, err = f.api.nodes(ctx)
	return err
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

// A told is a node, by its place, with what came of asking it.
type told struct {
	index int
	node  Node
	err   error // it may not be asked
}

// ask asks all nodes that can be asked, so many at once, and returns a channel with each of all
// nodes once, whatever happens.
func (f *fleet) ask(ctx context.Context, nodes []*Node) <-chan told {
	done, next := make(chan told, len(nodes)), make(chan told, len(nodes))
	for i, n := range nodes {
		if n.State == Asking {
			next <- told{index: i, node: *n}
		} else {
			done <- told{index: i, node: *n}
		}
	}
	close(next)
	for range width {
		go func() {
			for t := range next {
				t.err = f.check(ctx, &t.node)
				done <- t
			}
		}()
	}
	return done
}

// check asks one node. Its error is that whoever asks has not the right, as it seems.
func (f *fleet) check(ctx context.Context, n *Node) error {
	patience := cmp.Or(f.patience, within)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := "/api/v1/namespaces/" + url.PathEscape(n.Namespace) + "/pods/" + url.PathEscape(n.Pod) + ":" + port + "/proxy/check"
	var a answer
	err := f.api.get(ctx, path, "application/json", checkMost, &a)
	r, of := errors.AsType[*refusal](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		n.miss(NoAnswer, fmt.Sprintf("in %v", patience))
	case of && r.Kind == "" && r.Code < http.StatusInternalServerError, errors.Is(err, errGarbled):
		n.miss(NotPlegtop, err.Error())
	case err != nil:
		if n.miss(Refused, err.Error()); of && r.Code == http.StatusForbidden {
			return explained("ask the pods", err)
		}
	case !strings.HasPrefix(a.Schema, checkSchema):
		n.miss(NotPlegtop, "its answer has no schema "+checkSchema+"1")
	default:
		n.State, n.Headline, n.Severity, n.Culprit = Answered, new(a.headline()), a.worst(), a.culprit()
	}
	return nil
}

// An answer is what is read of the JSON of check, which docs/check.schema.json describes.
type answer struct {
	Schema   string
	Headline struct {
		Word, Severity, Text, Node string
		Clock                      struct {
			What                 string
			InSeconds, ToSeconds float64
		}
	}
	PLEG     struct{ Healthy bool }
	Findings []struct {
		Severity string
		Subject  struct{ Operation, Namespace, Pod, Container string }
		Chain    []struct{ Name, Proof string }
	}
}

// checkSchema is what the schema of an answer begins with: fields are only ever added to it.
const checkSchema = "plegtop/check/"

// headline returns the headline of an answer.
func (a *answer) headline() diagnose.Headline {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	h := &a.Headline
	return diagnose.Headline{
		Word: h.Word, Severity: severity(h.Severity), Text: h.Text, Node: h.Node,
		Clock: diagnose.Clock{What: h.Clock.What, In: seconds(h.Clock.InSeconds), To: seconds(h.Clock.ToSeconds)},
	}
}

// worst returns how bad it is, as the exit code of check has it: PLEG that is not healthy, with
// nothing that tells why, is never well.
func (a *answer) worst() diagnose.Severity {
	worst := severity(a.Headline.Severity)
	for i := range a.Findings {
		worst = max(worst, severity(a.Findings[i].Severity))
	}
	if !a.PLEG.Healthy {
		return max(worst, diagnose.Warning)
	}
	return worst
}

// culprit names what holds up what waits, or else whom the worst finding is about; empty where
// nothing is wrong, or nobody is named.
func (a *answer) culprit() string {
	if len(a.Findings) == 0 || severity(a.Findings[0].Severity) == diagnose.Info {
		return ""
	}
	f := &a.Findings[0]
	s, proven := f.Subject, ""
	for i, link := range f.Chain {
		if i > 0 && link.Proof == "" { // from here on it is only likely
			break
		}
		proven = link.Name
	}
	who := strings.Trim(strings.Join([]string{s.Namespace, s.Pod, s.Container}, "/"), "/")
	if len(f.Chain) > 1 && who != "" && !strings.Contains(proven, who) {
		return proven + " of " + who
	}
	return cmp.Or(who, s.Operation)
}

// severity returns the severity of a word; a word that is not known is no less than a warning.
func severity(word string) diagnose.Severity {
	for _, s := range []diagnose.Severity{diagnose.Info, diagnose.Critical} {
		if word == s.String() {
			return s
		}
	}
	return diagnose.Warning
}
