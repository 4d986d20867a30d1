package diagnose

// OtherRuntime is a runtime that nobody names, on a node where another one was down.
const OtherRuntime ID = "another-runtime"

var otherRuntimeKind = &kind{
	id: OtherRuntime, find: otherRuntime,
	severity: "info", scenario: "a real node",
	when: "neither the command line nor the kubelet nor crictl names a runtime, this one answered when plegtop began, and another that has left its state on the node was gone",
}

// otherRuntime tells that what is looked at may not be the runtime that the kubelet uses.
func otherRuntime(v *view) []Finding {
	if v.Found.Down == "" {
		return nil
	}
	return []Finding{{
		ID: OtherRuntime, Severity: Info,
		Summary:  "nobody names the runtime of this node: this one answered, and the one at " + v.Found.Down + " was gone",
		Evidence: []string{"endpoint: " + v.endpoint},
		Next:     []Step{{Text: "look at the other one, if the kubelet uses that", Command: "plegtop -r " + quote(v.Found.Down)}, inWords("none, unless the kubelet uses the other one: then start that")},
	}}
}
