//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// prompt waits until the prompt shows want, behind its sign.
func (d *desk) prompt(want string) {
	d.t.Helper()
	d.WaitUntil("the prompt "+want, func(m *vt.Terminal) bool {
		_, y := m.Cursor()
		return strings.TrimRight(m.Screen()[y], " ") == want
	})
}

// A line that begins with ! runs at once, since typing it is approval. The next prompt
// tells the model about it, once.
func TestALineForTheShell(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see.", "Nothing new."), nil)
	d.sit()
	d.Type("!echo $((40+2)) > made; cat made; exit 3")
	d.prompt("$ !echo $((40+2)) > made; cat made; exit 3")
	d.Press("enter")
	d.WaitFor(`✗ echo .* exit 3`)
	d.WaitFor(`(?m)^  42`)
	if got := d.read("made"); got != "42\n" {
		t.Errorf("made: %q", got)
	}
	d.idle()
	d.say("what was that?")
	d.WaitFor(`I see`)
	told := d.told(0)
	if !strings.HasPrefix(told, "The user ran these commands at the prompt") || !strings.Contains(told, "exit code: 3\n42\n") ||
		!strings.HasSuffix(told, "what was that?") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.say("and now?")
	d.WaitFor(`Nothing new`)
	if told := d.told(1); told != "and now?" {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.Press("up", "up", "up")
	d.prompt("$ !echo $((40+2)) > made; cat made; exit 3")
	d.Press("ctrl+c")
	d.leave()
}

func TestEscStopsALineForTheShell(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see."), nil)
	d.sit()
	d.say("!echo $$ > pid; echo started; exec sleep 600")
	d.WaitFor(`(?m)^  started`)
	d.say("next")
	d.WaitFor(`queued: next`)
	d.Press("esc")
	d.WaitFor(`✗ echo .* stopped`)
	d.prompt("❯ next") // it waited for the interrupted turn
	d.Press("enter")
	d.WaitFor(`I see`)
	if told := d.told(0); !strings.Contains(told, "stopped by the user\nstarted\n") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// A ! line typed during a turn runs after the turn, in order with the queued prompts.
func TestALineForTheShellWaits(t *testing.T) {
	t.Parallel()
	call := llmtest.Call{Name: "execute_command", Args: `{"command":"while [ ! -e go ]; do :; done"}`}
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{call}}, llmtest.Turn{Text: "It ran."}, llmtest.Turn{Text: "Second answer."}), nil)
	d.sit()
	d.say("run it")
	d.asked(`while`)
	d.Press("y")
	d.say("!echo between; touch there")
	d.say("then this")
	d.WaitFor(`queued: then this`)
	if _, err := os.Stat(d.path("there")); err == nil {
		t.Error("it did not wait")
	}
	d.write("go", "")
	d.WaitFor(`Second answer`)
	if body := string(d.request(1)); strings.Contains(body, "between") || strings.Contains(body, "then this") {
		t.Errorf("the running turn was told %s", body)
	}
	if told := d.told(2); !strings.Contains(told, "between") || !strings.HasSuffix(told, "then this") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// ↑ returns queued text to the prompt for editing.
func TestUpReturnsQueuedText(t *testing.T) {
	t.Parallel()
	call := llmtest.Call{Name: "execute_command", Args: `{"command":"while [ ! -e go ]; do :; done"}`}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{call}}, llmtest.Turn{Text: "It ran."}), nil)
	d.sit()
	d.say("run it")
	d.asked(`while`)
	d.Press("y")
	d.say("first")
	d.say("secund")
	d.WaitFor(`queued: secund`)
	d.Press("up")
	d.prompt("❯ secund")
	d.WaitUntil("one queued line", func(m *vt.Terminal) bool { return strings.Count(m.String(), "queued:") == 1 })
	d.Press("backspace", "backspace", "backspace")
	d.Type("ond")
	d.Press("enter")
	d.WaitFor(`queued: second`)
	d.write("go", "")
	d.WaitFor(`It ran`)
	if told := d.told(1); told != "first\n\nsecond" {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// The prompt can be edited in the user's editor, where a paste stays a placeholder and
// complete.
func TestThePromptInAnEditor(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see."), nil)
	scratch.Program(t, d.path("ed.sh"), "#!/bin/sh\ncp \"$1\" seen\nprintf 'first of all:\\n%s\\n' \"$(cat \"$1\")\" > \"$1\"\n")
	d.env = append(d.env, "EDITOR="+d.path("ed.sh"), "VISUAL=")
	d.sit()
	d.Type("look at ")
	d.Paste(strings.Repeat("line\n", 20))
	d.WaitFor(`pasted 20 lines #1`)
	d.Press("ctrl+g")
	d.WaitFor(`(?m)^❯ first of all:\n  look at \[pasted 20 lines #1\]`)
	if got := d.read("seen"); got != "look at [pasted 20 lines #1]" {
		t.Errorf("the editor was given %q", got)
	}
	d.Press("enter")
	d.WaitFor(`I see`)
	if told, want := d.told(0), "first of all:\nlook at "+strings.Repeat("line\n", 20); strings.TrimRight(told, "\n") != strings.TrimRight(want, "\n") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

func TestAnEditorThatFailsLeavesThePrompt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	d.env = append(d.env, "EDITOR=false", "VISUAL=")
	d.sit()
	d.Type("precious")
	d.Press("ctrl+g")
	d.WaitFor(`failed, so the prompt is unchanged`)
	d.prompt("❯ precious")
	d.Press("ctrl+c")
	d.leave()
}

// Ctrl+C clears the prompt; ↑ restores the draft.
func TestADraftSurvivesCtrlC(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	d.sit()
	d.Type("half a thought")
	d.Press("ctrl+c")
	d.prompt("❯")
	d.Press("up")
	d.prompt("❯ half a thought")
	d.Press("ctrl+u", "ctrl+_") // any key resets the first Ctrl+C
	d.prompt("❯ half a thought")
	d.Press("ctrl+u")
	d.leave()
}

// The history outlives the session. The search shows matches, this project's first.
func TestTheHistoryIsSearched(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "One.", "Two.", "Three."), nil)
	d.sit()
	d.say("paint the wall")
	d.WaitFor(`One\.`)
	d.idle()
	d.leave()
	here := d.dir
	d.dir = t.TempDir()
	d.sit()
	d.say("paint the door")
	d.WaitFor(`Two\.`)
	d.idle()
	d.leave()
	d.dir = here
	d.sit()
	d.Press("up")
	d.prompt("❯ paint the wall")
	d.Press("up")
	d.prompt("❯ paint the door")
	d.Press("ctrl+u", "ctrl+r")
	d.WaitFor(`search this project:`)
	d.Type("PAINT")
	d.WaitUntil("the match", func(m *vt.Terminal) bool {
		for y, row := range m.Screen() {
			if strings.HasPrefix(row, "❯ paint the wall") {
				return m.Cell(2, y).Style != m.Cell(8, y).Style
			}
		}
		return false
	})
	d.Press("ctrl+s")
	d.WaitFor(`search all projects:`)
	d.Press("ctrl+r")
	d.WaitFor(`(?m)^❯ paint the door`)
	d.Press("enter")
	d.prompt("❯ paint the door")
	d.Press("enter")
	d.WaitFor(`Three\.`)
	d.idle()
	d.leave()
}

// @ completes files and folders: Tab enters a folder, ignored files are not offered,
// and a name with blanks is quoted.
func TestNamesAreCompleted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see."), nil)
	for _, dir := range []string{"source", "source/my notes", "out"} {
		if err := os.Mkdir(d.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"source/main.go", "source/my notes/one.md", "out/main.o", ".gitignore"} {
		d.write(name, "out/\n")
	}
	d.sit()
	d.Type("see @main")
	d.WaitFor(`(?m)^  › source/main\.go`)
	d.WaitUntil("no ignored file", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), "main.o") })
	d.Press("tab")
	d.prompt("❯ see @source/main.go")
	d.Type("and @sour")
	d.WaitFor(`(?m)^  › source/$`)
	d.Press("tab")
	d.WaitFor(`(?m)^  › source/my notes/$`)
	d.Press("tab")
	d.WaitFor(`(?m)^  › source/my notes/one\.md`)
	d.Press("tab")
	d.prompt(`❯ see @source/main.go and @"source/my notes/one.md"`)
	d.Press("enter")
	d.WaitFor(`I see`)
	if told, want := d.told(0), `see @source/main.go and @"source/my notes/one.md"`; !strings.HasPrefix(told, want) {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// With vi keys Esc exits insert mode, and only then stops the model; the sign shows
// the mode.
func TestTheKeysOfVi(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "I see."}, llmtest.Turn{Text: "one two three", Chunk: 4, Fault: llmtest.Stall, After: 2}), nil)
	scratch.Mkdir(t, d.home)
	scratch.Write(t, d.home+"/config.yaml", "interface:\n  input: vim\n")
	d.sit()
	d.Type("mend the wrong bug")
	d.Press("esc")
	d.prompt("❮ mend the wrong bug")
	d.Type("bbcwother")
	d.prompt("❯ mend the other bug")
	d.Press("esc")
	d.prompt("❮ mend the other bug")
	d.Type("u")
	d.prompt("❮ mend the  bug")
	d.Type("u")
	d.prompt("❮ mend the wrong bug")
	d.Press("ctrl+r", "ctrl+r")
	d.prompt("❮ mend the other bug")
	d.Press("enter")
	d.WaitFor(`I see`)
	if told := d.told(0); told != "mend the other bug" {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.prompt("❯")
	d.say("count")
	d.WaitFor(`one`)
	d.Type("x")
	d.prompt("❯ x")
	d.Press("esc")
	d.prompt("❮ x")
	d.Press("esc")
	d.WaitFor(`Interrupted`)
	d.idle()
	d.Type("x")
	d.prompt("❮")
	d.Type("k")
	d.prompt("❮ count")
	d.Press("ctrl+c")
	d.leave()
}

// An image given by path or from the clipboard is a placeholder at the prompt, and is
// sent as an image.
func TestImagesAreSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see."), nil)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 12, 8))); err != nil {
		t.Fatal(err)
	}
	d.write("shot.png", b.String())
	bin := t.TempDir()
	scratch.Program(t, filepath.Join(bin, "xclip"), "#!/bin/sh\ncat "+d.path("shot.png")+"\n")
	d.env = append(d.env, "AGENT_MODEL=openai/gpt-4o", "DISPLAY=:0", "WAYLAND_DISPLAY=", "PATH="+bin+":"+os.Getenv("PATH"))
	d.sit()
	d.Type("compare ")
	d.Paste(d.path("shot.png"))
	d.WaitFor(`\[image 1: shot\.png 12×8\]`)
	d.Type(" with ")
	d.Press("ctrl+v")
	d.prompt("❯ compare [image 1: shot.png 12×8] with [image 2: clipboard 12×8]")
	d.Press("enter")
	d.WaitFor(`I see`)
	body := string(d.request(0))
	if n := strings.Count(body, base64.StdEncoding.EncodeToString(b.Bytes())); n != 2 || strings.Count(body, `"type":"image_url"`) != 2 {
		t.Errorf("%d images were sent", n)
	}
	if !strings.Contains(body, "compare [image 1: shot.png 12×8] with") {
		t.Error("the text does not name them")
	}
	d.idle()
	d.leave()
}

// A model that accepts no images gets none, and the user is warned.
func TestModelWithoutImages(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I cannot see it."), nil)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 12, 8))); err != nil {
		t.Fatal(err)
	}
	d.write("shot.png", b.String())
	d.eyes("chat", false)
	d.sit()
	d.Paste(d.path("shot.png"))
	d.WaitFor(`mine/large may not accept images`)
	d.prompt("❯ [image 1: shot.png 12×8]")
	d.Press("enter")
	d.WaitFor(`I cannot see it`)
	if told := d.told(0); !strings.Contains(told, "[image 1: shot.png 12×8]") || !strings.Contains(told, "cannot be shown") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// Only lines typed at the prompt run in the shell: the initial prompt never does.
func TestInitialPromptNeverRunsInTheShell(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "I see."), nil)
	d.sit("!touch made")
	d.WaitFor(`I see`)
	if told := d.told(0); told != "!touch made" {
		t.Errorf("the model was told %q", told)
	}
	if _, err := os.Stat(d.path("made")); err == nil {
		t.Error("it was run")
	}
	d.idle()
	d.leave()
}

// The sign before the prompt shows the effect of Enter. A folded paste that begins with
// ! and a ! after a blank are easily overlooked; neither is a command line.
func TestPromptSignShowsCommandLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "One.", "Two."), nil)
	d.sit()
	d.Paste("!touch folded\n" + strings.Repeat("# more\n", 20))
	d.prompt("❯ [pasted 21 lines #1]")
	d.Press("enter")
	d.WaitFor(`One\.`)
	d.idle()
	d.Type(" !touch indented")
	d.prompt("❯  !touch indented")
	d.Press("enter")
	d.WaitFor(`Two\.`)
	if told := d.told(1); told != "!touch indented" {
		t.Errorf("the model was told %q", told)
	}
	for _, name := range []string{"folded", "indented"} {
		if _, err := os.Stat(d.path(name)); err == nil {
			t.Errorf("the command that makes %s was run", name)
		}
	}
	d.idle()
	d.leave()
}
