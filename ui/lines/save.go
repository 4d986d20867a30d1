package lines

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/plegtop/plegtop/engine/osfile"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/text"
)

// Save writes events and gaps as NDJSON to a new file in the folder dir, and returns its
// path. Its name has that of the node and the time at. On an error no file of ours is left
// behind.
func Save(dir, node string, at time.Time, rows []model.Row) (string, error) {
	var data []byte
	for _, r := range rows {
		if r.Gap > 0 {
			data = appendGap(data, r.SeenAt, r.Gap)
		} else {
			data = appendEvent(data, r.Event)
		}
	}
	path, err := osfile.New(filepath.Join(dir, text.FileBase(node, at.UTC().Format("20060102T150405Z"))), ".ndjson", func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("save events: %w", err)
	}
	return path, nil
}
