package knowledge

// A Finding is what one kind of finding means, and where it comes from.
type Finding struct {
	ID         string
	Means      string // what is so, and what it does to the node
	Cause      string // where it mostly comes from
	Background string // what helps to understand it; empty for nothing
	Culprits   []string
	Source     string
}

// Findings returns all of them.
var Findings = lazy[Finding]("findings.yaml")
