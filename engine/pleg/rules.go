package pleg

// The rules are all that differs between the relists of the releases.
type rules struct {
	// retryPhase: a pod whose inspection failed is inspected again in a second
	// pass over all pods, from the record of the relist that failed, without
	// events and without advancing the record; a pod that changes and keeps
	// failing is inspected twice in each relist. Otherwise a retry is part of
	// the pod's one turn.
	retryPhase bool

	// listAgain: an inspection begins by listing the pod again, by its label.
	// Otherwise the listed pod says what to inspect.
	listAgain bool

	// listTime: a status counts as old as the list that named the pod.
	// Otherwise it counts from the start of its inspection.
	listTime bool

	// conditions: a watch condition has its pod inspected in every relist.
	conditions bool

	// onDemand: one pod can be relisted alone, and a reinspection can be asked
	// for. An inspection that was due and found no change makes a PodSync.
	onDemand bool
}

var (
	twoPhase = rules{retryPhase: true, listAgain: true} // 1.25 to 1.31
	watching = rules{listAgain: true, conditions: true} // 1.32 to 1.35
	perPod   = rules{listTime: true, onDemand: true}    // from 1.36
)

func rulesOf(r Release) rules {
	switch {
	case r < 32:
		return twoPhase
	case r < 36:
		return watching
	default:
		return perPod
	}
}
