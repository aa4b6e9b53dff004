package vscode

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The package is an extension of the files in dist, without the times and modes of a
// machine and the same each time.
func TestPackage(t *testing.T) {
	packed, err := Package()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Package(); err != nil || !bytes.Equal(again, packed) {
		t.Errorf("packed again it is another file (%v)", err)
	}
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
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(filepath.Join("dist", filepath.FromSlash(f.Name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what was built (%v)", f.Name, err)
		}
	}
	for _, name := range []string{"[Content_Types].xml", "extension.vsixmanifest", "extension/package.json", "extension/out/extension.js", "extension/out/sdk.js"} {
		if !found[name] {
			t.Errorf("%s is missing", name)
		}
	}
}
