package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// NoAddress is a kind of finding about pods that have their own network and no address in it.
const NoAddress ID = "no-address"

// If addresslessLeast pods or more have no address, that is a trouble of the node. One or two are their own trouble,
// and have an event about it.
const addresslessLeast = 3

// The sandboxes of several pods have been ready for long, and have no address.
var noAddress = Rule{
	ID: NoAddress, Needs: Lists,
	Find: func(f *Facts, report func(Match)) {
		m := Match{Severity: Warning, Since: f.at()}
		for p, is := range f.podsWith(func(p *podFacts) bool { return p.addressless > 0 }) {
			since := time.Unix(is.addressless, 0)
			if f.at().Sub(since) < sources.AddressWithin {
				continue
			}
			if m.Count++; m.Count <= membersMost {
				m.Members = append(m.Members, Member{
					Subject{ObjectRef: pleg.ObjectRef{Pod: p.PodRef, Sandbox: true}}, Values{"pod": p.PodRef.String(), "age": age(f.at().Sub(since))},
				})
			}
			if since.Before(m.Since) {
				m.Since = since
			}
		}
		if m.Count >= addresslessLeast {
			m.Values = f.networkValues().with(Values{"pods": many{m.Count, "pod"}, "age": age(f.at().Sub(m.Since))})
			report(m)
		}
	},
}
