package engine

// Objects finds the pod of a container or sandbox by its id.
type Objects struct{}
