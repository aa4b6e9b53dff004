package diff

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func TestUnified(t *testing.T) {
	tests := []struct{ name, old, new, a, b, want string }{
		{"equal", "f", "f", "a\n", "a\n", ""},
		{
			"change", "f", "f", "a\nb\n", "a\nc\n",
			"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
		},
		{
			"no newline at end", "f", "f", "a", "b\n",
			"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
		},
		{
			"created", "", "d/f", "", "a\n",
			"diff --git a/d/f b/d/f\nnew file mode 100644\n--- /dev/null\n+++ b/d/f\n@@ -0,0 +1 @@\n+a\n",
		},
		{"created empty", "", "f", "", "", "diff --git a/f b/f\nnew file mode 100644\n"},
		{
			"deleted", "f", "", "a\n", "",
			"diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
		},
	}
	for _, tt := range tests {
		if got := Unified(tt.old, tt.new, tt.a, tt.b); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.name, got, tt.want)
		}
	}
}

// gitApply writes a to name (unless from is empty), applies patch and returns the result.
func gitApply(t interface{ Fatalf(string, ...any) }, dir, from, to, a, patch string) string {
	must := func(err error) {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	path := filepath.Join(dir, to)
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	if from == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%v", err)
		}
	} else {
		must(os.WriteFile(path, []byte(a), 0o644))
	}
	cmd := exec.Command("git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Stdin = strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
	got, err := os.ReadFile(path)
	must(err)
	return string(got)
}

func TestGitTakesUnified(t *testing.T) {
	scratch.Need(t, "git")
	dir := t.TempDir()
	cases := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := text(t, "a"), text(t, "b")
		if a == b || cases >= 60 { // each case runs a process
			return
		}
		cases++
		name := rapid.SampledFrom([]string{"f", "dir/with blank", "dir/ünï", `quo"te`}).Draw(t, "name")
		from := name
		if a == "" && rapid.Bool().Draw(t, "create") {
			from = ""
		}
		if got := gitApply(t, dir, from, name, a, Unified(from, name, a, b)); got != b {
			t.Fatalf("git apply gives %q, want %q", got, b)
		}
	})
	if cases == 0 {
		t.Fatal("no case reached git")
	}
}

// Composing any hunks of a diff gives the text that git gives for a patch of these hunks.
func TestComposeIsWhatGitApplies(t *testing.T) {
	scratch.Need(t, "git")
	dir := t.TempDir()
	cases, partial := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		a := text(t, "a") + text(t, "more") + text(t, "and more")
		b := edited(t, a)
		context := rapid.IntRange(1, 3).Draw(t, "context")
		d := Lines(a, b)
		hunks := d.Hunks(context)
		if a == "" || len(hunks) == 0 || cases >= 200 { // each case runs a process
			return
		}
		kept := map[int]bool{}
		patch, moved := "--- a/f\n+++ b/f\n", 0
		for _, h := range hunks {
			if !rapid.SampledFrom([]bool{true, false}).Draw(t, "keep") {
				continue
			}
			for i := h.First; i < h.Last; i++ {
				kept[i] = true
			}
			h.BStart = h.AStart + moved
			moved += h.BCount - h.ACount
			var out strings.Builder
			h.write(&out)
			patch += out.String()
		}
		want := a
		if len(kept) > 0 {
			cases++
			want = gitApply(t, dir, "f", "f", a, patch)
		}
		if len(kept) > 0 && len(kept) < len(d.Edits) {
			partial++
		}
		if got := d.Compose(func(i int) bool { return kept[i] }); got != want {
			t.Fatalf("composed %q, git makes %q of\n%s", got, want, patch)
		}
	})
	if cases < 20 || partial < 5 {
		t.Fatalf("%d cases reached git, %d left something out", cases, partial)
	}
}

// edited draws a text from a with some lines changed, deleted or inserted.
func edited(t *rapid.T, a string) string {
	var b strings.Builder
	for line := range strings.Lines(a) {
		switch rapid.SampledFrom([]string{"", "", "", "", "", "gone", "new", "other", "ending"}).Draw(t, "line") {
		case "gone":
		case "new":
			b.WriteString("new\n" + line)
		case "other":
			b.WriteString("other" + line)
		case "ending":
			b.WriteString(strings.TrimRight(line, "\r\n") + "\n") // perhaps with another line ending
		default:
			b.WriteString(line)
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "end") == 0 {
		return strings.TrimRight(b.String(), "\r\n")
	}
	return b.String()
}

// Edits one line apart, and at both ends without a newline.
func TestComposeAdjacent(t *testing.T) {
	d := Lines("a\r\nb\r\nc", "A\r\nb\r\nC\r\n")
	if n := len(d.Hunks(0)); n != 2 {
		t.Fatalf("%d hunks", n)
	}
	for want, keep := range map[string]func(int) bool{
		"a\r\nb\r\nc":     func(int) bool { return false },
		"A\r\nb\r\nc":     func(i int) bool { return i == 0 },
		"a\r\nb\r\nC\r\n": func(i int) bool { return i == 1 },
		"A\r\nb\r\nC\r\n": func(int) bool { return true },
	} {
		if got := d.Compose(keep); got != want {
			t.Errorf("composed %q, want %q", got, want)
		}
	}
}

func TestGitTakesDeletion(t *testing.T) {
	scratch.Need(t, "git")
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	scratch.Write(t, path, "a\n")
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Stdin = strings.NewReader(Unified("f", "", "a\n", ""))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file is still there: %v", err)
	}
}
