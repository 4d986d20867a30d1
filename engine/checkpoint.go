package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
)

// A Checkpoint is the whole state of a [Model], as plain values that CBOR can encode. It leaves out what can be
// computed from the rest.
type Checkpoint struct {
	Start     Start
	Now       time.Time
	Ticks     uint64
	Cost      Cost
	Core      pleg.Checkpoint
	Kubelet   *kubelet.Kubelet
	Calls     *call.Table
	Sums      answers.SumsState
	Known     answers.Table // only Failure, StatusErr, VersionErr and UsualList
	Answered  map[uint64]*answer
	Relists   relists
	Status    statuses
	Pods      []podState
	Listed    bool // there was a good list
	Sources   *sources.Observer
	Networks  sources.Networks
	Workers   podworker.Checkpoint
	Reported  *podworker.Workers
	Asking    asking
	Looks     looks
	Evidence  *evidence.Report
	Past      past.KeeperState
	Memory    memory // without its Keeper
	Once      examined
	Channel   Channel
	LastEvent uint64
	Wanted    wanted
	Resumed   time.Time
	Follows   pleg.Release
	Closed    bool
	Change    uint64 // number of the last change of an event source
	News      bool
}

// A podState is a [Pod] with its errors as text.
type podState struct {
	Pod       Pod
	StatusErr string
}

// Checkpoint returns the state of the model. It shares memory with the model: encode it before the
// model moves.
func (m *Model) Checkpoint() *Checkpoint {
	c := &Checkpoint{
		Start: m.start, Now: m.now, Ticks: m.ticks, Cost: m.cost,
		Core: m.core.Checkpoint(), Kubelet: m.kubelet, Calls: m.calls, Sums: m.sums.State(),
		Known:    answers.Table{Failure: m.known.Failure, StatusErr: m.known.StatusErr, VersionErr: m.known.VersionErr, UsualList: m.known.UsualList},
		Answered: m.answered, Relists: m.relists, Status: m.status, Listed: m.pods.Listed,
		Sources: m.sources, Networks: m.networks, Workers: m.workers.Checkpoint(), Reported: m.reported,
		Asking: m.asking, Looks: m.looks, Evidence: m.evidence, Past: m.memory.State(), Memory: m.memory,
		Once: m.once, Channel: m.channel, LastEvent: m.lastEvent, Wanted: m.wanted, Resumed: m.resumed,
		Follows: m.follows, Closed: m.closed, Change: m.shownChange, News: m.news,
	}
	for _, uid := range slices.Sorted(maps.Keys(m.pods.ByUID)) {
		s := podState{Pod: *m.pods.ByUID[uid]}
		if err := s.Pod.StatusErr; err != nil {
			s.Pod.StatusErr, s.StatusErr = nil, err.Error()
		}
		c.Pods = append(c.Pods, s)
	}
	return c
}

// Restore returns the model that [Model.Checkpoint] was called on. It fails if no engine can have
// such a checkpoint.
func Restore(s Start, c *Checkpoint) (*Model, error) {
	m, err := NewModel(s)
	if err != nil {
		return nil, err
	}
	if c.Kubelet == nil || c.Calls == nil || c.Sources == nil {
		return nil, errors.New("restore the engine: the checkpoint is not whole")
	}
	m.core, err = pleg.Restore(pleg.Config{Release: c.Start.Release, Capacity: s.Capacity, Threshold: s.Threshold}, c.Core)
	if err != nil {
		return nil, fmt.Errorf("restore the engine: %w", err)
	}
	m.start, m.now, m.ticks, m.cost = c.Start, c.Now, c.Ticks, c.Cost
	m.kubelet, m.calls, m.known, m.relists, m.status = c.Kubelet, c.Calls, c.Known, c.Relists, c.Status
	m.sums.Restore(c.Sums)
	m.sources, m.networks, m.workers, m.reported = c.Sources, c.Networks, podworker.Restore(m.core.Cache(), c.Workers), c.Reported
	m.asking, m.looks, m.evidence, m.memory, m.once = c.Asking, c.Looks, c.Evidence, c.Memory, c.Once
	m.memory.Keeper.Restore(c.Past)
	m.channel, m.lastEvent, m.wanted, m.resumed, m.follows = c.Channel, c.LastEvent, c.Wanted, c.Resumed, c.Follows
	m.closed, m.shownChange, m.news = c.Closed, c.Change, c.News
	if c.Answered != nil {
		m.answered = c.Answered
	}
	m.pods.restore(m.core, c)
	m.assembler.Restore(listedIn(m.core))
	return m, nil
}

// listedIn returns the pods of the last list.
func listedIn(core *pleg.Core) (pods []*pleg.Pod) {
	for _, r := range core.Records() {
		if r.Listed {
			pods = append(pods, cmp.Or(r.Current, r.Old))
		}
	}
	return pods
}

// restore takes over the pods of a checkpoint. Old and Current of each pod point to the core's pods
// again.
func (t *pods) restore(core *pleg.Core, c *Checkpoint) {
	t.Listed, t.changed = c.Listed, true
	for i := range c.Pods {
		p := &c.Pods[i].Pod
		if text := c.Pods[i].StatusErr; text != "" {
			p.StatusErr = errors.New(text)
		}
		t.ByUID[p.UID] = p
	}
	if c.Listed && !core.ListedAt().IsZero() {
		for uid, r := range core.Records() {
			t.relink(uid, r)
		}
	}
}

func (t *pods) relink(uid pleg.UID, r pleg.Record) {
	p := t.ByUID[uid]
	if p == nil {
		return
	}
	if p.Old, p.Current = r.Old, r.Current; p.Current == nil && r.Listed {
		p.Current = p.Old
	}
}

// MarshalCBOR encodes an object. Without it, the encoder would use the MarshalCBOR of the embedded
// outcome, and encode nothing else.
func (o object) MarshalCBOR() ([]byte, error) {
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		return nil, fmt.Errorf("write an object of a check: %w", err)
	}
	return mode.Marshal(savedObject{o.Outcome, o.asked})
}

// UnmarshalCBOR reads what MarshalCBOR wrote.
func (o *object) UnmarshalCBOR(b []byte) error {
	var s savedObject
	if err := cbor.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read an object of a check: %w", err)
	}
	o.Outcome, o.asked = s.Outcome, s.Asked
	return nil
}

type savedObject struct {
	Outcome answers.Outcome
	Asked   asked
}
