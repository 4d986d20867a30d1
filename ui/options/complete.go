package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pods"
)

// Known is what a shell completes that the command line does not know by itself.
type Known struct {
	Findings   []string
	Namespaces func() []string // of the pods on this node, as far as that is known without asking anybody
}

// Complete returns what [Completion] has a shell read: in lines what may stand in the place of the
// last of some words. A first line ":files" stands for the paths of files.
func Complete(words []string, names Known) string {
	all, files := complete(words, names)
	if files {
		all = append([]string{":files"}, all...)
	}
	return strings.Join(append(all, ""), "\n")
}

// complete returns what can take the place of the last word, which may be empty: a view, the argument
// of a view, a flag or the value of a flag. If the word begins as --name=, so do the values. Files
// reports whether the path of a file can stand there, too.
func complete(words []string, names Known) (all []string, files bool) {
	o := &Options{}
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
				all, files = f.values(names)
				return prefixed(long+"=", all, value), files
			case f.bare == "" && (before == long || f.short != "" && before == "-"+f.short):
				all, files = f.values(names)
				return prefixed("", all, last), files
			}
			all = append(all, long)
		}
	}
	if strings.HasPrefix(last, "-") {
		return prefixed("", all, last), false
	}
	if View(before) == Explain {
		return prefixed("", names.Findings, last), false
	}
	if slices.ContainsFunc(words[:max(len(words)-1, 0)], func(w string) bool { return slices.Contains(views, w) }) {
		return nil, false
	}
	return prefixed("", views, last), false
}

// values returns what may stand for the value of a flag, as far as that is known; files reports
// whether it is a path.
func (f flag) values(names Known) (all []string, files bool) {
	switch f.name {
	case "demo":
		return append(scenarios(), DemoList), false
	case "kubelet-version":
		for r := pleg.Oldest; r <= pleg.Newest; r++ {
			all = append(all, r.String())
		}
	case "events":
		for _, s := range eventSources {
			all = append(all, s.String())
		}
		all = append(all, "off")
	case "sort":
		_, all = pods.Column("")
	case "namespace":
		return names.Namespaces(), false
	}
	return append(all, f.choices...), slices.Contains([]string{"file", "folder", "socket"}, f.kind)
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

// A completion is a shell's own words for: ask plegtop what may stand here, see [Complete].
const (
	bash = `_plegtop() {
	local line=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]}
	local -a words
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	mapfile -t COMPREPLY < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
	if [[ ${COMPREPLY[0]} == :files ]]; then
		compopt -o filenames
		[[ $cur == = ]] && cur=
		mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]:1}"; compgen -f -- "$cur")
	fi
	[[ ${words[-1]} == --*=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
}
complete -F _plegtop plegtop
`
	zsh = `#compdef plegtop
_plegtop() {
	local -a all
	all=("${(@f)$("$words[1]" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ $all[1] == :files ]]; then
		shift all
		_files
	fi
	(( $#all )) && compadd -- $all
}
if [[ $funcstack[1] == _plegtop ]]; then _plegtop; else compdef _plegtop plegtop; fi
`
	fish = `function __plegtop
    set -l words (commandline -opc)
    set -e words[1]
    set -l all (plegtop completion words -- $words (commandline -ct) 2>/dev/null)
    if test "$all[1]" = :files
        set -e all[1]
        __fish_complete_path (commandline -ct)
    end
    printf '%s\n' $all
end
complete -c plegtop -f -a '(__plegtop)'
`
)

// Completion returns what makes a shell complete the words of plegtop: "bash", "zsh" or "fish"; for
// "man" the manual page, for section 8. It fails for any other words.
func Completion(words ...string) (string, error) {
	shell := strings.Join(words, " ")
	switch shell {
	case "bash":
		return bash, nil
	case "zsh":
		return zsh, nil
	case "fish":
		return fish, nil
	case "man":
		return manual(), nil
	}
	return "", fmt.Errorf("completion: want bash, zsh, fish or man, not %q: source <(plegtop completion bash)", shell)
}

// manual returns the manual page as roff.
func manual() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say(".TH PLEGTOP 8\n.SH NAME\nplegtop \\- %s\n.SH SYNOPSIS", roff(about))
	for _, use := range uses {
		say(".TP\n.B plegtop [flags]%s\n%s", roff(use[0]), roff(use[1]))
	}
	say(".SH OPTIONS")
	for _, g := range new(Options).groups() {
		say(".SS %s", roff(g.title))
		for _, f := range g.flags {
			kind, usage := f.said()
			name := "--" + f.name
			if f.short != "" {
				name = "-" + f.short + ", " + name
			}
			say(".TP\n.B %s%s\n%s", roff(name), roff(kind), roff(usage))
		}
	}
	say(".SH EXIT STATUS\n.B check\nends with 0 (nothing worse than info), 1 (a warning), 2 (critical) or 3 (it could not look).")
	say(".SH SEE ALSO\n.BR crictl (1),\nplegtop explain, /usr/share/doc/plegtop")
	return b.String()
}

// roff returns a text as roff reads it: a dash is one, and no line begins with a command.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
