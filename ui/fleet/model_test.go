package fleet

import (
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/theme"
)

func look() Look { return Look{Keys: keymap.Default(), Theme: theme.Default()} }
