package diagnose

import "github.com/plegtop/plegtop/engine/knowledge"

// DiskFull is a store of the runtime that has no room.
const DiskFull ID = "disk-full"

// The kubelet evicts pods below 15 % free for images, 10 % for the rest and 5 % of the inodes. Below the following
// shares the eviction has not helped.
const (
	freeShare   = 0.05
	freeEnough  = 10 << 30 // this many bytes are enough on any disk, however small a share of it they are
	inodesShare = 0.03
)

// The rule applies when a store of the runtime has no room or no inode, or hardly any; or when a call reports that.
var diskFull = Rule{
	ID: DiskFull, Warned: AtRisk,
	Find: func(f *Facts, report func(Match)) {
		text, _ := f.complaint(knowledge.NoSpace)
		found := false
		for _, s := range f.stores() {
			v := Values{"store": s.name, "path": s.Path, "place": s.place(), "complaint": text, "total": bytes(s.Total), "free": bytes(s.Free)}
			report := func(variant, group string, share float64, full bool) {
				severity := Warning
				if full {
					severity = Critical
				}
				found = true
				report(Match{
					Variant: variant, Severity: severity, Group: s.name + group, Values: v.with(Values{"share": percent(100 * share)}),
					Lines: map[string][]line{"first": notBefore(s.waitsFor())},
					Steps: map[string][]Step{"+prune": f.pruning(s, variant == "inodes")},
				})
			}
			left, free := max(s.Left, s.Free), float64(s.Free)/float64(max(s.Total, 1))
			if s.Total > 0 && (free < freeShare && s.Free < freeEnough || left < leastLeft && left < s.Total/2) {
				report("", "", free, left < leastLeft)
			}
			if unused := float64(s.InodesUnused) / float64(max(s.Inodes, 1)); s.Inodes > 0 && unused < inodesShare {
				v["inodes"], v["unused"] = s.Inodes, s.InodesUnused
				report("inodes", " inodes", unused, s.noInodes())
			}
		}
		if !found && text != "" {
			report(Match{
				Variant: "complaint", Severity: Warning, Values: Values{"complaint": text, "excerpt": extract(text)},
				Lines: map[string][]line{"first": notBefore("there is room on its disk")},
				Steps: map[string][]Step{"+prune": f.pruning(store{Disk: f.Look.Disk}, false)},
			})
		}
	},
}
