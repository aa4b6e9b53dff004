package skills

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// text returns a skill with these lines of front matter.
func text(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\n\n# How\nDo it.\n"
}

// TestFormat has the rules of the public format. An empty want means that the skill is
// valid.
func TestFormat(t *testing.T) {
	const about = "description: Fills in forms. Use it for PDF files."
	long := strings.Repeat("a", 65)
	for _, c := range []struct{ rule, folder, text, want string }{
		{"the smallest skill", "pdf", text("name: pdf", about), ""},
		{"all fields", "pdf-2", text("name: pdf-2", about, "license: MIT", "compatibility: needs python3", "metadata:\n  author: me\n  version: 1.0", "allowed-tools: Bash(git:*) Read"), ""},
		{"a list of tools", "pdf", text("name: pdf", about, "allowed-tools: [Bash, Read]"), ""},
		{"keys of other programs", "pdf", text("name: pdf", about, "model: x", "hooks: {}"), ""},
		{"Windows line ends", "pdf", strings.ReplaceAll(text("name: pdf", about), "\n", "\r\n"), ""},
		{"a byte order mark", "pdf", "\ufeff" + text("name: pdf", about), ""},
		{"no body", "pdf", "---\nname: pdf\n" + about + "\n---", ""},
		{"64 characters", long[1:], text("name: "+long[1:], about), ""},
		{"digits", "3d-2", text("name: 3d-2", about), ""},
		{"a folded description", "pdf", text("name: pdf", "description: >\n  Two\n  lines."), ""},
		{"1024 characters", "pdf", text("name: pdf", "description: "+strings.Repeat("é", 1024)), ""},

		{"no front matter", "pdf", "# PDF\n", "begin it with the lines"},
		{"no end", "pdf", "---\nname: pdf\n" + about + "\n", "add a line ---"},
		{"a colon", "pdf", text("name: pdf", "description: Use it: always"), ""},
		{"not YAML", "pdf", text("name: pdf", about, "metadata: {a: [}"), "is not YAML"},
		{"no name", "pdf", text(about), "add name: pdf"},
		{"65 characters", long, text("name: "+long, about), "more than 64"},
		{"capitals", "PDF", text("name: PDF", about), "may only have"},
		{"an underscore", "p_d", text("name: p_d", about), "may only have"},
		{"a blank", "p d", text("name: p d", about), "may only have"},
		{"a hyphen first", "-pdf", text("name: -pdf", about), "may only have"},
		{"a hyphen last", "pdf-", text("name: pdf-", about), "may only have"},
		{"two hyphens", "p--df", text("name: p--df", about), "may only have"},
		{"another folder", "docx", text("name: pdf", about), `its folder is "docx"; make them the same`},
		{"a number as name", "12", text("name: 12", about), ""},
		{"no description", "pdf", text("name: pdf"), "add description:"},
		{"an empty description", "pdf", text("name: pdf", `description: "  "`), "add description:"},
		{"a list as description", "pdf", text("name: pdf", "description: [a]"), ""},
		{"1025 characters", "pdf", text("name: pdf", "description: "+strings.Repeat("é", 1025)), "1025 characters; shorten it to 1024"},
		{"a long compatibility", "pdf", text("name: pdf", about, "compatibility: "+strings.Repeat("x", 501)), "shorten it to 500"},
		{"not UTF-8", "pdf", text("name: pdf", about) + "\xff", "save it as UTF-8"},
		{"too large", "pdf", text("name: pdf", about) + strings.Repeat("x", maxSize), "larger than 64 KiB"},
	} {
		home := scratch.Dir(t, map[string]string{"skills/" + c.folder + "/" + File: c.text})
		scratch.SetHome(t, t.TempDir())
		list, notes := OfUser(home)
		all := strings.Join(notes, "\n")
		if c.want == "" && (len(list) != 1 || all != "") || c.want != "" && (len(list) != 0 || !strings.Contains(all, c.want) || !strings.Contains(all, c.folder+"/SKILL.md is left out: ")) {
			t.Errorf("%s: %d skills, notes %q, want %q", c.rule, len(list), all, c.want)
		}
	}
}

func TestFields(t *testing.T) {
	home := scratch.Dir(t, map[string]string{"skills/pdf/SKILL.md": text("name: pdf", "description: Forms.", "license: MIT", "compatibility: python3", "metadata: {version: 1.5}", "allowed-tools: [Bash, Read]", "disable-model-invocation: true")})
	scratch.SetHome(t, t.TempDir())
	list, _ := OfUser(home)
	want := Head{"pdf", "Forms.", "MIT", "python3", map[string]string{"version": "1.5"}, "Bash Read", true}
	if d := cmp.Diff(want, list[0].Head); d != "" {
		t.Error(d)
	}
	if got := list[0].Prompt("a.pdf"); !strings.HasSuffix(got, "pdf\n\n# How\nDo it.\n\na.pdf") {
		t.Errorf("%q", got)
	}
	list[0].Body = "echo $1 for $ARGUMENTS"
	if got := list[0].Prompt("a.pdf"); !strings.HasSuffix(got, "\n\necho $1 for a.pdf") {
		t.Errorf("%q", got)
	}
}

// The program's own folder comes before the one of Claude Code; folders that are no
// skills, hidden ones and plain files are not read.
func TestFolders(t *testing.T) {
	user := scratch.Dir(t, map[string]string{
		".claude/skills/pdf/SKILL.md":  text("name: pdf", "description: Theirs."),
		".claude/skills/docx/SKILL.md": text("name: docx", "description: Letters."),
		".agent/skills/pdf/SKILL.md":   text("name: pdf", "description: Ours."),
		".agent/skills/empty/x":        "",
		".agent/skills/.git/SKILL.md":  "",
		".agent/skills/README.md":      "",
	})
	scratch.SetHome(t, user)
	list, notes := OfUser(filepath.Join(user, ".agent"))
	list, more := First(list)
	var got []string
	for _, s := range list {
		got = append(got, s.FileName()+": "+s.Description)
	}
	if d := cmp.Diff([]string{"~/.agent/skills/pdf/SKILL.md: Ours.", "~/.claude/skills/docx/SKILL.md: Letters."}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"~/.agent/skills/empty/SKILL.md is left out: the file is missing; add it, or remove the folder",
		"~/.claude/skills/pdf/SKILL.md is left out: ~/.agent/skills has a skill of that name, too",
	}, append(notes, more...)); d != "" {
		t.Error(d)
	}
	if list, notes := OfProject(user, filepath.Join(user, ".agent")); len(list)+len(notes) > 0 {
		t.Errorf("the user's folders count as a project's: %v, %v", list, notes)
	}
}

func TestOfProject(t *testing.T) {
	scratch.SetHome(t, t.TempDir())
	outside := scratch.Dir(t, map[string]string{"SKILL.md": text("name: out", "description: Outside.")})
	files := map[string]string{".claude/skills/b/SKILL.md": text("name: b", "description: B."), ".agent/skills/a/SKILL.md": text("name: a", "description: A.")}
	for i := range maxSkills {
		files[fmt.Sprintf(".claude/skills/x%03d/SKILL.md", i)] = text(fmt.Sprintf("name: x%03d", i), "description: X.")
	}
	dir := scratch.Dir(t, files)
	left := []string{"more than 100 skills"}
	if runtime.GOOS != "windows" {
		scratch.Symlink(t, outside, filepath.Join(dir, ".agent/skills/out"))
		left = []string{"skills/out/SKILL.md is left out", "more than 100 skills"}
	}
	list, notes := OfProject(dir, t.TempDir())
	if len(list) != maxSkills+1 || list[0].Name != "a" || list[1].Name != "b" || !list[0].Project || !Named(list[0].Path()) || !Named(list[1].Path()) {
		t.Errorf("%d skills: %+v", len(list), list[:2])
	}
	if !slices.EqualFunc(notes, left, strings.Contains) {
		t.Errorf("%q", notes)
	}
	for _, name := range []string{"SKILL.md", "/x/skills/a/SKILL.md", "/x/.agent/skills/SKILL.md", "/x/.agent/skills/a/b/SKILL.md", "/x/.agent/skills/a/x.md"} {
		if Named(name) {
			t.Errorf("%s is no skill", name)
		}
	}
}
