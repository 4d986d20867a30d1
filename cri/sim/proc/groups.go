package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// groupsFolder is where the unified hierarchy of control groups is mounted.
const groupsFolder = "/sys/fs/cgroup"

const (
	populated = "populated 1\nfrozen 0\n"
	deserted  = "populated 0\nfrozen 0\n"
)

func (f *Folder) groupFile(path, name string) string {
	return filepath.Join(f.dir, groupsFolder, path, name)
}

// followGroups has the folder show the control groups of these processes. One that its
// last process has left is there, deserted, until the next time.
func (f *Folder) followGroups(all []Process) error {
	members := map[string]string{}
	for _, p := range all {
		if p.Cgroup != "" {
			members[p.Cgroup] += strconv.Itoa(p.PID) + "\n"
		}
	}
	for path, was := range f.groups {
		switch _, stays := members[path]; {
		case stays:
		case was != "":
			members[path] = ""
		default:
			if err := f.removeGroup(path); err != nil {
				return err
			}
		}
	}
	for path, pids := range members {
		was, there := f.groups[path]
		if there && was == pids {
			continue
		}
		var err error
		if there {
			err = f.changeGroup(path, pids)
		} else {
			err = f.addGroup(path, pids)
		}
		if err != nil {
			return err
		}
		f.groups[path] = pids
	}
	return nil
}

// addGroup makes a group with all its files at once, as the kernel does.
func (f *Folder) addGroup(path, pids string) error {
	err := os.Mkdir(f.coming(), 0o700)
	for name, text := range map[string]string{"cgroup.procs": pids, "cgroup.events": populated} {
		err = errors.Join(err, os.WriteFile(filepath.Join(f.coming(), name), []byte(text), 0o600))
	}
	if err != nil {
		return err
	}
	at := f.groupFile(path, "")
	return within(at, func() error { return os.Rename(f.coming(), at) })
}

// changeGroup writes into the files that are there: whoever watches them sees it, and
// finds the state whole.
func (f *Folder) changeGroup(path, pids string) error {
	if err := os.WriteFile(f.groupFile(path, "cgroup.procs"), []byte(pids), 0o600); err != nil {
		return err
	}
	state := populated
	if pids == "" {
		state = deserted
	}
	events, err := os.OpenFile(f.groupFile(path, "cgroup.events"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = events.WriteAt([]byte(state), 0)
	return errors.Join(err, events.Close())
}

// removeGroup removes a group, and the pod's above it if that was its last one.
func (f *Folder) removeGroup(path string) error {
	delete(f.groups, path)
	if err := os.RemoveAll(f.groupFile(path, "")); err != nil {
		return err
	}
	_ = os.Remove(f.groupFile(filepath.Dir(path), ""))
	return nil
}
