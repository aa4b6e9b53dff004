//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"image"
	"image/png"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// view is a state of the screen that only the whole program has: the way there, and a
// pattern that shows it is reached.
type view struct {
	name   string
	config string
	reach  func(d *desk)
	shows  string
}

// views are taken after a turn that changed two files.
var views = []view{
	{"rewind", "", func(d *desk) { d.say("/rewind") }, `(?m)^› be polite`},
	{"diff", "", func(d *desk) { d.say("/diff") }, `(?s)/diff.*main\.go.*❯`},
	{"diff-file", "", func(d *desk) { d.say("/diff main.go") }, `(?s)/diff.*good day.*❯`},
	{"undo", "", func(d *desk) {
		d.say("/undo turn")
		d.awake("y yes")
	}, `y accept the files`},
	{"vi-normal", "interface:\n  input: vi\n", func(d *desk) {
		d.Type("one two")
		d.WaitFor(`one two`)
		d.Press("esc")
	}, `❮ one two`},
	{"search-all", "", func(d *desk) { d.Press("ctrl+r", "ctrl+s") }, `search all projects`},
	{"search-none", "", func(d *desk) {
		d.Press("ctrl+r")
		d.WaitFor(`search`)
		d.Type("zzz")
	}, `zzz`},
	{"paste", "", func(d *desk) {
		d.Type("see ")
		d.Paste(strings.Repeat("a line\n", 200))
	}, `pasted 200`},
	{"image", "", func(d *desk) {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 12, 8))); err != nil {
			d.t.Fatal(err)
		}
		d.write("shot.png", b.String())
		d.Type("see ")
		d.Paste(d.path("shot.png"))
	}, `image 1: shot\.png`},
}

// The states that only the whole program has, at four widths.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, v := range views {
		for _, width := range []int{40, 80, 120, 200} {
			t.Run(fmt.Sprintf("%s-%d", v.name, width), func(t *testing.T) {
				t.Parallel()
				d := shownDesk(t)
				d.keep("config.yaml", v.config)
				d.turn(width)
				v.reach(d)
				d.WaitFor(v.shows)
				d.golden(fmt.Sprintf("%s-%d", v.name, width), (*vt.Terminal).String)
			})
		}
	}
}

// The colors of each theme: an answer, an applied edit, and a question.
func TestColors(t *testing.T) {
	t.Parallel()
	for _, name := range theme.Names() {
		if name == theme.None {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := shownDesk(t)
			d.keep("config.yaml", "interface:\n  theme: "+name+"\n")
			d.turn(80)
			d.say("more")
			d.asked(`moin`)
			d.golden("colors-"+name, colored)
		})
	}
}

// shownDesk returns a desk whose folder's name has the same length in every run.
func shownDesk(t *testing.T) *desk {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the folders on the screens are those of Linux")
	}
	calls := func(from, to string) llmtest.Turn {
		turn := editCall(from, to)
		turn.Calls = append(turn.Calls, writeCall("notes.txt", to+"\n"))
		return turn
	}
	answer := "Changed, **as you like**:\n\n```go\nfunc main() {\n\tprintln(\"good day\") // polite\n}\n```\n"
	d := newDesk(t, llmtest.NewServer(t, calls("hello", "good day"), llmtest.Turn{Text: answer}, editCall("good day", "moin")), nil)
	var name [4]byte
	_, _ = rand.Read(name[:]) // it never fails
	d.dir = fmt.Sprintf("/tmp/agent-%x", name)
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(d.dir); err != nil {
			t.Error(err)
		}
	})
	d.write("main.go", program)
	d.env = append(d.env, "AGENT_MODEL=openai/gpt-4o")
	return d
}

// turn lets the model change two files.
func (d *desk) turn(width int) {
	d.t.Helper()
	d.Terminal = ptytest.New(d.t, vt.Options{Width: width, Height: 30})
	d.run("agent")
	d.WaitFor(`(?m)^❯`)
	d.say("be polite")
	for _, file := range []string{`(?m)^edit main\.go`, `(?m)^create notes\.txt`} {
		d.asked(file)
		d.Press("y")
	}
	d.WaitFor(`as you like`)
	d.idle()
}

// passing are the parts that differ between runs: folder, times, counts.
var passing = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`agent-[0-9a-f]{8}`), "agent-00000000"},
	{regexp.MustCompile(`· \d+s ·`), "· 0s ·"},
	{regexp.MustCompile(`\d+ seconds? ago|just now`), "just now"},
	{regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`), "●"},
}

// golden compares the output of look with a file, once two looks with a frame in
// between agree.
func (d *desk) golden(name string, look func(*vt.Terminal) string) {
	d.t.Helper()
	got := ""
	for last := "-"; got != last; {
		last = got
		<-time.After(60 * time.Millisecond) // two frames
		d.Sync()
		d.Look(func(m *vt.Terminal) { got = strings.TrimRight(look(m), "\n ") + "\n" })
		for _, p := range passing {
			got = p.re.ReplaceAllString(got, p.by)
		}
	}
	golden.File(d.t, "screens/"+name, got)
}

// colored returns the screen with each style at its start.
func colored(m *vt.Terminal) string {
	var b strings.Builder
	for y, row := range m.Screen() {
		style := ""
		for x := range len([]rune(row)) {
			c := m.Cell(x, y)
			if c.Style != style {
				style = c.Style
				fmt.Fprintf(&b, "⟦%s⟧", style)
			}
			b.WriteString(c.Text)
			if c.Text == "" {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
