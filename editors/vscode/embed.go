// Package vscode carries the extension for VS Code inside the program, in whichever
// way that was built.
package vscode

import _ "embed"

// packed is what "make vsix" has built. The tests hold that it is up to date.
//
//go:embed dist/agent.vsix
var packed string

// Package returns the bytes of the extension's .vsix file.
func Package() []byte { return []byte(packed) }
