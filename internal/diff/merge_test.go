package diff

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitMerge is the result of git merge-file.
func gitMerge(t *testing.T, dir, base, ours, theirs string) (text string, conflicts bool) {
	t.Helper()
	args := []string{"merge-file", "-p"}
	for _, f := range [][2]string{{"ours", ours}, {"base", base}, {"theirs", theirs}} {
		path := filepath.Join(dir, f[0])
		if err := os.WriteFile(path, []byte(f[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.CommandContext(t.Context(), "git", args...).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 127) {
		t.Fatal(err)
	}
	return string(out), err != nil
}

// threeWay makes random cases: two sides that edit the same source text.
type threeWay struct {
	*rand.Rand
	fresh int // lines made
}

func (r *threeWay) text(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = r.line()
	}
	return lines
}

// line returns a new line, or one that occurs often.
func (r *threeWay) line() string {
	if r.IntN(4) == 0 {
		return []string{"}", "", "\treturn nil", "{", "\t}"}[r.IntN(5)]
	}
	r.fresh++
	return fmt.Sprintf("line %d", r.fresh)
}

// edited returns lines with some changes; both lists changes that each side may make.
func (r *threeWay) edited(lines []string, both [][]string) []string {
	out := append([]string(nil), lines...)
	for range r.IntN(5) {
		at := r.IntN(len(out) + 1)
		gone := min(r.IntN(4), len(out)-at)
		in := r.text(r.IntN(4))
		if r.IntN(4) == 0 {
			in = both[r.IntN(len(both))]
		}
		out = append(out[:at:at], append(append([]string(nil), in...), out[at+gone:]...)...)
	}
	return out
}

func (r *threeWay) join(lines []string, eol string) string {
	s := strings.Join(lines, eol)
	if len(lines) > 0 && r.IntN(8) > 0 {
		s += eol
	}
	return s
}

// TestMergeIsGits compares Merge with git merge-file: the same text, or both conflict.
func TestMergeIsGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	r := &threeWay{Rand: rand.New(rand.NewPCG(1, 9))}
	dir := t.TempDir()
	clean, dirty := 0, 0
	for i := range 1000 {
		eol := []string{"\n", "\r\n"}[r.IntN(2)]
		lines := r.text(r.IntN(40))
		both := [][]string{r.text(1), r.text(2)}
		base, ours, theirs := r.join(lines, eol), r.join(r.edited(lines, both), eol), r.join(r.edited(lines, both), eol)
		want, conflict := gitMerge(t, dir, base, ours, theirs)
		got := Merge(base, ours, theirs)
		switch {
		case conflict != (len(got.Conflicts) > 0):
			t.Errorf("case %d: conflicts in git: %v; here: %+v\nbase %q\nours %q\ntheirs %q\ngit %q", i, conflict, got.Conflicts, base, ours, theirs, want)
		case conflict:
			dirty++
		case got.Text != want:
			t.Errorf("case %d: %q, git has %q", i, got.Text, want)
		default:
			clean++
		}
	}
	t.Logf("%d merged alike, %d conflict in both", clean, dirty)
	if clean < 300 || dirty < 300 {
		t.Error("one of the outcomes is rare")
	}
}

func TestMergeConflict(t *testing.T) {
	got := Merge("a\nb\nc\nd\n", "a\nB\nc\nd\n", "new\na\n2\nc\nD\n")
	want := []Conflict{{Line: 3, Base: "b\n", Ours: "B\n", Theirs: "2\n"}}
	if d := cmp.Diff(want, got.Conflicts); d != "" {
		t.Error(d)
	}
}
