package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// NoAddress is pods that have a network of their own and no address in it.
const NoAddress ID = "no-address"

var noAddressKind = &kind{
	id: NoAddress, find: noAddress,
	needs: lists, because: silences | unready, pod: "no IP",
	severity: "warning", scenario: "`no-address`",
	when: "the sandboxes of three pods or more have been ready for 30 s without an address, and are not on the host's network",
}

// addressesMost is how many pods without an address are no finding about the node: one or
// two are their own trouble, and have their event.
const addressesMost = 2

// An addressless pod has had no address since its sandbox was made.
type addressless struct {
	pod   *engine.Pod
	since time.Time
}

func (a addressless) subject() Subject {
	return Subject{ObjectRef: pleg.ObjectRef{Pod: a.pod.PodRef, Sandbox: true}}
}

// noAddress finds pods without an address, where there are several.
func noAddress(v *view) []Finding {
	var all []addressless
	oldest := v.At
	for p, f := range v.podsWith(func(f *podFacts) bool { return f.addressless > 0 }) {
		since := time.Unix(f.addressless, 0)
		if v.At.Sub(since) < sources.AddressWithin {
			continue
		}
		all = append(all, addressless{p, since})
		if since.Before(oldest) {
			oldest = since
		}
	}
	if len(all) <= addressesMost {
		return nil
	}
	f := about(Finding{
		ID: NoAddress, Severity: Warning, Since: oldest,
		Summary: fmt.Sprintf("%s have no IP, the first for %s: their network was not set up", count(len(all), "pod"), going(v.At.Sub(oldest))),
		Next:    v.advise("network.no-address", v.networkValues()),
	}, all, func(a addressless) string {
		return a.pod.PodRef.String() + ": no IP for " + going(v.At.Sub(a.since))
	})
	f.sayBeforeMembers("the kubelet gives such a pod a new sandbox when it syncs it, until one has an IP")
	if state := v.networkState(); state != "" {
		f.sayBeforeMembers(state)
	}
	return []Finding{f}
}
