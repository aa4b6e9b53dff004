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
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/tools/picture"
	"github.com/bb2d0cf4/agent/tools/picture/cast"
)

var picturesDir = flag.String("pictures", "", "write the pictures of the README to this folder")

// darkTerminal is a terminal for pictures.
func darkTerminal(t *testing.T) *ptytest.Terminal {
	return ptytest.New(t, vt.Options{Width: 100, Height: 34, Background: "rgb:1b1b/1d1d/2323"})
}

// TestPictures plays the demo, records it and takes pictures of it for the README and the
// pages of docs, so that they match the program.
func TestPictures(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	d := &desk{t: t, Terminal: darkTerminal(t)}
	cmd := exec.Command("agent", "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=")
	d.Start(cmd)
	var look pauses

	d.asked(`edit median.go \+5 −1`)
	d.picture("question", "edit median.go", "10 unchanged lines", "y yes")
	look.add(d, 5*time.Second)
	d.Press("y")
	d.asked(`\$ go test \./\.\.\.`)
	look.add(d, 3*time.Second)
	d.Press("y")
	d.WaitFor(`The tests pass`)
	d.idle()
	look.add(d, 4*time.Second)
	film(d, look, tmp)
	d.Type("/")
	d.WaitFor(`/undo .*undo the last`)
	d.picture("palette", "❯ /", "/undo")
	d.Press("ctrl+u")
	d.leave()
}

// greeting is the script of a session that plans and edits.
const greeting = `context_window: 32000
turns:
  - text: I read the program first.
    calls: [{tool: read_file, args: {path: main.go}}]
  - text: I have read enough.
    calls:
      - tool: present_plan
        args:
          plan: |
            # Greet politely

            1. ` + "`main.go`" + `: say *good day* instead of hello.
            2. ` + "`main_test.go`" + `: test the new greeting.
            3. Run ` + "`go test ./...`" + `.

            Nothing else says hello.
  - calls: [{tool: edit_file, args: {path: main.go, old_string: hello, new_string: good day}}]
  - text: All done.
    usage: {input: 12400, output: 300}
`

// TestPicturesOfAPlan takes the pictures of a plan and of the model's context.
func TestPicturesOfAPlan(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), map[string]string{"main.go": program, "greeting.yaml": greeting})
	d.env = append(d.env, "NO_COLOR=", "AGENT_MODEL=script:greeting.yaml")
	d.Terminal = darkTerminal(t)
	d.launch("--permission-mode", "plan")
	d.say("be polite")
	d.WaitFor(`the plan`)
	d.awake("y carry it out")
	d.picture("plan", "the plan", "Greet politely", "carry it out, accept edits")
	d.Press("2")
	d.WaitFor(`All done`)
	d.idle()
	d.say("/context")
	d.WaitFor(`/context full shows`)
	d.idle()
	d.picture("context", "❯ /context", "System prompt", "Tool results", "Free")
	d.leave()
}

// TestPictureOfATurn takes the picture of the review of a turn.
func TestPictureOfATurn(t *testing.T) {
	t.Parallel()
	d, _ := turnDesk(t)
	d.env = append(d.env, "NO_COLOR=")
	d.Terminal = darkTerminal(t)
	d.launch()
	d.say("change all")
	d.asked(`all changes of this turn: 12 files`)
	d.picture("turn", "all changes of this turn", "f12.txt", "y accept")
	d.Press("n")
	d.idle()
	d.leave()
}

// pauses are the moments at which a viewer reads the screen.
type pauses []pause

type pause struct {
	after int // bytes of output
	long  time.Duration
}

func (p *pauses) add(d *desk, long time.Duration) {
	d.Sync()
	*p = append(*p, pause{len(d.Bytes()), long})
}

// quick is the longest time between two pauses in a recording, whatever the machine's
// speed.
const quick = 3 * time.Second

// record returns the terminal's output until the last of the pauses.
func (p pauses) record(outputs []ptytest.Output, hide string) *cast.Recording {
	r := &cast.Recording{Width: 100, Height: 34, Title: "agent demo"}
	var clock time.Duration
	size := 0
	for _, stop := range p {
		n, end := 0, size
		for ; n < len(outputs) && end < stop.after; n++ {
			end += len(outputs[n].Data)
		}
		part := outputs[:n]
		outputs, size = outputs[n:], end
		if n == 0 {
			continue
		}
		begin, slow := part[0].At, 1.0
		if took := part[n-1].At.Sub(begin); took > quick {
			slow = float64(quick) / float64(took)
		}
		for _, out := range part {
			data := bytes.ReplaceAll(out.Data, []byte(hide), []byte("/tmp"))
			r.Add(clock+time.Duration(slow*float64(out.At.Sub(begin))), data)
		}
		clock = r.Events[len(r.Events)-1].At + stop.long
	}
	r.Add(clock, nil)
	return r
}

// film checks the recording and, with -pictures, writes it as docs/pictures/demo.cast
// and as the animation demo.svg.
func film(d *desk, p pauses, tmp string) {
	d.t.Helper()
	file, err := p.record(d.Outputs(), tmp).Marshal()
	if err != nil {
		d.t.Fatal(err)
	}
	rec, err := cast.Parse(file)
	if err != nil {
		d.t.Fatal(err)
	}
	svg := picture.Film(rec)
	text := textOf(d.t, svg)
	for _, w := range []string{"The tests fail. Find out", "10 unchanged lines", "y yes", "Run go test ./...", "The tests pass"} {
		if !strings.Contains(text, w) {
			d.t.Errorf("the recording does not show %q:\n%s", w, text)
		}
	}
	if bytes.Contains(file, []byte(filepath.Base(filepath.Dir(tmp)))) {
		d.t.Errorf("the recording shows a path of this machine")
	}
	if len(svg) > 300<<10 || len(file) > 300<<10 {
		d.t.Errorf("the recording has %d bytes, its picture %d", len(file), len(svg))
	}
	keep(d.t, "demo.cast", file)
	keep(d.t, "demo.svg", svg)
}

// picture renders the screen, from the first row with the prefix, and checks that the
// SVG contains the words. With -pictures it writes docs/pictures/NAME.svg.
func (d *desk) picture(name, from string, words ...string) {
	d.t.Helper()
	var svg []byte
	d.Look(func(m *vt.Terminal) { svg = picture.SVG(m, picture.Options{Title: "agent", From: from}) })
	text := textOf(d.t, svg)
	for _, w := range words {
		if !strings.Contains(text, w) {
			d.t.Errorf("%s does not show %q:\n%s", name, w, text)
		}
	}
	if strings.Contains(text, os.TempDir()) {
		d.t.Errorf("%s shows a path of this machine:\n%s", name, text)
	}
	keep(d.t, name+".svg", svg)
}

// keep writes a file of docs/pictures, with -pictures.
func keep(t *testing.T, name string, data []byte) {
	t.Helper()
	if *picturesDir == "" {
		return
	}
	scratch.Write(t, filepath.Join(*picturesDir, name), string(data))
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
