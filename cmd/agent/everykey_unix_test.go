//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
)

// pressed records the keys that had their effect, by place.
type pressed struct {
	mu sync.Mutex
	by map[keys.Place]map[string]bool
}

func (p *pressed) add(place keys.Place, names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[place] == nil {
		p.by[place] = map[string]bool{}
	}
	for _, name := range names {
		p.by[place][name] = true
	}
}

// TestEveryKey presses every key of the table in its place, and fails for a row that
// was never pressed.
func TestEveryKey(t *testing.T) {
	t.Parallel()
	seen := &pressed{by: map[keys.Place]map[string]bool{}}
	t.Run("places", func(t *testing.T) {
		for name, press := range map[string]func(*testing.T, *pressed){
			"everywhere": everywhereKeys, "background": backgroundKey, "editing": editingKeys, "prompt": promptKeys,
			"search": searchKeys, "question": questionKeys, "answers": answerKeys, "always": alwaysKey,
			"revision": revisionKey, "check": checkKey, "editor": openKey, "aside": asideKey,
			"plan": planKeys, "list": listKeys, "pager": pagerKeys,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				press(t, seen)
			})
		}
	})
	var own keys.Map
	for place, rows := range own.All() {
		for _, row := range rows {
			_, name, _ := strings.Cut(strings.TrimSuffix(row[1], ")"), " (")
			name = name[strings.LastIndex(name, "(")+1:]
			pressed := 0
			for key := range seen.by[place] {
				if own.Is(keystest.Key(key), keys.Action(name)) {
					pressed++
				}
			}
			if all := strings.Split(row[0], ", "); pressed != len(all) {
				t.Errorf("%s, %s: %d of the keys %v are pressed", place, name, pressed, all)
			}
		}
	}
}

// step presses a key, after which the screen must match want, but not before.
type step struct{ key, want string }

// steps takes the steps in order. Keys that are not in the table, or not counted there,
// are ignored.
func (d *desk) steps(seen *pressed, place keys.Place, steps ...step) {
	d.t.Helper()
	for _, s := range steps {
		if regexp.MustCompile(s.want).MatchString(d.Screen()) {
			d.t.Fatalf("before %s the screen shows %s already:\n%s", s.key, s.want, d.Screen())
		}
		d.Press(s.key)
		d.WaitFor(s.want)
		d.Sync()
		seen.add(place, s.key)
	}
}

func everywhereKeys(t *testing.T, seen *pressed) {
	d := newDesk(t, answers(t, "Yes."), nil)
	d.sit()
	d.say("go")
	d.WaitFor(`Yes`)
	d.idle()
	d.steps(seen, keys.Everywhere, step{"shift+tab", `accept-edits mode`}, step{"ctrl+t", `effort low`}, step{"ctrl+o", `The full conversation`})
	d.Press("q")
	d.gone("The full conversation")
	times := func() int { return strings.Count(strings.Join(d.History(), "\n"), "❯ go") }
	if n := times(); n != 1 {
		t.Fatalf("the prompt is there %d times", n)
	}
	d.Press("ctrl+l")
	d.WaitUntil("the conversation again", func(m *vt.Terminal) bool {
		return strings.Count(strings.Join(m.History(), "\n"), "❯ go") == 2
	})
	seen.add(keys.Everywhere, "ctrl+l")
	d.Type("draft")
	d.prompt("❯ draft")
	d.steps(seen, keys.Everywhere, step{"ctrl+c", `(?m)^❯$`})
	d.leave()
}

func backgroundKey(t *testing.T, seen *pressed) {
	suspended(t, moments[0])
	seen.add(keys.Everywhere, "ctrl+z")
}

// editingKeys presses the keys that edit the prompt. A final x shows the cursor.
func editingKeys(t *testing.T, seen *pressed) {
	d := newDesk(t, answers(t), nil)
	d.sit()
	for _, c := range []struct{ text, keys, want string }{
		{"one two", "left x", "one twxo"},
		{"one two", "ctrl+b x", "one twxo"},
		{"one two", "home right x", "oxne two"},
		{"one two", "ctrl+a ctrl+f x", "oxne two"},
		{"one two", "ctrl+a ctrl+e x", "one twox"},
		{"one two", "home end x", "one twox"},
		{"one two", "alt+b x", "one xtwo"},
		{"one two", "ctrl+left x", "one xtwo"},
		{"one two", "alt+left x", "one xtwo"},
		{"one two", "home alt+f x", "onex two"},
		{"one two", "home ctrl+right x", "onex two"},
		{"one two", "backspace x", "one twx"},
		{"one two", "ctrl+h x", "one twx"},
		{"one two", "home delete x", "xne two"},
		{"one two", "home ctrl+d x", "xne two"},
		{"one two", "home ctrl+k x", "x"},
		{"one two", "ctrl+u x", "x"},
		{"one two", "ctrl+w x", "one x"},
		{"one two", "alt+backspace x", "one x"},
		{"one two", "home alt+d x", "x two"},
		{"one two", "ctrl+w ctrl+y x", "one twox"},
		{"one two", "ctrl+w left ctrl+u ctrl+y alt+y x", "twox"},
		{"one two", "ctrl+w ctrl+_ x", "one twox"},
		{"one two", "ctrl+w ctrl+_ alt+/ x", "one x"},
		{`one\`, "enter x", "one\n  x"},
		{"one", "alt+enter x", "one\n  x"},
		{"one", "ctrl+j x", "one\n  x"},
		{"one", "ctrl+j a b up x", "onxe\n  ab"},
		{"one", "ctrl+j a b up down x", "one\n  abx"},
		{"one", "ctrl+j a ctrl+home x", "xone\n  a"},
		{"one", "ctrl+j a ctrl+home ctrl+end x", "one\n  ax"},
		{"one two", "shift+backspace x", "one twx"},
		{"one two", "home alt+right x", "onex two"},
		{"one two", "ctrl+backspace x", "one x"},
		{"one two", "home ctrl+delete x", "x two"},
		{"one two", "home alt+delete x", "x two"},
		{"one two", "ctrl+w ctrl+/ x", "one twox"},
		{"one two", "ctrl+w ctrl+shift+- x", "one twox"},
		{"one two", "ctrl+w ctrl+7 x", "one twox"},
		{"one two", "ctrl+w ctrl+_ alt+_ x", "one x"},
		{"one two", "ctrl+w ctrl+_ ctrl+alt+_ x", "one x"},
		{"one two", "ctrl+w ctrl+_ alt+shift+- x", "one x"},
		{"one two", "ctrl+w ctrl+_ ctrl+alt+- x", "one x"},
		{"one", "shift+enter x", "one\n  x"},
		{"one", "ctrl+enter x", "one\n  x"},
		{"one", "ctrl+j a alt+< x", "xone\n  a"},
		{"one", "ctrl+j a alt+< alt+> x", "one\n  ax"},
	} {
		d.Type(c.text)
		for _, key := range strings.Fields(c.keys) {
			if len(key) == 1 {
				d.Type(key) // text, after which nobody rests
			} else {
				d.Press(key)
			}
		}
		want := "❯ " + c.want + "\n"
		d.WaitUntil(c.text+" "+c.keys+": "+c.want, func(m *vt.Terminal) bool {
			var b strings.Builder
			for _, row := range m.Screen() {
				b.WriteString(strings.TrimRight(row, " ") + "\n")
			}
			return strings.Contains(b.String(), want)
		})
		for _, key := range strings.Fields(c.keys) {
			if len(key) > 1 {
				seen.add(keys.Prompt, key)
			}
		}
		d.Press("ctrl+c", "left") // the other key resets the first Ctrl+C
		d.prompt("❯")
	}
	d.leave()
}

// promptKeys presses the other keys of the prompt.
func promptKeys(t *testing.T, seen *pressed) {
	d := newDesk(t, answers(t, "First.", "Second."), nil)
	editor := filepath.Join(filepath.Dir(d.home), "editor")
	scratch.Program(t, editor, "#!/bin/sh\necho from the editor >\"$1\"\n")
	d.env = append(d.env, "VISUAL="+editor, "PATH="+t.TempDir())
	d.sit()
	d.Type("one")
	d.steps(seen, keys.Prompt, step{"enter", `First\.`})
	d.idle()
	d.say("two")
	d.WaitFor(`Second\.`)
	d.idle()
	d.steps(seen, keys.Prompt,
		step{"?", `permission mode`},
		step{"esc", `again goes back`},
	)
	d.Press("backspace") // resets the first Esc
	for _, c := range [][2]string{{"up", "down"}, {"ctrl+p", "ctrl+n"}} {
		d.Type("a draft")
		d.prompt("❯ a draft")
		d.Press("home", c[0]) // else only prompts with this prefix match
		d.prompt("❯ two")
		d.Press(c[0])
		d.prompt("❯ one")
		d.Press(c[1])
		d.prompt("❯ two")
		d.Press(c[1])
		d.prompt("❯ a draft")
		seen.add(keys.Prompt, c[0], c[1])
		d.Press("ctrl+k") // the cursor is back in its place
		d.prompt("❯")
	}
	d.Type("/permi")
	d.steps(seen, keys.Prompt, step{"tab", `(?m)^❯ /permissions`})
	d.Press("ctrl+u")
	d.steps(seen, keys.Prompt, step{"ctrl+r", `search this project`})
	d.Press("esc")
	d.gone("search this project")
	d.steps(seen, keys.Prompt, step{"ctrl+g", `(?m)^❯ from the editor$`})
	d.Press("ctrl+u")
	d.steps(seen, keys.Prompt, step{"ctrl+v", `(?i)clipboard|image`})
	d.Press("ctrl+d")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	seen.add(keys.Prompt, "ctrl+d")
	d.restored()
}

func searchKeys(t *testing.T, seen *pressed) {
	d := newDesk(t, answers(t, "First.", "Second."), nil)
	d.sit()
	for _, text := range []string{"paint one", "paint two"} {
		d.say(text)
		d.WaitFor(map[string]string{"paint one": `First\.`, "paint two": `Second\.`}[text])
		d.idle()
	}
	d.Press("ctrl+r")
	d.WaitFor(`search this project:`)
	d.Type("paint")
	d.prompt("❯ paint two")
	d.Press("ctrl+r")
	d.prompt("❯ paint one")
	seen.add(keys.Search, "ctrl+r")
	d.steps(seen, keys.Search,
		step{"ctrl+s", `search all projects: paint`},
		step{"backspace", `search all projects: pain `},
		step{"ctrl+h", `search all projects: pai `},
	)
	d.Press("esc")
	d.gone("search all projects")
	seen.add(keys.Search, "esc")
	d.Press("ctrl+r")
	d.WaitFor(`Ctrl\+S`)
	d.Press("ctrl+g")
	d.gone("Ctrl+S")
	seen.add(keys.Search, "ctrl+g")
	d.leave()
}

// questionKeys presses the keys that must not answer.
func questionKeys(t *testing.T, seen *pressed) {
	var lines []string
	for i := 1; i <= 200; i++ {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	before := strings.Join(lines, "\n") + "\n"
	after := strings.NewReplacer("line 2\n", "two\n", "line 100\n", "hundred\n", "line 199\n", "last but one\n").Replace(before)
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", after), writeCall("b.txt", "x\n")}}, llmtest.Turn{Text: "Well."}),
		map[string]string{"a.txt": before})
	d.sit()
	d.say("go")
	d.asked(`edit a\.txt`)
	for _, k := range []struct{ key, want string }{
		{"?", `x unfold`},
		{"?", `(?m)^1 y yes · 2 a always`},
		{"x", `lines 1–\d+ of 203`},
		{"down", `lines 2–\d+ of 203`},
		{"j", `lines 3–\d+ of 203`},
		{"up", `lines 2–\d+ of 203`},
		{"k", `lines 1–\d+ of 203`},
		{"pgdown", `lines 1\d–`},
		{"pgup", `lines 1–`},
		{"ctrl+d", `lines 1\d–`},
		{"ctrl+u", `lines 1–`},
		{"end", `–203 of 203`},
		{"home", `lines 1–`},
		{"G", `–203 of 203`},
		{"g", `lines 1–`},
		{"]", `hunk 1 of 3`},
		{"tab", `hunk 2 of 3`},
		{"]", `hunk 3 of 3`},
		{"[", `hunk 2 of 3`},
		{"space", `1 of 3 hunks left out`},
		{"space", `space leave it out`},
		{"m", `on hunk 2:`},
		{"esc", `hunk 2 of 3 · space`},
		{"esc", `(?m)^1 y yes · 2 a always`},
		{"x", `⋯ 9\d unchanged lines`},
		{"l", `❯ 1 of 2`},
		{"l", `call 1 of 2`},
		{"s", ` │ `},
		{"s", `(?m)^  2     - line 2`},
		{"c", `no, because:`},
		{"esc", `(?m)^1 y yes · 2 a always`},
		{"v", `(?s)^call 1 of 2`},
		{"q", `❯ go`},
		{"v", `(?s)^call 1 of 2`},
		{"esc", `❯ go`},
		{"ctrl+o", `The full conversation`},
		{"q", `❯ go`},
		{"enter", `Press → to choose an answer, then Enter`},
		{"right", `(?m)^❯ 1 y yes · 2 a`},
		{"right", `(?m)^1 y yes · ❯ 2 a`},
		{"left", `(?m)^❯ 1 y yes · 2 a`},
		{"u", `That key does nothing here. · 1 yes · 2 always · 3 no`},
	} {
		d.Press(k.key)
		d.WaitFor(k.want)
		d.Sync()
		seen.add(keys.Question, k.key)
		if k.key == "q" {
			d.asked(`edit a\.txt`) // after being covered, the panel waits again
		}
	}
	if d.read("a.txt") != before || len(d.server.Requests()) != 1 {
		t.Fatal("one of these keys has answered")
	}
	d.asked(`edit a\.txt`) // a key without effect makes the panel wait
	d.Press("n")
	d.WaitFor(`Declined\. What should I do`)
	d.idle()
	d.leave()
}

// answerKeys presses the keys that answer a question or set it aside.
func answerKeys(t *testing.T, seen *pressed) {
	for _, c := range []struct {
		key, want string
		written   bool
	}{
		{"y", `Done\.`, true},
		{"a", `Done\.`, true},
		{"1", `Done\.`, true},
		{"2", `Done\.`, true},
		{"3", `Declined\. What should I do`, false},
		{"n", `Declined\. What should I do`, false},
		{"esc", `Interrupted`, false},
	} {
		d := newDesk(t, llmtest.NewServer(t, writeTurn, llmtest.Turn{Text: "Done."}), nil)
		d.sit()
		d.say("write")
		d.asked(`create a\.txt`)
		d.steps(seen, keys.Question, step{c.key, c.want})
		if _, err := os.Stat(d.path("a.txt")); (err == nil) != c.written {
			t.Errorf("after %s: %v", c.key, err)
		}
		d.idle()
		d.leave()
	}
	d := newDesk(t, llmtest.NewServer(t, writeTurn, llmtest.Turn{Text: "Done."}), nil)
	editor := filepath.Join(filepath.Dir(d.home), "editor")
	scratch.Program(t, editor, "#!/bin/sh\necho from the editor >\"$1\"\n")
	d.env = append(d.env, "VISUAL="+editor)
	d.sit()
	d.say("write")
	d.asked(`create a\.txt`)
	d.steps(seen, keys.Question, step{"e", `\+ from the editor`})
	d.asked(`create a\.txt`)
	d.Press("n")
	d.WaitFor(`Declined\. What should I do`)
	d.idle()
	d.leave()
}

// planKeys presses the keys of a question about several files.
func planKeys(t *testing.T, seen *pressed) {
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", "a\n"), writeCall("b.txt", "b\n")}}, llmtest.Turn{Text: "Done."}), nil)
	d.sit("--permission-mode", "accept-edits")
	d.say("write")
	d.WaitFor(`Done\.`)
	d.idle()
	d.say("/undo turn")
	d.awake("y yes")
	open := func(key string) step { return step{key, `back to the list`} }
	shut := func(key string) step { return step{key, `open a file`} }
	d.steps(seen, keys.Question, open("enter"), shut("left"), open("right"), shut("backspace"))
	d.Press("n")
	d.WaitFor(`(?i)nothing was undone|not undone|left`)
	d.leave()
}

func listKeys(t *testing.T, seen *pressed) {
	d := newDesk(t, answers(t), nil)
	d.sit()
	open := func() {
		d.say("/permissions")
		d.WaitFor(`(?m)^› default mode`)
	}
	open()
	for _, c := range []struct{ key, on string }{
		{"down", "accept-edits"},
		{"ctrl+n", "plan"},
		{"tab", "bypass"},
		{"down", "default"},
		{"up", "bypass"},
		{"ctrl+p", "plan"},
		{"home", "default"},
		{"end", "bypass"},
		{"pgup", "default"},
		{"pgdown", "bypass"},
	} {
		d.Press(c.key)
		d.WaitFor(`(?m)^› ` + c.on + ` mode`)
		seen.add(keys.List, c.key)
	}
	d.Type("plx")
	d.WaitFor(`nothing matches`)
	d.Press("backspace")
	d.WaitFor(`(?m)^› plan mode`)
	d.Type("x")
	d.WaitFor(`nothing matches`)
	d.Press("ctrl+h")
	d.WaitFor(`(?m)^› plan mode`)
	d.Press("ctrl+u")
	d.WaitFor(`(?m)^› default mode`)
	for _, key := range []string{"esc", "ctrl+g", "ctrl+c"} {
		d.Press(key)
		d.gone("remove a grant or a rule")
		open()
	}
	d.Type("acc")
	d.WaitFor(`(?m)^› accept-edits mode`)
	d.Press("enter")
	d.WaitFor(`Accept-edits mode: edits are saved`)
	d.leave()
	seen.add(keys.List, "backspace", "ctrl+h", "ctrl+u", "esc", "ctrl+g", "enter")
}

// pagerKeys presses the keys of the pager in a conversation of two parts.
func pagerKeys(t *testing.T, seen *pressed) {
	text := func(from int) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "row %d\n", from+i)
		}
		return "```\n" + b.String() + "```\n"
	}
	d := newDesk(t, answers(t, text(0)+"\nFirst.", text(100)+"\nSecond."), nil)
	d.sit()
	for _, prompt := range []string{"one", "two"} {
		d.say(prompt)
		d.WaitFor(map[string]string{"one": `First\.`, "two": `Second\.`}[prompt])
		d.idle()
	}
	d.Press("ctrl+o")
	d.WaitFor(`(?m)^lines? \d+`)
	top := func(rows string) string { return `\AThe full conversation\n` + rows + `\n` }
	start, row := top(`\n❯ one`), func(n int) string { return top(fmt.Sprintf(`  row %d`, n)) }
	d.Press("g")
	d.WaitFor(start)
	d.steps(seen, keys.Pager,
		step{"end", `Second\.`}, step{"home", start}, step{"G", `Second\.`}, step{"g", start},
		step{"down", top(`❯ one`)}, step{"j", top(`\n  row 0`)}, step{"enter", row(0)}, step{"up", top(`\n  row 0`)}, step{"k", top(`❯ one`)},
		step{"up", start},
	)
	for _, k := range [][2]string{{"pgdown", "pgup"}, {"f", "b"}, {"space", "pgup"}, {"ctrl+f", "ctrl+b"}} {
		d.steps(seen, keys.Pager, step{k[0], row(24)}, step{k[1], start})
	}
	for _, k := range [][2]string{{"ctrl+d", "ctrl+u"}, {"d", "u"}} {
		d.steps(seen, keys.Pager, step{k[0], row(10)}, step{k[1], start})
	}
	d.steps(seen, keys.Pager, step{"]", top(`\n  row 0`)}, step{"[", start}, step{"/", `(?m)^/`})
	d.Type("50")
	d.WaitFor(`(?m)^/50`)
	d.Press("enter")
	d.WaitFor(`(?m)^ *row 50$`)
	d.steps(seen, keys.Pager, step{"n", `(?m)^ *row 150$`}, step{"N", `(?m)^ *row 50$`})
	for _, key := range []string{"q", "esc", "ctrl+o"} {
		d.Press(key)
		d.gone("The full conversation")
		seen.add(keys.Pager, key)
		d.Press("ctrl+o")
		d.WaitFor(`(?m)^lines? \d+`)
	}
	d.Press("q")
	d.gone("The full conversation")
	d.leave()
}
