//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

const program = "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n"

// The four answers of the panel, each checked on disk and in the model's next request.

func TestYesWritesWhatWasShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	if d.read("main.go") != program {
		t.Error("written before the answer")
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	if got, want := d.read("main.go"), strings.Replace(program, "hello", "good day", 1); got != want {
		t.Errorf("main.go: %q", got)
	}
	if told := d.told(1); strings.Contains(strings.ToLower(told), "declined") || !strings.Contains(told, "main.go") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
	d.noCanary()
}

func TestNoLeavesTheFileAloneAndStops(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "As you like."}), map[string]string{"main.go": program})
	before := stat(t, d.path("main.go"))
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.Press("n")
	d.WaitFor(`Declined\. What should I do`)
	if after := stat(t, d.path("main.go")); after != before {
		t.Errorf("the file changed: %v, was %v", after, before)
	}
	if n := len(d.server.Requests()); n != 1 {
		t.Errorf("%d requests before the next prompt", n)
	}
	d.say("leave it then")
	d.WaitFor(`As you like`)
	if body := string(d.request(1)); !strings.Contains(body, "declined") {
		t.Errorf("the model was not told: %s", body)
	}
	d.idle()
	d.leave()
}

// stat returns the parts of a file's state that a rejected edit must not change.
func stat(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sys := info.Sys().(*syscall.Stat_t)
	return fmt.Sprint(sys.Ino, info.Mode(), info.Size(), info.ModTime().UnixNano())
}

func TestNoWithACommentGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), editCall("hello", "moin"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.Press("c")
	d.WaitFor(`no, because:`)
	d.say("say moin, we are in Hamburg")
	d.asked(`moin`)
	if told := d.told(1); !strings.Contains(told, "say moin, we are in Hamburg") {
		t.Errorf("the model was told %q", told)
	}
	if d.read("main.go") != program {
		t.Error("written in spite of a no")
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	if !strings.Contains(d.read("main.go"), "moin") {
		t.Error("the second proposal was not written")
	}
	d.idle()
	d.leave()
}

func TestEditFirstWritesTheEditedText(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	scratch.Program(t, d.path("ed.sh"), "#!/bin/sh\nsed -i.orig 's/good day/good evening/' \"$1\"\n")
	d.env = append(d.env, "EDITOR="+d.path("ed.sh"), "VISUAL=")
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.Press("e")
	d.asked(`\+.*good evening`)
	if d.read("main.go") != program {
		t.Error("written before the answer")
	}
	d.Press("y")
	d.WaitFor(`All done\.`)
	if got, want := d.read("main.go"), strings.Replace(program, "hello", "good evening", 1); got != want {
		t.Errorf("main.go: %q", got)
	}
	told := d.told(1)
	for _, want := range []string{`-` + "\t" + `println("good day")`, `+` + "\t" + `println("good evening")`} {
		if !strings.Contains(told, want) {
			t.Errorf("the model was not told of %q: %s", want, told)
		}
	}
	d.idle()
	d.leave()
}

func TestYesForTheSessionAsksOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), editCall("good day", "moin"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.Press("a")
	d.WaitFor(`All done\.`)
	if !strings.Contains(d.read("main.go"), "moin") {
		t.Error("the second edit was not written")
	}
	d.idle()
	d.leave()
}

// Keys typed before a question appears do not answer it: they are in the prompt, which
// keeps the focus until Tab.
func TestKeysTypedAheadDoNotAnswer(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	turn := editCall("hello", "good day")
	turn.Gate = gate
	d := newDesk(t, llmtest.NewServer(t, turn), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	d.WaitFor(`Esc stops`) // read: lines that wait together are a paste
	d.Type("yyyy")
	d.WaitFor(`(?m)^❯ yyyy`)
	d.Type("yyy")
	close(gate)
	d.WaitFor(`(?s)good day.*Tab to answer`)
	if d.read("main.go") != program {
		t.Error("a key typed ahead answered")
	}
	d.WaitFor(`(?m)^❯ yyyyyyy`)
	d.take()
	d.Press("n")
	d.WaitFor(`Declined`)
	d.Press("ctrl+c")
	d.leave()
}

func TestEscStopsTheStreamAndTheNextPromptWorks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "one two three four five six seven eight nine ten", Chunk: 8, Fault: llmtest.Stall, After: 3},
		llmtest.Turn{Text: "Here again."}), nil)
	d.sit()
	d.say("count")
	d.WaitFor(`one two`)
	d.Press("esc")
	d.WaitFor(`Interrupted`)
	if d.server.Fired(llmtest.Stall) != 1 {
		t.Error("the stream did not stall")
	}
	d.say("still there?")
	d.WaitFor(`Here again`)
	if body := string(d.request(1)); !strings.Contains(body, "one two") {
		t.Error("what was said before the cancel is lost")
	}
	d.idle()
	d.leave()
}

func TestTextTypedDuringATurnIsDelivered(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "Looking.", Calls: []llmtest.Call{{Name: "list_files", Args: `{"path":"."}`}}, Gate: gate},
		llmtest.Turn{Text: "Both done."}), nil)
	d.sit()
	d.say("first")
	if err := d.server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	d.say("and then the second thing")
	d.WaitFor(`queued: and then the second thing`)
	close(gate)
	d.WaitFor(`Both done`)
	if told := d.told(1); told != "and then the second thing" {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

func TestLargePasteIsFoldedAndArrivesWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Read it."}), nil)
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("line %d of the log", i))
	}
	d.sit()
	d.Type("see: ")
	d.Paste(strings.Join(lines, "\n"))
	d.WaitFor(`pasted 2,000 lines`)
	d.Press("enter")
	d.WaitFor(`Read it`)
	if told, want := d.told(0), "see: "+strings.Join(lines, "\n"); told != want {
		t.Errorf("%d bytes arrived of %d", len(told), len(want))
	}
	d.idle()
	d.leave()
}

func TestResizeKeepsEveryLineOnce(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "- entry number %d\n", i)
	}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: text.String(), Pace: 2e6}), nil)
	d.sit()
	d.say("list")
	for i, size := range [][2]int{{60, 20}, {100, 30}, {40, 12}, {120, 40}, {100, 30}} {
		entry := fmt.Sprintf("entry number %d", i*10)
		d.WaitUntil(entry, func(m *vt.Terminal) bool { return strings.Contains(strings.Join(m.History(), "\n"), entry) })
		d.Resize(size[0], size[1])
	}
	d.WaitFor(`entry number 59`)
	d.idle()
	history := strings.Join(d.History(), "\n") + "\n"
	for i := range 60 {
		if n := strings.Count(history, fmt.Sprintf("entry number %d\n", i)); n != 1 {
			t.Errorf("entry %d is there %d times", i, n)
		}
	}
	d.leave()
}

func TestLongSessionIsContinued(t *testing.T) {
	t.Parallel()
	turns := stress.Size(60, 300)
	server := llmtest.NewServerFunc(t, func(n int, _ []byte) llmtest.Turn { return llmtest.Turn{Text: fmt.Sprintf("Answer %d.", n)} })
	d := newDesk(t, server, nil)
	d.sit()
	for i := range turns {
		d.say(fmt.Sprintf("question %d", i))
		d.WaitFor(fmt.Sprintf(`(?m)^Answer %d\.`, i))
		d.idle()
	}
	d.leave()
	d.sit("-c")
	d.WaitFor(fmt.Sprintf(`Answer %d\.`, turns-1))
	d.say("and now?")
	d.WaitFor(fmt.Sprintf(`(?m)^Answer %d\.`, turns))
	body := string(d.request(turns))
	for _, want := range []string{`"question 0"`, `"Answer 0."`, fmt.Sprintf(`"question %d"`, turns-1), `"and now?"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the request", want)
		}
	}
	d.idle()
	d.leave()
}

// The terminal is restored however the program ends.
func TestTerminalIsRestored(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(d *desk) int{
		"ctrl+d":       func(d *desk) int { d.Press("ctrl+d"); return 0 },
		"ctrl+c twice": func(d *desk) int { d.Press("ctrl+c"); d.WaitFor(`again to quit`); d.Press("ctrl+c"); return 0 },
		"/quit":        func(d *desk) int { d.say("/quit"); return 0 },
		"SIGTERM":      func(d *desk) int { d.Signal(syscall.SIGTERM); return 130 },
		"SIGHUP":       func(d *desk) int { d.Signal(syscall.SIGHUP); return 130 },
		"in the pager": func(d *desk) int {
			d.Press("ctrl+o")
			d.WaitFor(`The full conversation`)
			d.Signal(syscall.SIGTERM)
			return 130
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t), nil)
			d.sit()
			before := d.Termios()
			want := end(d)
			if code := d.Wait(); code != want {
				t.Errorf("exit status %d, want %d", code, want)
			}
			d.restored()
			if d.Termios() == before {
				t.Error("still in raw mode")
			}
		})
	}
}

// A diff taller than the panel can be read to its end, also full screen.
func TestTallDiffScrolls(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "row %d\\n", i)
	}
	call := llmtest.Call{Name: "write_file", Args: `{"path":"rows.txt","content":"` + text.String() + `"}`}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{call}}), nil)
	d.sit()
	d.say("write rows")
	d.asked(`row 0\b`)
	d.Press("end")
	d.WaitFor(`row 199`)
	d.Press("v")
	d.WaitUntil("the full screen", func(m *vt.Terminal) bool { return m.Modes().AltScreen && strings.Contains(m.String(), "row 199") })
	d.Press("esc")
	d.WaitUntil("the conversation", func(m *vt.Terminal) bool { return !m.Modes().AltScreen })
	d.asked(`y yes`)
	d.Press("y")
	d.WaitFor(`(?s)● .*rows\.txt`)
	if got := strings.Count(d.read("rows.txt"), "\n"); got != 200 {
		t.Errorf("%d lines written", got)
	}
	d.Press("esc")
	d.idle()
	d.leave()
}
