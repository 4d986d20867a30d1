package record

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A list is the answer to a list call, as the difference to the one before of the same call in
// the segment.
type list struct {
	Same bool     // nothing has changed
	Rows []int    // of each entry its place in the list before, or isNew
	New  [][]byte // CRI's messages: the new entries, in the order of the list
}

const isNew = -1

// rows are the entries of the last list of one call. An entry that has not changed is the same
// pointer in the next list, live and when it is played.
type rows[T any, M proto.Message] struct {
	all     []*T
	bytes   map[*T]string // of a player: the messages of all
	earlier map[string]*T // of a player at the begin of a segment: the entries up to there by their messages

	message func(*T) M
	of      func(M) *T
}

func newSandboxes() *rows[pleg.ListedSandbox, *cri.PodSandbox] {
	return &rows[pleg.ListedSandbox, *cri.PodSandbox]{message: sandboxMessage, of: sandboxOf}
}

func newContainers() *rows[pleg.ListedContainer, *cri.Container] {
	return &rows[pleg.ListedContainer, *cri.Container]{message: containerMessage, of: containerOf}
}

// begin begins a segment, whose first list refers to none.
func (r *rows[T, M]) begin() {
	r.earlier = make(map[string]*T, len(r.bytes))
	for entry, b := range r.bytes {
		r.earlier[b] = entry
	}
	r.all = nil
}

// write returns a list as it is recorded.
func (r *rows[T, M]) write(listed []*T) (*list, error) {
	if r.all != nil && slices.Equal(listed, r.all) {
		return &list{Same: true}, nil
	}
	place := make(map[*T]int, len(r.all))
	for i, e := range r.all {
		place[e] = i
	}
	l := &list{Rows: make([]int, len(listed))}
	for i, e := range listed {
		at, is := place[e]
		if l.Rows[i] = at; !is {
			b, err := message(r.message(e))
			if err != nil {
				return nil, fmt.Errorf("an entry of a list: %w", err)
			}
			l.Rows[i], l.New = isNew, append(l.New, b)
		}
	}
	r.keep(listed)
	return l, nil
}

// keep keeps a list for the next, unless it is short: that of a single pod. It reports whether it
// did.
func (r *rows[T, M]) keep(listed []*T) bool {
	is := 2*len(listed) >= len(r.all)
	if is {
		r.all = listed
	}
	return is
}

var errRows = errors.New("a list refers to entries that are not there")

// read returns the list that write was given.
func (r *rows[T, M]) read(l *list) ([]*T, error) {
	if l.Same && r.all != nil {
		return r.all, nil
	}
	listed, fresh, kept := make([]*T, len(l.Rows)), l.New, make(map[*T]string, len(l.Rows))
	for i, at := range l.Rows {
		switch {
		case at >= 0 && at < len(r.all):
			listed[i] = r.all[at]
			kept[listed[i]] = r.bytes[listed[i]]
			continue
		case at != isNew || len(fresh) == 0:
			return nil, errRows
		}
		if listed[i] = r.earlier[string(fresh[0])]; listed[i] == nil {
			m := r.message(new(T)).ProtoReflect().New().Interface().(M)
			if err := proto.Unmarshal(fresh[0], m); err != nil {
				return nil, fmt.Errorf("an entry of a list: %w", err)
			}
			listed[i] = r.of(m)
		}
		kept[listed[i]] = string(fresh[0])
		fresh = fresh[1:]
	}
	if r.keep(listed) {
		r.bytes, r.earlier = kept, nil
	}
	return listed, nil
}
