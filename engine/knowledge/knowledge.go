// Package knowledge holds what plegtop knows of nodes, as tables that an SRE can read, doubt and
// add to: how distributions differ, which lines of the kernel's log count, what kernel functions
// wait for, how long helpers take, which locks the runtimes have, which bugs are known, and what
// ends a trouble.
//
// A table is one YAML file, and a row is one struct. An unknown field is an error. Every row has a
// source: a document, an issue, or a file of the kernel or of a runtime. The flavours are parsed at
// the start, every other table when it is first needed; a test parses all of them. Nothing in a table
// may be changed, and everything here is safe for concurrent use.
package knowledge

import (
	"bytes"
	"embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// lazy returns a function that returns the rows of a file. The file is parsed at the first call.
func lazy[Row any](file string) func() []Row {
	return sync.OnceValue(func() []Row { return rows[Row](file) })
}

// rows returns the rows of a file. It panics if the file cannot be parsed: the file is part of the program, and a test
// parses it.
func rows[Row any](file string) []Row {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(err)
	}
	all, err := parse[Row](text)
	if err != nil {
		panic(fmt.Errorf("%s: %w", file, err))
	}
	return all
}

// parse reads the rows of a table strictly: a field that a row does not have is an error.
func parse[Row any](text []byte) (all []Row, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("parse the table: %w", err)
	}
	return all, nil
}
