package usercommands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func folder(name string, files map[string]string) Folder {
	all := fstest.MapFS{}
	for file, text := range files {
		all[file] = &fstest.MapFile{Data: []byte(text)}
	}
	return Folder{Files: all, Name: name, Group: command.Yours}
}

func TestLoad(t *testing.T) {
	own := folder("~/.agent/commands", map[string]string{
		"review.md":     "---\ndescription: look at  a change\nargument-hint: <file>\nmodel: ignored\n---\nReview $1 with care.\n",
		"git/commit.md": "# Commit what is staged\nMore.\n",
		"help.md":       "Mine.",
		"notes.txt":     "no command",
		".hidden.md":    "no command",
		".git/x.md":     "no command",
	})
	project := folder(".agent/commands", map[string]string{"review.md": "The project's.", "build.md": "Build it.\r\nThen test it."})
	list, notes := Load([]string{"help"}, own, project)
	var got []string
	for _, c := range list {
		r, err := c.Run(t.Context(), "a.go b.go")
		if err != nil {
			t.Fatal(err)
		}
		if c.Idle || c.Group != command.Yours {
			t.Errorf("%+v", c)
		}
		got = append(got, fmt.Sprintf("%s: %s: %q", c.Usage(), c.Help, r.Prompt))
	}
	if d := cmp.Diff([]string{
		`/git:commit: Commit what is staged (~/.agent/commands): "# Commit what is staged\nMore.\n\na.go b.go"`,
		`/review <file>: look at a change (~/.agent/commands): "Review a.go with care."`,
		`/build: Build it. (.agent/commands): "Build it.\nThen test it.\n\na.go b.go"`,
	}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"~/.agent/commands/help.md is left out: /help is a command of the program",
		".agent/commands/review.md is left out: /review is in ~/.agent/commands",
	}, notes); d != "" {
		t.Error(d)
	}
}

func TestSkippedFilesAreNamed(t *testing.T) {
	for file, c := range map[string]struct{ text, want string }{
		"a b.md":       {"x", "letters, digits"},
		"a\x1b[31m.md": {"x", "letters, digits"},
		"ä.md":         {"x", "letters, digits"},
		"-a.md":        {"x", "letters, digits"},
		"a:b.md":       {"x", ""},
		"empty.md":     {" \n", "no prompt"},
		"only.md":      {"---\ndescription: x\n---", "no prompt"},
		"open.md":      {"---\ndescription: x\n", "front matter is missing"},
		"yaml.md":      {"---\ndescription: [\n---\nx", "front matter"},
		"binary.md":    {"a\x00b", "not UTF-8 text"},
		"latin.md":     {"caf\xe9", "not UTF-8 text"},
		"large.md":     {strings.Repeat("x", maxSize+1), "larger than 64 KiB"},
		"full.md":      {strings.Repeat("x", maxSize), ""},
	} {
		list, notes := Load(nil, folder("f", map[string]string{file: c.text}))
		if c.want == "" && (len(list) != 1 || len(notes) != 0) || c.want != "" && (len(list) != 0 || len(notes) != 1 || !strings.Contains(notes[0], c.want)) {
			t.Errorf("%s: %d commands, %q", file, len(list), notes)
		}
	}
}

func TestTextIsSanitized(t *testing.T) {
	list, _ := Load(nil, folder("f", map[string]string{"a.md": "---\ndescription: \"\\e[31mred\\nline\"\nargument-hint: \"\\e]0;t\\a\"\n---\nx"}))
	if len(list) != 1 || strings.ContainsAny(list[0].Help+list[0].Args, "\x1b\a\n") {
		t.Errorf("%+v", list)
	}
}

func TestBounds(t *testing.T) {
	files := map[string]string{"a/b/c/d/deep.md": "x", "a/b/c/in.md": "x"}
	for i := range maxFiles + 5 {
		files[fmt.Sprintf("z%03d.md", i)] = strings.Repeat("long ", 100)
	}
	list, notes := Load(nil, folder("f", files))
	if len(list) != maxFiles || len(notes) != 1 || !strings.Contains(notes[0], "more than 200") {
		t.Errorf("%d commands, %q", len(list), notes)
	}
	if list[0].Name != "a:b:c:in" || len([]rune(list[1].Help)) > maxHelp+len(" (f)") {
		t.Errorf("%+v", list[:2])
	}
}

// broken is a folder that cannot be read.
type broken struct{ error }

func (b broken) Open(string) (fs.File, error) { return nil, b.error }

func TestMissingFolder(t *testing.T) {
	if list, notes := Load(nil, Folder{Files: os.DirFS(filepath.Join(t.TempDir(), "none"))}); len(list)+len(notes) != 0 {
		t.Errorf("%v %q", list, notes)
	}
	if _, notes := Load(nil, Folder{Files: broken{errors.New("sick")}, Name: "f"}); len(notes) != 1 || !strings.Contains(notes[0], "sick") {
		t.Errorf("%q", notes)
	}
}

// TestOfProject uses the texts that were trusted, although the files have changed.
func TestOfProject(t *testing.T) {
	if list, notes := OfProject(nil, nil); len(list)+len(notes) != 0 {
		t.Errorf("without a folder: %+v, %q", list, notes)
	}
	texts := map[string][]byte{"in.md": []byte("Do it."), "help.md": []byte("Mine."), "bin.md": []byte("\x00"), "b/a.md": []byte("That.")}
	list, notes := OfProject(texts, []command.Command{{Name: "help"}})
	if len(list) != 2 || list[0].Name != "b:a" || list[1].Help != "Do it. (.agent/commands)" || list[1].Group != command.Projects {
		t.Errorf("%+v", list)
	}
	if d := cmp.Diff([]string{
		".agent/commands/bin.md is left out: not UTF-8 text",
		".agent/commands/help.md is left out: /help is a command of the program",
	}, notes); d != "" {
		t.Error(d)
	}
}

func TestOfUser(t *testing.T) {
	home := t.TempDir()
	if list, notes := OfUser(home, nil); len(list)+len(notes) != 0 {
		t.Errorf("%+v, %q", list, notes)
	}
	scratch.Mkdir(t, filepath.Join(home, "commands", "a"))
	scratch.Write(t, filepath.Join(home, "commands", "a", "b.md"), "Do it.")
	if list, notes := OfUser(home, nil); len(list) != 1 || list[0].Name != "a:b" || len(notes) != 0 {
		t.Errorf("%+v, %q", list, notes)
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ body, args, want string }{
		{"Fix $ARGUMENTS.", "the bug", "Fix the bug."},
		{"Move $1 to $2, not $3.", `"a b" 'c d'`, "Move a b to c d, not ."},
		{"$1", "", ""},
		{"It costs \\$1.", "x", "It costs $1.\n\nx"},
		{"$ARGUMENTSX $10 $0", "a", "$ARGUMENTSX a0 $0"},
		{"$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"},
		{" Do it. \n", "", "Do it."},
		{"Do it.", "now", "Do it.\n\nnow"},
		{"$2", `a""b "" c`, ""},
	} {
		if got := Expand(c.body, c.args); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.body, c.args, got, c.want)
		}
	}
}

func TestWordsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-c "' ]{0,20}`).Draw(t, "s")
		joined := strings.Join(words(s), "")
		clean := strings.NewReplacer(`"`, "", `'`, "", " ", "").Replace(s)
		if got := strings.NewReplacer(`"`, "", `'`, "", " ", "").Replace(joined); got != clean {
			t.Fatalf("%q: %q", s, words(s))
		}
	})
}

// A prompt that names a user's command becomes its text; one that names a session's
// command is an error.
func TestInPlace(t *testing.T) {
	list, notes := All(t.TempDir(), map[string][]byte{"fix.md": []byte("Fix $1 now."), "undo.md": []byte("no")}, nil, []command.Command{{Name: "undo"}})
	if len(list) != 1 || len(notes) != 1 {
		t.Fatalf("%v, %q", list, notes)
	}
	for prompt, want := range map[string]string{
		"/fix it": "Fix it now.", "fix it": "fix it", "/fixed it": "/fixed it", "/etc/fix it": "/etc/fix it",
	} {
		if got, err := InPlace(t.Context(), prompt, list, []command.Command{{Name: "undo"}}); got != want || err != nil {
			t.Errorf("%q: %q, %v", prompt, got, err)
		}
	}
	if _, err := InPlace(t.Context(), "/undo it", list, []command.Command{{Name: "undo"}}); err == nil {
		t.Error("/undo is no prompt")
	}
}

func TestIsName(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, want := range map[string]bool{
		"a": true, "git:commit_all": true, "0-a": true, long: true, long + ":" + long: true,
		"": false, ":": false, "a:": false, ":a": false, "a::b": false, "a\n": false, "a:_b": false, long + "a": false, "a:" + long + "a": false,
	} {
		if got := isName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// The user's own come before the project's, and commands before skills; a skill whose name
// is taken is named.
func TestSkillsAreCommands(t *testing.T) {
	skill := func(name, source string, project bool) skills.Skill {
		return skills.Skill{Head: skills.Head{Name: name, Description: "Does " + name + "."}, Dir: "/s/" + name, Body: "Steps.", Source: source, Project: project}
	}
	home := scratch.Dir(t, map[string]string{"commands/review.md": "Review."})
	usable := []skills.Skill{
		skill("pdf", "~/.agent/skills", false), skill("review", "~/.agent/skills", false),
		skill("undo", ".agent/skills", true), skill("deploy", ".agent/skills", true),
	}
	list, notes := All(home, map[string][]byte{"pdf.md": []byte("x"), "deploy.md": []byte("Deploy.")}, usable, []command.Command{{Name: "undo"}})
	var got []string
	for _, c := range list {
		got = append(got, c.Usage()+": "+c.Help)
	}
	if d := cmp.Diff([]string{"/review: Review. (~/.agent/commands)", "/pdf: Does pdf. (~/.agent/skills)", "/deploy: Deploy. (.agent/commands)"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"/review is another command, so only the model can use the skill ~/.agent/skills/review/SKILL.md; rename one of them",
		".agent/commands/pdf.md is left out: /pdf is a command of the program",
		"/undo is another command, so only the model can use the skill .agent/skills/undo/SKILL.md; rename one of them",
		"/deploy is another command, so only the model can use the skill .agent/skills/deploy/SKILL.md; rename one of them",
	}, notes); d != "" {
		t.Error(d)
	}
}
