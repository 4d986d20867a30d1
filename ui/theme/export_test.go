package theme

import "image/color"

// Backgrounds returns what backgrounds each theme is made for.
func Backgrounds() map[string][]color.Color {
	all := map[string][]color.Color{}
	for _, t := range themes {
		all[t.name] = t.on
	}
	return all
}
