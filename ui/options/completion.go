package options

import (
	"fmt"
	"strings"
)

// A completion is a shell's own words for: ask plegtop what may stand here. A first line ":files"
// stands for the paths of files.
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
// "man" the manual page, for section 8. It fails for any other name.
func Completion(shell string) (string, error) {
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
