package lines

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A topic is what docs/guide.md says of one finding.
type topic struct {
	id, meaning string
	facts       []fact // cause, check, act and background, in this order
}

type fact struct{ label, text string }

// Explain writes what a guide, the text of docs/guide.md, says of the finding of an id; for no id
// what each finding means. It returns [ExitOK], and with an error another exit code: [ExitCannotTell] where
// the guide does not have the id.
func Explain(w io.Writer, guide, id string, o CheckOptions) (code int, err error) {
	topics := topicsOf(guide)
	if id != "" {
		topics = slices.DeleteFunc(topics, func(t topic) bool { return t.id != id })
	}
	if len(topics) == 0 {
		return ExitCannotTell, fmt.Errorf("explain: no finding is called %q%s", id, cmp.Or(keymap.Meant(keymap.Nearest(id, Topics(guide))), "; plegtop explain lists all"))
	}
	_, err = w.Write(o.write(nil, func(d *widget.Doc, look *theme.Theme) {
		d.Labels = max(labels, longest(topics)+gap)
		for i, t := range topics {
			if i > 0 {
				d.Line()
			}
			t.write(d, look, id != "")
		}
	}))
	if err != nil {
		return ExitWarning, fmt.Errorf("write what explain says: %w", err)
	}
	return ExitOK, nil
}

// gap is how many cells are between an id and what it means.
const gap = 2

// longest returns how wide the longest id is.
func longest(topics []topic) (width int) {
	for _, t := range topics {
		width = max(width, text.Width(t.id))
	}
	return width
}

// Topics returns the ids that a guide has.
func Topics(guide string) (ids []string) {
	for _, t := range topicsOf(guide) {
		ids = append(ids, t.id)
	}
	return ids
}

// write writes what a finding means, and if whole where it comes from and what to do.
func (t topic) write(d *widget.Doc, look *theme.Theme, whole bool) {
	var s widget.Section
	s.Add(widget.Styled(t.id, widget.Plain, look.Strong, t.meaning))
	for _, f := range t.facts {
		if whole {
			s.Add(widget.Fact(f.label, widget.Plain, f.text))
		}
	}
	d.Sections(s)
}

// A link of Markdown says where else to read: on a terminal its words are enough.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// topicsOf reads a guide: a heading for each finding, below it what it means, and items that begin
// with what they are.
func topicsOf(guide string) (all []topic) {
	for _, s := range strings.Split(link.ReplaceAllString(guide, "$1"), "\n## ")[1:] {
		id, said, _ := strings.Cut(s, "\n")
		meaning, items, _ := strings.Cut(strings.TrimSpace(said), "\n\n")
		t := topic{id: id, meaning: meaning}
		for item := range strings.SplitSeq(items, "\n") {
			label, said, ok := strings.Cut(strings.TrimPrefix(item, "- "), ": ")
			if ok {
				t.facts = append(t.facts, fact{strings.ToLower(label), strings.ReplaceAll(said, "`", "")})
			}
		}
		all = append(all, t)
	}
	return all
}
