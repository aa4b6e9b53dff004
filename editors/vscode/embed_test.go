package vscode

import (
	"archive/zip"
	"bytes"
	"testing"
)

// The package is an extension, without the times and modes of a machine.
func TestPackage(t *testing.T) {
	packed := Package()
	files, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range files.File {
		found[f.Name] = true
		if f.Mode() != 0o644 || f.Modified.Year() != 1980 {
			t.Errorf("%s has mode %v and the time %v", f.Name, f.Mode(), f.Modified)
		}
	}
	for _, name := range []string{"extension.vsixmanifest", "extension/package.json", "extension/out/extension.js"} {
		if !found[name] {
			t.Errorf("%s is missing", name)
		}
	}
}
