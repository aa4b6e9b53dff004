//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// tidying is a turn that moves a file, with an edit, and deletes another.
func tidying() []llmtest.Turn {
	return []llmtest.Turn{
		{Calls: []llmtest.Call{
			{Name: "move_file", Args: `{"path":"a.txt","to":"new/b.txt"}`},
			{Name: "edit_file", Args: `{"path":"new/b.txt","old_string":"two","new_string":"2"}`},
			{Name: "delete_file", Args: `{"path":"gone.bin"}`},
			{Name: "find_files", Args: `{"pattern":"*.{txt,bin}"}`},
		}},
		{Text: "Tidied."},
	}
}

func tidyDesk(t *testing.T, server *llmtest.Server) *desk {
	t.Helper()
	d := newDesk(t, server, map[string]string{"a.txt": "one\ntwo\n", "gone.bin": "\x00\x01\x02", "kept.txt": "k\n"})
	if err := os.Chmod(d.path("a.txt"), 0o751); err != nil {
		t.Fatal(err)
	}
	return d
}

// tidied checks the files: before the turn, or after it.
func (d *desk) tidied(done bool) {
	d.t.Helper()
	if !done {
		d.absent("new")
		if d.read("a.txt") != "one\ntwo\n" || d.read("gone.bin") != "\x00\x01\x02" {
			d.t.Errorf("a.txt holds %q, gone.bin %q", d.read("a.txt"), d.read("gone.bin"))
		}
		return
	}
	d.absent("a.txt")
	d.absent("gone.bin")
	if d.read("new/b.txt") != "one\n2\n" {
		d.t.Errorf("new/b.txt holds %q", d.read("new/b.txt"))
	}
}

// TestFilesAreMovedAndDeleted: each is a question that names both places, or the size of the
// loss, and no "always"; undo and rewind take them back with their modes.
func TestFilesAreMovedAndDeleted(t *testing.T) {
	t.Parallel()
	d := tidyDesk(t, llmtest.NewServer(t, tidying()...))
	d.sit()
	d.say("tidy up")
	d.asked(`move a.txt → new/b.txt \+0 −0 ·.8 bytes`)
	if s := d.Screen(); strings.Contains(s, "always") {
		t.Errorf("it can be allowed for good:\n%s", s)
	}
	d.tidied(false)
	d.Press("y")
	d.asked(`edit new/b.txt`)
	d.Press("y")
	d.asked(`delete gone.bin \+0 −1 ·.3 bytes ·.BINARY`)
	d.Press("y")
	d.WaitFor(`Tidied\.`)
	d.idle()
	d.tidied(true)
	if info, err := os.Stat(d.path("new/b.txt")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("the moved file has %v, %v", info.Mode(), err)
	}
	d.say("/undo turn")
	d.asked(`undo the last turn: 3 files`)
	d.Press("y")
	d.WaitFor(`undone: `)
	d.tidied(false)
	if info, err := os.Stat(d.path("a.txt")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("the file that came back has %v, %v", info.Mode(), err)
	}
	d.say("/redo")
	d.asked(`redo what was undone: 3 files`)
	d.Press("y")
	d.WaitFor(`redone: `)
	d.tidied(true)
	d.say("/rewind")
	d.WaitFor(`(?m)^› tidy up +3 files`)
	d.Press("enter")
	d.WaitFor(`(?m)^› Files and conversation +3 files`)
	d.Press("enter")
	d.asked(`go back to before that prompt: 3 files`)
	d.Press("y")
	d.WaitFor(`put back: `)
	d.tidied(false)
	d.Press("ctrl+u")
	d.leave()
}

// TestASubAgentMovesAndDeletes: the questions name the sub-agent, and one undo takes back its
// work.
func TestASubAgentMovesAndDeletes(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		switch prompt, results := promptOf(body); {
		case strings.Contains(prompt, "tidy") && len(results) == 0:
			return tidying()[0]
		case strings.Contains(prompt, "tidy"):
			return llmtest.Turn{Text: "Tidied."}
		case len(results) == 0:
			return callOf("task", `{"description":"clean","prompt":"tidy up","agent":"mover"}`)
		}
		return llmtest.Turn{Text: "All is done."}
	})
	d := tidyDesk(t, server)
	scratch.Mkdir(t, d.home+"/agents")
	scratch.Write(t, d.home+"/agents/mover.md", "---\nname: mover\ndescription: moves\ntools: move_file, edit_file, delete_file, find_files\n---\nYou move.\n")
	d.sit()
	d.say("delegate")
	d.asked(`(?s)sub-agent mover: clean.*move a.txt → new/b.txt|move a.txt → new/b.txt.*sub-agent mover: clean`)
	d.tidied(false)
	d.Press("y")
	d.asked(`edit new/b.txt`)
	d.Press("y")
	d.asked(`(?s)sub-agent mover: clean.*delete gone.bin|delete gone.bin.*sub-agent mover: clean`)
	d.Press("y")
	d.WaitFor(`All is done\.`)
	d.idle()
	d.tidied(true)
	d.say("/undo turn")
	d.asked(`undo the last turn: 3 files`)
	d.Press("y")
	d.WaitFor(`undone: `)
	d.tidied(false)
	d.leave()
}

// TestPendingMovesAreOneReview: with review: turn the tools see the moved file, and one yes
// in plain lines carries out all.
func TestPendingMovesAreOneReview(t *testing.T) {
	t.Parallel()
	d := tidyDesk(t, llmtest.NewServer(t, tidying()...))
	d.env = append(d.env, "AGENT_REVIEW=turn")
	d.open()
	d.run("agent", "--screen-reader")
	d.WaitFor(`(?m)^you:`)
	d.say("tidy up")
	d.WaitFor(`answer: 1 yes to all files`)
	d.tidied(false)
	if told := d.told(1); !strings.Contains(told, "new/b.txt") || strings.Contains(told, "a.txt\n") || strings.Contains(told, "gone.bin\n") {
		t.Errorf("the model is told %q", told)
	}
	if s := strings.Join(d.History(), "\n") + d.Screen(); !strings.Contains(s, "Move a.txt (8 bytes) to new/b.txt") || !strings.Contains(s, "Delete gone.bin (3 bytes)") {
		t.Errorf("the question is\n%s", s)
	}
	d.answerLine(`answer: 1 yes to all files`, "1")
	d.WaitFor(`2 of 2 files`)
	d.tidied(true)
	d.Press("ctrl+d")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
