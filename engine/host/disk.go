package host

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// disk is the part that tells what is left of the file system that holds path, or
// if that is empty the root of the runtime at the endpoint.
func disk(root, path, endpoint string) part {
	own := ownRoot{root: root, endpoint: endpoint}
	var looked atomic.Value // string: the folder of the last look, which may hang
	looked.Store(path)
	return partOf("disk", diskOf, func(context.Context) evidence.Disk {
		at := path
		if at == "" {
			at = own.find()
		}
		looked.Store(at)
		return readDisk(root, at, endpoint) // hangs on a file system that has gone away
	}, func(d *evidence.Disk, err error) { *d = missingDisk(looked.Load().(string), err) })
}

func diskOf(r *evidence.Report) *evidence.Disk { return &r.Disk }

func readDisk(root, path, endpoint string) evidence.Disk {
	if path != "" {
		d, err := statDisk(root, path)
		if err != nil {
			return missingDisk(path, err)
		}
		return d
	}
	for _, known := range knowledge.At(endpoint) { // a folder alone says nothing: another runtime may have left it
		d, err := statDisk(root, known.Data)
		if err == nil {
			return d
		}
		if known.Data != "" && !errors.Is(err, fs.ErrNotExist) {
			return missingDisk(known.Data, err)
		}
	}
	return evidence.Disk{Missing: "it is not known where the runtime keeps its data"}
}
