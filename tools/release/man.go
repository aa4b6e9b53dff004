package main

import (
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/bb2d0cf4/agent/internal/cli"
)

// writeManuals writes a page of the manual for each command.
func writeManuals(folder string) error {
	at, err := commitTime()
	if err != nil {
		return err
	}
	v, err := version()
	if err != nil {
		return err
	}
	root, err := cli.Commands()
	if err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &at, Source: "agent " + v, Manual: "agent"}, folder)
}
