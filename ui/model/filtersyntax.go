package model

import "strings"

// FilterSyntax returns what can be written in a filter, and what it asks for: the forms, then
// each field with what its value must be.
func FilterSyntax() [][2]string {
	all := [][2]string{
		{"api", "a word: part of the namespace, of the pod's or a container's name"},
		{`"a b"`, "the same with spaces or bars in it"},
		{"a b", "both"},
		{"a | b", "either; a space binds tighter"},
		{"!a", "everything but"},
		{"worst>1s", "a column by its name: part of its text, or a comparison with its figure"},
	}
	for _, f := range fields {
		form := strings.Join(f.names, ": ") + ":"
		if f.ordered {
			form = strings.Join(f.names, " ") + " = != < >"
		}
		all = append(all, [2]string{form, f.want})
	}
	return all
}
