//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// The window's title shows the state, and a question notifies a person who has turned
// away.
func TestWindowTitleShowsTheState(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	turn := editCall("hello", "good day")
	turn.Gate = gate
	d := newDesk(t, llmtest.NewServer(t, turn), map[string]string{"main.go": program})
	d.env = append(d.env, "WT_SESSION=1", "TMUX=", "AGENT_INTERFACE_NOTIFY=osc9")
	d.sit()
	titled := func(end string) {
		t.Helper()
		d.WaitUntil("the title "+end, func(m *vt.Terminal) bool { return strings.HasSuffix(m.Stats().Title, end) })
	}
	titled("· 001")
	d.say("be polite")
	titled("· working")
	if p := d.Modes().Progress; p != "3" {
		t.Errorf("progress %q", p)
	}
	d.Type("\x1b[O") // out of focus
	close(gate)
	titled("· waiting for you")
	d.WaitUntil("a notification", func(m *vt.Terminal) bool { return len(m.Stats().Notices) > 0 })
	d.Look(func(m *vt.Terminal) {
		if n := m.Stats().Notices; len(n) != 1 || !strings.HasSuffix(n[0], "is waiting for your answer: edit main.go") {
			t.Errorf("notifications %q", n)
		}
	})
	d.Type("\x1b[I")
	d.asked(`good day`)
	d.Press("n")
	d.WaitFor(`Declined`)
	titled("· 001")
	if p := d.Modes().Progress; p != "" {
		t.Errorf("progress %q", p)
	}
	d.leave()
}

// Ctrl+L reprints the conversation at the current width, also during an answer.
func TestCtrlLReprints(t *testing.T) {
	t.Parallel()
	const words = "one two three four five six seven eight nine ten eleven twelve"
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: words + "\n\nsecond part of it"},
		llmtest.Turn{Text: words + "\n\nstill coming", Chunk: 8, Fault: llmtest.Stall, After: 9}), nil)
	d.sit()
	d.say("count")
	d.WaitFor(`second part of it`)
	d.idle()
	d.say("again")
	d.WaitFor(`(?s)second part.*twelve\n\nstill`)
	d.Resize(30, 40)
	d.Press("ctrl+l")
	narrow := `one two three four five six\nseven eight nine ten eleven\ntwelve\n`
	d.WaitFor(`(?s)agent .*❯ count\n\n` + narrow + `\nsecond part of it\n\n❯ again\n\n` + narrow + `\nstill`)
	d.Press("esc")
	d.WaitFor(`Interrupted`)
	if d.server.Fired(llmtest.Stall) != 1 {
		t.Error("the stream did not stall")
	}
	d.idle()
	d.leave()
}

// With reduced motion nothing is drawn while idle.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "one two", Chunk: 4, Fault: llmtest.Stall, After: 1}), nil)
	d.env = append(d.env, "REDUCE_MOTION=1")
	d.sit()
	d.say("count")
	d.WaitFor(`● answering · \d+s`)
	for _, mark := range "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" {
		if strings.ContainsRune(string(d.Bytes()), mark) {
			t.Errorf("%c was drawn", mark)
		}
	}
	d.Press("esc")
	d.WaitFor(`Interrupted`)
	d.idle()
	d.leave()
}

// The status line shows the configured items in their order, and drops whole items if
// room is short.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.env = append(d.env, "AGENT_INTERFACE_STATUS=folder, model, mode")
	d.sit()
	d.WaitFor(`(?m)^001 · openai/test · default mode$`)
	d.Resize(30, 20)
	d.WaitFor(`(?m)^openai/test · default mode$`)
	d.Resize(20, 20)
	d.WaitFor(`(?m)^default mode$`)
	d.leave()
}

// The picker previews the theme under the cursor; Esc restores the old one, Enter keeps
// the new one.
func TestThemePicker(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.sit()
	prompt := func() (style string) {
		d.Look(func(m *vt.Terminal) {
			for y, row := range m.Screen() {
				if strings.HasPrefix(row, "❯") {
					style = m.Cell(0, y).Style
				}
			}
		})
		return style
	}
	changed := func(from string) {
		t.Helper()
		d.WaitUntil("another color", func(m *vt.Terminal) bool {
			rows := m.Screen()
			for y := len(rows) - 1; y >= 0; y-- {
				if strings.HasPrefix(rows[y], "❯") {
					return m.Cell(0, y).Style != from
				}
			}
			return false
		})
	}
	auto := prompt()
	d.say("/theme")
	d.WaitFor(`› auto`)
	d.Press("down", "down")
	d.WaitFor(`› light`)
	changed(auto)
	light := prompt()
	d.Press("esc")
	changed(light)
	if got := prompt(); got != auto {
		t.Errorf("after Esc: %s, want %s", got, auto)
	}
	d.say("/theme")
	d.WaitFor(`› auto`)
	d.Press("down", "down", "enter")
	d.WaitFor(`Theme: light`)
	changed(auto)
	d.leave()
	d.sit()
	changed(auto)
	if got := prompt(); got != light {
		t.Errorf("in the next session: %s, want %s", got, light)
	}
	d.leave()
}

// A continued session keeps its totals.
func TestStatusAfterResume(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Hello."}), nil)
	d.env = append(d.env, "AGENT_INTERFACE_STATUS=tokens, context")
	const status = `(?m)^[\d.k]+ tokens · context [\d.k]+%?$`
	d.sit()
	d.say("hello")
	d.WaitFor(`Hello\.`)
	d.idle()
	d.WaitFor(status)
	line := func() string {
		rows := strings.Split(d.Screen(), "\n")
		return rows[len(rows)-1]
	}
	before, _, _ := strings.Cut(line(), " ·")
	d.leave()
	d.sit("-c")
	d.WaitFor(status)
	if after, _, _ := strings.Cut(line(), " ·"); after != before {
		t.Errorf("continued: %q, before %q", after, before)
	}
	d.leave()
}

// Each permission mode except the default has its own color.
func TestModesLookDifferent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	seen := map[string]string{}
	for _, mode := range []string{"default", "accept-edits", "plan", "bypass"} {
		d.sit("--permission-mode", mode)
		d.WaitUntil(mode, func(m *vt.Terminal) bool {
			for y, row := range m.Screen() {
				if strings.HasPrefix(row, mode+" mode · ") {
					seen[m.Cell(0, y).Style] = mode
					return mode == "default" || m.Cell(0, y).Style != footerStyle(m, m.Screen())
				}
			}
			return false
		})
		d.leave()
	}
	if len(seen) != 4 {
		t.Errorf("styles of the modes: %q", seen)
	}
}

// A session with messages ends with the command to resume it.
func TestExitSaysHowToResume(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Hello."), nil)
	d.sit()
	d.leave()
	if strings.Contains(d.Screen(), "agent -c") {
		t.Errorf("after nothing was said:\n%s", d.Screen())
	}
	d.sit()
	d.say("hi")
	d.WaitFor("Hello")
	d.idle()
	d.leave()
	d.WaitFor("(?m)^Resume with: agent -c$")
}
