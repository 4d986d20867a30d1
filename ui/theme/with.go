package theme

import (
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
)

// With returns a copy of t with these styles in the place of its own, by their names.
// A style is written in words, such as "bold red", "reverse", "#ff8800 on 236": attributes,
// a colour, and after "on" that of the background; "plain" is none of them. An error says
// which style is wrong, and what is possible.
func With(t Theme, styles map[string]string) (Theme, error) {
	l := *t.Lip
	known := maps.Collect(l.each())
	for _, name := range slices.Sorted(maps.Keys(styles)) {
		s, ok := known[name]
		if !ok {
			return t, fmt.Errorf("no style %q: want one of %s", name, strings.Join(styleNames(), ", "))
		}
		written, err := parse(styles[name])
		if err != nil {
			return t, fmt.Errorf("style %s: %w", name, err)
		}
		*s = written
	}
	t.Looks, t.Lip = compiled(l), &l
	return t, nil
}

func styleNames() (names []string) {
	for name := range new(Looks[Style]).each() {
		names = append(names, name)
	}
	return names
}

var attributes = map[string]func(lipgloss.Style) lipgloss.Style{
	"plain":     func(s lipgloss.Style) lipgloss.Style { return s },
	"bold":      func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) },
	"faint":     func(s lipgloss.Style) lipgloss.Style { return s.Faint(true) },
	"italic":    func(s lipgloss.Style) lipgloss.Style { return s.Italic(true) },
	"underline": func(s lipgloss.Style) lipgloss.Style { return s.Underline(true) },
	"reverse":   func(s lipgloss.Style) lipgloss.Style { return s.Reverse(true) },
}

// colours are the first 8 of the terminal's; the next 8 are bright ones.
var colours = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

func parse(text string) (lipgloss.Style, error) {
	s, paint := lipgloss.NewStyle(), lipgloss.Style.Foreground
	on := false
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		add, isAttribute := attributes[word]
		c, isColour := colour(word)
		switch {
		case word == "on" && !on:
			on, paint = true, lipgloss.Style.Background
		case isAttribute:
			s = add(s)
		case isColour && paint != nil:
			s, paint = paint(s, c), nil
		default:
			return s, fmt.Errorf("%q in %q: want %s; then one of %s, bright-red and so on, 0 to 255 or #rrggbb; and on with such a colour for the background",
				word, text, strings.Join(slices.Sorted(maps.Keys(attributes)), ", "), strings.Join(colours, ", "))
		}
	}
	if strings.TrimSpace(text) == "" || on && paint != nil {
		return s, fmt.Errorf("%q ends too early: want words such as bold red, reverse, #ff8800 on 236, or plain", text)
	}
	return s, nil
}

// colour returns the colour of that name, or false.
func colour(word string) (color.Color, bool) {
	name, bright := strings.CutPrefix(word, "bright-")
	if i := slices.Index(colours, name); i >= 0 {
		if bright {
			i += len(colours)
		}
		return lipgloss.Color(strconv.Itoa(i)), true
	}
	if n, err := strconv.ParseUint(word, 10, 8); err == nil {
		return lipgloss.Color(strconv.FormatUint(n, 10)), true
	}
	hex, isHex := strings.CutPrefix(word, "#")
	if _, err := strconv.ParseUint(hex, 16, 32); !isHex || err != nil || len(hex) != 3 && len(hex) != 6 {
		return nil, false
	}
	return lipgloss.Color(word), true
}
