// Package vscode carries the extension for VS Code inside the program. It
// guarantees that a build without the extension works too and says so.
package vscode

import (
	"embed"
	"errors"
	"io/fs"
)

// dist holds agent.vsix after "make vsix"; it is empty in a plain checkout.
//
//go:embed all:dist
var dist embed.FS

// ErrNotBuilt is returned by Package if the program was built without the
// extension.
var ErrNotBuilt = errors.New("the VS Code extension is not inside this build of agent; " +
	"build it with \"make vsix\" and then \"make build\", or install agent.vsix by hand")

// Package returns the bytes of the extension's .vsix file.
func Package() ([]byte, error) {
	return packageFrom(dist)
}

func packageFrom(files fs.FS) ([]byte, error) {
	data, err := fs.ReadFile(files, "dist/agent.vsix")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	return data, err
}
