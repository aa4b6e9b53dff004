//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// keep writes a file of the user's home.
func (d *desk) keep(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.home, filepath.FromSlash(name))
	scratch.Write(d.t, path, text)
}

func (d *desk) gone(text string) {
	d.t.Helper()
	d.WaitUntil(text+" to go away", func(m *vt.Terminal) bool { return !strings.Contains(m.String(), text) })
}

func TestAQuestionMarkShowsTheKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Because."), nil)
	d.sit()
	d.Press("?")
	d.WaitFor(`Shift\+Tab +permission mode`)
	d.Press("left")
	d.gone("permission mode")
	d.WaitFor(`default mode`)
	d.Press("?")
	d.WaitFor(`permission mode`)
	d.Press("?") // closes the list, and types nothing
	d.gone("permission mode")
	d.Type("why?") // text, where the prompt is not empty
	d.WaitFor(`(?m)^❯ why\?$`)
	d.Press("enter")
	d.WaitFor(`Because`)
	d.idle()
	d.leave()
}

func TestKeysOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	edit := llmtest.Call{Name: "edit_file", Args: `{"path":"a.txt","old_string":"one","new_string":"two"}`}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{edit}}, llmtest.Turn{Text: "Done."}), map[string]string{"a.txt": "one\n"})
	d.keep("keys.yaml", "leave: ctrl+q\nmode: alt+m\napprove: alt+y\nhistory: ctrl+x\npager-close: z\n")
	d.sit()
	d.Press("shift+tab", "alt+m")
	d.WaitFor(`accept-edits mode`)
	d.Press("alt+m", "alt+m")
	d.WaitFor(`default mode`)
	d.say("change it")
	d.WaitFor(`(?m)^1 Alt\+Y yes · 2 a always`)
	d.awake("Alt+Y yes")
	d.Press("y", "alt+y")
	d.WaitFor(`Done\.`)
	d.idle()
	if got := d.read("a.txt"); got != "two\n" {
		t.Errorf("%q", got)
	}
	d.Press("ctrl+x")
	d.Type("chan")
	d.WaitFor(`(?m)^❯ change it`)
	d.Press("esc")
	d.Press("ctrl+o")
	d.WaitFor(`The full conversation`)
	d.Press("q", "z")
	d.gone("The full conversation")
	d.say("/keys")
	d.WaitFor(`Ctrl\+Q +exit`)
	d.Press("z")
	d.gone("All keys")
	d.Press("ctrl+d", "ctrl+q")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
}

func TestAnotherKeyStops(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "one two three", Chunk: 4, Fault: llmtest.Stall, After: 2}), nil)
	d.keep("keys.yaml", "stop: [alt+s]\n")
	d.sit()
	d.say("count")
	d.WaitFor(`(?s)one.*Alt\+S stops`)
	d.Press("esc")
	d.Type("x")
	d.WaitFor(`(?m)^❯ x`)
	d.Press("ctrl+c", "alt+s")
	d.WaitFor(`Interrupted`)
	d.leave()
	if fired := d.server.Fired(llmtest.Stall); fired != 1 {
		t.Errorf("the server stalled %d times", fired)
	}
}

func TestAMistakeInTheKeysIsNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t), nil)
	d.keep("keys.yaml", "# mine\napprov: alt+y\nhistory: ctrl+y\nleave: ctrl+q\n")
	d.Terminal = ptytest.New(t, vt.Options{Width: 100, Height: 30})
	cmd := d.program()
	d.Start(cmd)
	d.WaitFor(`(?s)keys\.yaml: line 2: approv: .*did\s+you\s+mean\s+approve\?.*line 3: history: .*change\s+one of them.*the\s+rest\s+of\s+your\s+keys\s+is\s+used.*❯`)
	d.Press("ctrl+q")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// The keys of commands work in layouts of other scripts, as terminals with Kitty's protocol and with
// XTerm's report them; no letter of them approves.
func TestKeysOfOtherLayouts(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]struct{ u, c, d string }{
		"russian, kitty":  {"\x1b[1075::117;5u", "\x1b[1089::99;5u", "\x1b[1074::100;5u"},
		"greek, kitty":    {"\x1b[952::117;5u", "\x1b[968::99;5u", "\x1b[948::100;5u"},
		"hebrew, kitty":   {"\x1b[1493::117;5u", "\x1b[1489::99;5u", "\x1b[1490::100;5u"},
		"russian, xterm":  {"\x1b[27;5;1075~", "\x1b[27;5;1089~", "\x1b[27;5;1074~"},
		"dvorak, kitty":   {"\x1b[117::102;5u", "\x1b[99::105;5u", "\x1b[100::104;5u"},
		"num lock, kitty": {"\x1b[1075::117;133u", "\x1b[1089::99;133u", "\x1b[1074::100;133u"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
			d.sit()
			if got := d.Modes().KittyKeys; got != 5 {
				t.Errorf("Kitty's flags are %d", got)
			}
			d.Type("half a prompt")
			d.WaitFor(`(?m)^❯ half a prompt$`)
			d.Type(keys.u)
			d.gone("half a prompt")
			d.say("be polite")
			d.asked(`good day`)
			d.Type("н") // y
			d.WaitFor(`That key does nothing here.`)
			d.Type(keys.c)
			d.idle()
			if got := d.read("main.go"); got != program {
				t.Errorf("main.go holds %q", got)
			}
			d.Type(keys.d)
			if code := d.Wait(); code != 0 {
				t.Errorf("exit status %d", code)
			}
		})
	}
}
