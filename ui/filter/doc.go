// Package filter is the language in which a person says which pods and events
// to show.
//
//	api            a word: part of the namespace, pod, container or namespace/pod
//	"a b"          the same with a space, a bar or a quote in it (\" and \\)
//	ns:kube-*      a field: see the table in field.go for all of them
//	exit!=0        a field and a comparison: = != < <= > >=
//	!word, !ns:x   everything but
//	a b | c        space is and, | is or; and binds tighter
//
// Case never matters, except in re: where the expression says so itself.
//
// A [Filter] is immutable and may be used from several goroutines at once. It
// reads no clock: the caller says what time it is, by the time of a snapshot.
package filter
