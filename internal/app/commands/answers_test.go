package commands

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"
)

const twoBlocks = "Here:\n\n```go\nfunc a() {}\n```\n\n1. and\n\n   ~~~~\n   ```\n     b\n   ~~~~\n\nor `c`, ```d```\n```\nopen\n"

func TestCodeBlocks(t *testing.T) {
	if d := cmp.Diff([]string{"func a() {}\n", "```\n  b\n", "open\n"}, codeBlocks(twoBlocks)); d != "" {
		t.Error(d)
	}
	for _, none := range []string{"", "text\n", "``\nx\n``\n", "```"} {
		if got := codeBlocks(none); len(got) != 0 {
			t.Errorf("%q: %q", none, got)
		}
	}
}

func TestChoose(t *testing.T) {
	hi, two := []string{"Hi\n"}, []string{twoBlocks}
	for _, c := range []struct {
		answer                 []string
		which, text, what, err string
	}{
		{hi, "", "Hi\n", "the last answer", ""},
		{two, "1", "func a() {}\n", "block 1", ""},
		{two, "3", "open\n", "block 3", ""},
		{two, "4", "", "", "the last is 3"},
		{two, "0", "", "", "second code block"},
		{two, "x", "", "", "second code block"},
		{hi, "1", "", "", "no code block"},
		{nil, "", "", "", "no answer to copy"},
		{[]string{twoBlocks, "Done.\n"}, "", "Done.\n", "the last answer", ""},
		{[]string{twoBlocks, "Done:\n```\nmore\n```\n"}, "4", "more\n", "block 4", ""},
	} {
		text, what, err := choose(c.answer, c.which)
		if text != c.text || what != c.what || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q of %q: %q, %q, %v", c.which, c.answer, text, what, err)
		}
	}
}

func TestLastAnswer(t *testing.T) {
	say := func(role llm.Role, text string) llm.Message {
		return llm.Message{Role: role, Parts: []llm.Part{{Kind: llm.TextPart, Text: text}}}
	}
	got := lastAnswer([]llm.Message{
		say(llm.Assistant, "zero"), say(llm.User, "go on"), say(llm.Assistant, "one"), say(llm.ToolReply, "done"),
		say(llm.Assistant, " two\n\n"), say(llm.Assistant, " "), say(llm.User, "three"),
	})
	if d := cmp.Diff([]string{"one\n", "two\n"}, got); d != "" {
		t.Error(d)
	}
}

func TestCopy(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("DISPLAY", ":0")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("WSL_DISTRO_NAME", "")
	s := sitting(t, &reviewer{})
	if _, err := s.run(t, "/copy"); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Error(err)
	}
	s.say(t, "hi")
	r, err := s.run(t, "/copy")
	if err != nil || r.Copy != "Hello.\n" || r.Text != "Copied the last answer (1 line) through the terminal (OSC 52), if it allows that." {
		t.Errorf("%+v, %v", r, err)
	}
	if runtime.GOOS == "windows" {
		return // the programs are shell scripts
	}
	write := func(script string) {
		scratch.Program(t, filepath.Join(bin, "xclip"), "#!/bin/sh\n"+script)
	}
	write("while read -r line; do printf '%s' \"$line\" > " + filepath.Join(bin, "kept") + "; done\n")
	if r, err := s.run(t, "/copy"); err != nil || r.Copy != "Hello.\n" || !strings.Contains(r.Text, "with xclip, and through the terminal") {
		t.Errorf("%+v, %v", r, err)
	}
	if kept, err := os.ReadFile(filepath.Join(bin, "kept")); err != nil || string(kept) != "Hello." {
		t.Errorf("%q, %v", kept, err)
	}
	write("exit 1\n")
	if r, err := s.run(t, "/copy"); err != nil || r.Copy == "" || !strings.Contains(r.Text, "xclip did not accept the text") {
		t.Errorf("%+v, %v", r, err)
	}
}
