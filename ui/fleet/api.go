package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/ui/text"
)

const (
	// Label is what the pods of the DaemonSet are known by.
	Label = "app.kubernetes.io/name=plegtop"

	port      = "9469"    // of plegtop serve
	container = "plegtop" // of the pods

	page        = 500      // objects in one answer to a list
	pageMost    = 32 << 20 // bytes of it: 64 KiB an object, where a big one has 20
	pagesMost   = 200      // answers to one list
	checkMost   = 2 << 20  // bytes of an answer to /check: a sick node's has some 20 KiB
	refusalMost = 16 << 10
)

// An api is the API server, by HTTP.
type api struct {
	client *http.Client
}

// A refusal is an answer of the API server that is none of what was asked.
type refusal struct {
	Code          int
	Kind, Message string // "Status", and in words; another Kind is not of the API server's own
}

// refused returns the refusal of a status, by the body beside it.
func refused(code int, body []byte) *refusal {
	r := &refusal{}
	if json.Unmarshal(body, r) != nil || r.Kind != "Status" {
		said, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		r = &refusal{Message: said}
	}
	r.Code = code
	return r
}

// Error says what the API server said.
func (r *refusal) Error() string {
	if r.Kind == "" {
		return text.Clean(fmt.Sprintf("HTTP %d: %s", r.Code, r.Message))
	}
	return text.Clean(r.Message)
}

// errGarbled says that an answer is not what was asked for.
var errGarbled = errors.New("unreadable answer")

// get reads the answer of a path into what into points to: JSON of at most so many bytes. The
// error of another status than 200 is a [refusal].
func (a api) get(ctx context.Context, path, accept string, most int64, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", accept)
	resp, err := a.client.Do(req)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // that it was for localhost says nothing
		}
		return err
	}
	defer resp.Body.Close()
	body := &io.LimitedReader{R: resp.Body, N: most}
	if resp.StatusCode != http.StatusOK {
		body.N = refusalMost
		said, _ := io.ReadAll(body) // what came of it tells
		return refused(resp.StatusCode, said)
	}
	err = json.NewDecoder(body).Decode(into)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case body.N == 0:
		return fmt.Errorf("%w: longer than %s", errGarbled, text.Bytes(uint64(most)))
	}
	return fmt.Errorf("%w: %w", errGarbled, err)
}

// A list is one page of objects.
type list[T any] struct {
	Metadata struct{ Continue string }
	Items    []T
}

// all returns all objects of a list.
func all[T any](ctx context.Context, a api, path, accept string, query url.Values) (found []T, err error) {
	query.Set("limit", strconv.Itoa(page))
	for range pagesMost {
		var l list[T]
		if err := a.get(ctx, path+"?"+query.Encode(), accept, pageMost, &l); err != nil {
			return nil, err
		}
		if found = append(found, l.Items...); l.Metadata.Continue == "" {
			return found, nil
		}
		query.Set("continue", l.Metadata.Continue)
	}
	return nil, fmt.Errorf("more than %d objects", page*pagesMost)
}

// A pod is what is shown of a pod.
type pod struct {
	Metadata struct{ Namespace, Name, DeletionTimestamp string }
	Spec     struct{ NodeName string }
	Status   struct {
		Phase, Reason     string
		ContainerStatuses []struct {
			Name  string
			State struct{ Waiting, Terminated struct{ Reason string } }
		}
	}
}

// missing says why a pod cannot be asked; empty if it can.
func (p *pod) missing() string {
	for _, c := range p.Status.ContainerStatuses {
		if why := cmp.Or(c.State.Waiting.Reason, c.State.Terminated.Reason); c.Name == container && why != "" {
			return why
		}
	}
	switch {
	case p.Metadata.DeletionTimestamp != "":
		return "Terminating"
	case p.Status.Phase == "Running":
		return ""
	case p.Status.Reason != "":
		return p.Status.Reason
	}
	return p.Status.Phase
}

// pods returns the pods of the DaemonSet: on one node if that is named, in one namespace if
// that is. There may be none.
func (a api) pods(ctx context.Context, namespace, node string) ([]pod, error) {
	path, query := "/api/v1/pods", url.Values{"labelSelector": {Label}}
	if namespace != "" {
		path = "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	}
	if node != "" {
		query.Set("fieldSelector", "spec.nodeName="+node)
	}
	found, err := all[pod](ctx, a, path, "application/json", query)
	return found, explained("list pods", err)
}

// nodes returns the names of all nodes; none if they may not be listed.
func (a api) nodes(ctx context.Context) (names []string, err error) {
	type node struct{ Metadata struct{ Name string } }
	const namesOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	found, err := all[node](ctx, a, "/api/v1/nodes", namesOnly, url.Values{})
	if r, ok := errors.AsType[*refusal](err); ok && r.Code == http.StatusForbidden {
		return nil, nil
	}
	for _, n := range found {
		names = append(names, n.Metadata.Name)
	}
	return names, explained("list nodes", err)
}

// explained returns an error with what to do about it, where that is known.
func explained(what string, err error) error {
	r, ok := errors.AsType[*refusal](err)
	switch {
	case err == nil:
		return nil
	case ok && r.Code == http.StatusForbidden:
		return fmt.Errorf("%s: %w; docs/deploy/rbac.yaml has the rights that are needed", what, err)
	case ok && r.Code == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w; log in so that kubectl get pods works", what, err)
	case ok && r.Kind == "":
		return fmt.Errorf("%s: kubectl proxy: %w; see whether kubectl get pods works", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
