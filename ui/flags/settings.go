package flags

import "github.com/plegtop/plegtop/ui/config"

// Settings reads the settings file and lays the flags over it.
func (o Options) Settings() (config.Settings, error) {
	set, err := config.Load(o.Config)
	if err != nil {
		return set, err
	}
	set.ASCII = set.ASCII || o.ASCII
	if o.Theme != "" {
		set.Theme = o.Theme
	}
	if len(o.Namespaces) > 0 {
		set.Namespaces = o.Namespaces
	}
	if set.Period == 0 || o.PeriodGiven {
		set.Period = o.Period
	}
	return set, nil
}
