// Package diagnose says what is wrong with a node, why, and what to type.
//
// A diagnosis is one pass over a snapshot of the engine:
//
//	Facts -> Rules -> Findings -> Headline
//
// [Facts] answers each question about the node once. A [Rule] is one literal in one file. It sees facts only, never
// another rule and never a clock, and reports matches. The rest of the package does what all rules need: it groups
// matches by owner, finds causes, writes sentences and commands, and leaves out what nobody can know now. [Live] makes
// a diagnosis of each new snapshot, and keeps findings steady.
//
// The sentences of a rule are not in its file. They are in engine/knowledge/findings.yaml, and its commands are in
// remedies.yaml; see [Values].
package diagnose
