// Package call has the words for one RPC to the runtime: which operation, on
// what, how it ended, and how much it carried. The relist engine, the CRI
// client and the screen share it, so that none of them needs to know another.
//
// Everything in it is a plain value and safe to copy; a [Trace] belongs to the
// call that it travels with.
package call

// An Operation is a method of the CRI RuntimeService.
type Operation uint8

// The operations that plegtop ever performs on a runtime. None of them changes
// anything there.
const (
	Version Operation = iota
	Status
	ListPodSandbox
	ListContainers
	PodSandboxStatus
	ContainerStatus
	GetContainerEvents
	operations
)

var operationNames = [operations]string{
	"Version", "Status", "ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus", "GetContainerEvents",
}

// String returns the CRI method's name, "unknown" for a value that is none.
func (o Operation) String() string {
	if o < operations {
		return operationNames[o]
	}
	return "unknown"
}

// AboutObject reports whether a call is about one sandbox or container.
func (o Operation) AboutObject() bool { return o == PodSandboxStatus || o == ContainerStatus }

// IsList reports whether a call lists sandboxes or containers.
func (o Operation) IsList() bool { return o == ListPodSandbox || o == ListContainers }

// Operations returns all operations in the order in which a screen lists them.
func Operations() []Operation {
	all := make([]Operation, operations)
	for i := range all {
		all[i] = Operation(i)
	}
	return all
}
