//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ptytest"
	"github.com/bb2d0cf4/agent/internal/ptytest/picture"
	"github.com/bb2d0cf4/agent/internal/ptytest/vt"
)

var picturesDir = flag.String("pictures", "", "write the pictures of the README to this folder")

// TestPictures plays the demo and takes the pictures of the README on the way, so
// that they show what the program shows.
func TestPictures(t *testing.T) {
	tmp := t.TempDir()
	d := &desk{t: t, Terminal: ptytest.New(t, vt.Options{Width: 100, Height: 34, Background: "rgb:1b1b/1d1d/2323"})}
	cmd := exec.Command("agent", "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=")
	d.Start(cmd)

	d.asked(`edit median.go \+5 −1`)
	d.picture("review", "❯ The tests fail", "10 unchanged lines", "y yes")
	d.Press("y")
	d.asked(`\$ go test \./\.\.\.`)
	d.Press("y")
	d.WaitFor(`The tests pass`)
	d.idle()
	d.picture("done", "● Edit", "Run go test ./...", "The tests pass")
	d.Type("/")
	d.WaitFor(`/undo .*take back`)
	d.picture("palette", "/model", "/undo")
	d.Press("ctrl+u")
	d.leave()
}

// picture writes the screen, from the first row that begins so, as docs/pictures/NAME.svg, if that is wanted,
// and checks that it is an SVG file that shows the words.
func (d *desk) picture(name, from string, words ...string) {
	d.t.Helper()
	var svg []byte
	d.Look(func(m *vt.Terminal) { svg = picture.SVG(m, picture.Options{Title: "agent demo", From: from}) })
	text := textOf(d.t, svg)
	for _, w := range words {
		if !strings.Contains(text, w) {
			d.t.Errorf("%s does not show %q:\n%s", name, w, text)
		}
	}
	if strings.Contains(text, os.TempDir()) {
		d.t.Errorf("%s shows a path of this machine:\n%s", name, text)
	}
	if *picturesDir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*picturesDir, name+".svg"), svg, 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// textOf returns the text of an SVG file.
func textOf(t *testing.T, svg []byte) string {
	t.Helper()
	var b strings.Builder
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("no valid SVG: %v", err)
		}
		if c, ok := tok.(xml.CharData); ok {
			b.Write(c)
		}
	}
}
