package options

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/theme"
)

// Known is what a shell completes that the command line does not know by itself.
type Known struct {
	Findings   []string
	Namespaces func() []string // of the pods on this node, as far as that is known without asking anybody
}

// Complete returns what may stand in the place of the last of some words, which may be empty:
// views and what these are about, flags, and values of flags, as --name=value where that is how the
// word begins. Files reports whether the path of a file may stand there as well.
func Complete(words []string, columns model.FilterColumns, names Known) (all []string, files bool) {
	o := &Options{columns: columns}
	last, before := "", ""
	if n := len(words); n > 0 {
		last = words[n-1]
		if n > 1 {
			before = words[n-2]
		}
	}
	name, value, begun := strings.Cut(last, "=")
	for _, g := range o.groups() {
		for _, f := range g.flags {
			long := "--" + f.name
			switch {
			case begun && name == long:
				all, files = f.values(o, names)
				return prefixed(long+"=", all, value), files
			case f.bare == "" && (before == long || f.short != "" && before == "-"+f.short):
				all, files = f.values(o, names)
				return prefixed("", all, last), files
			}
			all = append(all, long)
		}
	}
	if strings.HasPrefix(last, "-") {
		return prefixed("", all, last), false
	}
	switch View(before) {
	case Diff:
		return nil, true
	case Explain:
		return prefixed("", names.Findings, last), false
	}
	given := slices.ContainsFunc(words[:max(len(words)-1, 0)], func(w string) bool { return slices.Contains(views, w) })
	if given {
		return nil, slices.Contains(words, string(Diff))
	}
	return prefixed("", views, last), false
}

// values returns what may stand for the value of a flag, as far as that is known; files reports
// whether it is a path.
func (f flag) values(o *Options, names Known) (all []string, files bool) {
	switch f.name {
	case "demo":
		return append(scenarios(), DemoList), false
	case "kubelet-version":
		for r := pleg.Oldest; r <= pleg.Newest; r++ {
			all = append(all, r.String())
		}
	case "mode":
		return []string{pleg.Generic.String(), pleg.Evented.String()}, false
	case "events":
		for _, s := range eventSources {
			all = append(all, s.String())
		}
		all = append(all, "off")
	case "record-on":
		return []string{"always", "critical"}, false
	case "scrub":
		return []string{"secrets", "names"}, false
	case "output":
		return []string{"text", "json", "dot"}, false
	case "exit-codes":
		return []string{"plegtop", "npd"}, false
	case "time-format":
		return timeFormats, false
	case "theme":
		return theme.Names(), false
	case "sort":
		for _, c := range o.columns["pods"] {
			all = append(all, c.Name)
		}
	case "namespace":
		return names.Namespaces(), false
	}
	return all, slices.Contains([]string{"file", "folder", "socket"}, f.kind)
}

// prefixed returns those that begin with begin, each behind a prefix.
func prefixed(prefix string, of []string, begin string) (all []string) {
	for _, s := range of {
		if strings.HasPrefix(s, begin) {
			all = append(all, prefix+s)
		}
	}
	return all
}
