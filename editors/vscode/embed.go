// Package vscode carries the extension for VS Code inside the program, in whichever
// way that was built.
package vscode

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
	"strings"
	"time"
)

// dist is made by "make vsix". The tests hold that it is up to date.
//
//go:embed all:dist
var dist embed.FS

// begin is the first time that a zip file knows.
var begin = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Package returns the bytes of the extension's .vsix file, the same ones each time.
func Package() ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: strings.TrimPrefix(name, "dist/"), Method: zip.Deflate, Modified: begin}
		header.SetMode(0o644)
		f, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
