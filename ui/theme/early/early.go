// Package early hides the variable TMUX while Lip Gloss is initialised. Within tmux that
// runs `tmux info` and waits for it, whatever the program is called for: 20 ms of each
// start, and all of it if tmux hangs. What it learns by that we know from elsewhere.
//
// Go initialises packages in the order of their paths as soon as what they import is
// ready. This one imports nothing but the standard library, and github.com/xo/terminfo,
// which Lip Gloss needs, comes after it. A test of ui/e2e sees whether that holds.
package early

import "os"

const name = "TMUX"

var value, set = os.LookupEnv(name)

func init() { _ = os.Unsetenv(name) }

// Over shows the variable again. It is for the initialisation of a package that imports
// Lip Gloss.
func Over() {
	if set {
		_ = os.Setenv(name, value)
	}
}
