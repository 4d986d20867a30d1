package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A list is the answer to a list call, as the difference to the previous answer to the same
// call in the segment.
type list struct {
	Same bool     // nothing has changed
	Rows []int    // for each entry its place in the previous list, or isNew
	New  [][]byte // CRI's messages: the new entries, in the order of the list
}

const isNew = -1

// rows writes the lists of one call, or reads them. An entry that has not changed is the same
// pointer in the next list, both live and in a replay.
type rows[T any] struct {
	all   []*T          // the last list
	clean func(any) any // takes secrets out
	parse func([]byte) (*T, error)

	// A reader has the entries of this segment and of the previous segment by their messages. The
	// first list of a segment repeats all messages, and the entries stay the same pointers.
	entries, earlier map[string]*T
}

func newSandboxes(clean func(any) any) *rows[pleg.ListedSandbox] {
	return &rows[pleg.ListedSandbox]{clean: clean, parse: cri.ReadListedSandbox}
}

func newContainers(clean func(any) any) *rows[pleg.ListedContainer] {
	return &rows[pleg.ListedContainer]{clean: clean, parse: cri.ReadListedContainer}
}

// begin begins a segment. The first list of a segment refers to no other list.
func (r *rows[T]) begin() { r.all, r.earlier, r.entries = nil, r.entries, map[string]*T{} }

// write returns a list as it is recorded.
func (r *rows[T]) write(listed []*T) (*list, error) {
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
			b, err := cri.Message(r.clean(e))
			if err != nil {
				return nil, fmt.Errorf("an entry of a list: %w", err)
			}
			l.Rows[i], l.New = isNew, append(l.New, b)
		}
	}
	r.keep(listed)
	return l, nil
}

// keep keeps a list for the next one, unless it is short: then it is the list of a single pod.
func (r *rows[T]) keep(listed []*T) {
	if 2*len(listed) >= len(r.all) {
		r.all = listed
	}
}

var errRows = errors.New("a list refers to entries that are not there")

// read undoes write.
func (r *rows[T]) read(l *list) (listed []*T, err error) {
	if l.Same && r.all != nil {
		return r.all, nil
	}
	listed, fresh := make([]*T, len(l.Rows)), l.New
	for i, at := range l.Rows {
		switch {
		case at >= 0 && at < len(r.all):
			listed[i] = r.all[at]
		case at == isNew && len(fresh) > 0:
			if listed[i], err = r.entry(string(fresh[0])); err != nil {
				return nil, fmt.Errorf("an entry of a list: %w", err)
			}
			fresh = fresh[1:]
		default:
			return nil, errRows
		}
	}
	r.keep(listed)
	return listed, nil
}

// entry returns the entry of a message.
func (r *rows[T]) entry(message string) (entry *T, err error) {
	entry = cmp.Or(r.entries[message], r.earlier[message])
	if entry == nil {
		entry, err = r.parse([]byte(message))
	}
	if err == nil {
		r.entries[message] = entry
	}
	return entry, err
}
