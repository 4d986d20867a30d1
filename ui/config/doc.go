// Package config reads the settings of the screen from a YAML file. Nothing in
// a file is ignored: what is not understood is an error that names file, line
// and key, so that a typing error never goes unseen.
package config
