package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// About says what a line of the kernel's log is about. That decides which findings the line explains.
type About string

// These are what a line may be about. Rows with "over" are for the end of a trouble.
const (
	AboutTask    About = "task"    // a process that does not go on, by its number
	AboutDisk    About = "disk"    // a disk, an array, a pool or the file system on it
	AboutServer  About = "server"  // a file server
	AboutSession About = "session" // the connection to the server of a disk
	AboutNetwork About = "network" // a network device
	AboutKill    About = "kill"    // a process that was killed because memory was short
	AboutNode    About = "node"    // processors, memory or hardware of the whole node
	AboutGroup   About = "group"   // a control group at its limit
)

// A KernelLine is a kind of line of the kernel's log.
type KernelLine struct {
	Kind   string // the name of the kind in evidence
	About  About
	Source string
	Words  []string // a line of the kind has one of these
	Find   string   // a regular expression, whose groups may be pid, command, owner, device and group
	Bare   bool     // a line with one of the words counts even if Find does not match
	Failed string   // for a disk: "read" or "write", if the line says which of them failed
	Over   bool     // the line says that the trouble of this kind with the device is over

	find *regexp.Regexp
}

// kernelLines returns the rows, with their expressions compiled.
var kernelLines = sync.OnceValue(func() []KernelLine {
	all := rows[KernelLine]("kernel-lines.yaml")
	for i := range all {
		all[i].find = regexp.MustCompile(all[i].Find)
	}
	return all
})

// A KernelMatch is a line of the kernel's log and what it names.
type KernelMatch struct {
	*KernelLine
	PID, Command, Owner, Device, Group string // empty if the line does not name it
}

// MatchKernel returns the first row that a text of the kernel's log matches, and what the text names. counts is false
// if no row matches.
func MatchKernel(text string) (m KernelMatch, counts bool) {
	all := kernelLines()
	for i := range all {
		row := &all[i]
		if !slices.ContainsFunc(row.Words, func(w string) bool { return strings.Contains(text, w) }) {
			continue
		}
		found := row.find.FindStringSubmatch(text)
		if found == nil && !row.Bare {
			continue
		}
		m = KernelMatch{KernelLine: row}
		for i, name := range row.find.SubexpNames() {
			if found == nil || found[i] == "" {
				continue
			}
			switch name {
			case "pid":
				m.PID = found[i]
			case "command":
				m.Command = found[i]
			case "owner":
				m.Owner = found[i]
			case "device":
				m.Device = found[i]
			case "group":
				m.Group = found[i]
			}
		}
		return m, true
	}
	return m, false
}

// A FileSystem is a kind of file system, or several kinds, behind which there is a server or a program, and not a disk
// of the node.
type FileSystem struct {
	Name      string // as people call it
	Source    string
	Types     []string // how the names of its mount types begin; empty for a disk over the network
	Functions []string // how the names of the kernel functions begin in which a thread waits for it
}

// FileSystems returns all rows of the table.
var FileSystems = lazy[FileSystem]("kernel-servers.yaml")

// A KernelWait is a reason for which threads wait in the kernel.
type KernelWait struct {
	Reason    string // such as "memory"
	Source    string
	Begins    []string // how the names of the functions begin in which a thread waits for this reason
	Functions []string // parts of the names of such functions
}

// KernelWaits returns all rows of the table.
var KernelWaits = lazy[KernelWait]("kernel-waits.yaml")

// WaitsFor reports whether a thread that sleeps in a function of the kernel waits for a reason.
func WaitsFor(reason, function string) bool {
	return slices.ContainsFunc(KernelWaits(), func(w KernelWait) bool {
		return w.Reason == reason && (beginsAs(function, w.Begins) || slices.ContainsFunc(w.Functions, func(part string) bool { return strings.Contains(function, part) }))
	})
}

func beginsAs(name string, begins []string) bool {
	return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
