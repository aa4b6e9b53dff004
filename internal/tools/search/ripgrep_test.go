package search

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// program writes a shell script and returns its path.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(scratch.Dir(t, map[string]string{"rg": "#!/bin/sh\n" + script}), "rg")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadNames(t *testing.T) {
	got, err := readNames(strings.NewReader("./b c\x00./a\xff\x00./new\nline\x00" + strings.Repeat("x", 10_000) + "\x00"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b c", "a\xff", "new\nline", strings.Repeat("x", 10_000)}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := readNames(strings.NewReader("./a\x00./b")); err == nil {
		t.Errorf("a name that was cut off is no error: %q", got)
	}
	if _, err := readNames(io.MultiReader(strings.NewReader("x\x00"), &failing{})); err == nil {
		t.Error("a read error is lost")
	}
}

// If rg is missing or fails, the search runs without it.
func TestRipgrepFails(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"a": "needle\n"})
	for name, rg := range map[string]string{
		"missing":           filepath.Join(dir, "missing"),
		"fails":             program(t, "exit 2\n"),
		"fails with a name": program(t, "printf './b\\0'; exit 2\n"),
		"a name cut off":    program(t, "printf './a\\0./b'\n"),
		"killed":            program(t, "kill -KILL $$\n"),
	} {
		found, err := folder(dir, dir).Grep(t.Context(), Query{Regex: "needle", Limit: 5, Ripgrep: rg})
		if err != nil || found.Matches != 1 {
			t.Errorf("%s: %d matches, %v", name, found.Matches, err)
		}
	}
}

// rg gets none of our environment, which holds keys, and names that it should not have
// printed are ignored.
func TestRipgrepIsNotTrusted(t *testing.T) {
	scratch.Need(t, "sh", "rg")
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("RIPGREP_CONFIG_PATH", "/nowhere")
	dir := scratch.Dir(t, map[string]string{"in/a": "needle\n", "in/b": "no\n", "out": "needle\n"})
	rg := program(t, "env >\"$0.env\"; pwd >\"$0.pwd\"; printf './a\\0./b\\0./gone\\0../out\\0/etc/passwd\\0'\n")
	inner := filepath.Join(dir, "in")
	found, err := folder(inner, inner).Grep(t.Context(), Query{Regex: "needle|root", Limit: 5, Ripgrep: rg})
	if err != nil {
		t.Fatal(err)
	}
	want := []FileLines{{"a", []Line{{Number: 1, Text: "needle", Match: true}}}}
	if diff := cmp.Diff(want, found.Files); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	env, err := os.ReadFile(rg + ".env")
	if err != nil || strings.Contains(string(env), "secret") || strings.Contains(string(env), "RIPGREP") {
		t.Errorf("rg saw %q, %v", env, err)
	}
	if pwd, err := os.ReadFile(rg + ".pwd"); err != nil || strings.TrimSpace(string(pwd)) != inner {
		t.Errorf("rg ran in %q, %v", pwd, err)
	}
}

// rg is used only if it sees the same .gitignore files as we do.
func TestRipgrepSeesTheSameIgnoreFiles(t *testing.T) {
	scratch.Need(t, "git", "rg")
	dir := scratch.Dir(t, map[string]string{"sub/a": "needle\n", "repo/sub/a": "needle\n"})
	initGit(t, filepath.Join(dir, "repo"))
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	rg := ripgrepPath(t)
	tests := []struct {
		name string
		f    Folder
		q    Query
		want bool
	}{
		{"the workspace", folder(dir, dir), Query{Regex: "needle", Ripgrep: rg}, true},
		{"a folder of it, in no repository", folder(at("sub"), dir), Query{Regex: "needle", Ripgrep: rg}, false},
		{"a folder of it, in a repository", folder(at("repo", "sub"), dir), Query{Regex: "needle", Ripgrep: rg}, true},
		{"no rg", folder(dir, dir), Query{Regex: "needle"}, false},
		{"a folder of no known place", Folder{FS: os.DirFS(dir)}, Query{Regex: "needle", Ripgrep: rg}, false},
		{"not an expression", folder(dir, dir), Query{Regex: "(", Ripgrep: rg}, false},
		{"a folder that is not there", folder(at("gone"), at("gone")), Query{Regex: "needle", Ripgrep: rg}, false},
	}
	for _, tt := range tests {
		names, used := tt.f.ripgrep(t.Context(), tt.q)
		if used != tt.want || used && len(names) == 0 {
			t.Errorf("%s: asked %v, %q", tt.name, used, names)
		}
	}
}

// What rg calls ignored and we do not is found, for rg before version 14 obeys .rgignore.
func TestRulesOfRipgrepCountForNothing(t *testing.T) {
	scratch.Need(t, "git", "rg")
	for _, at := range []string{"in/.rgignore", "in/sub/.rgignore", ".rgignore", "in/.ignore"} {
		dir := scratch.Dir(t, map[string]string{"in/sub/a": "needle\n", at: "a\n"})
		initGit(t, filepath.Join(dir, "in"))
		in := filepath.Join(dir, "in")
		found, err := folder(in, in).Grep(t.Context(), Query{Regex: "needle", Limit: 5, Ripgrep: ripgrepPath(t)})
		if err != nil || found.Matches != 1 {
			t.Errorf("%s: %d matches, %v", at, found.Matches, err)
		}
	}
}

// A file pattern is passed to rg only if it means the same to both; the answer is the
// same in any case.
func TestFilePatternsAgree(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{
		"a.go": "x\n", "b.GO": "x\n", "c.go.txt": "x\n", ".go": "x\n", "d/e.go": "x\n", "d/.f.go": "x\n", "g": "x\n", "h.tar.gz": "x\n", "i[1].go": "x\n",
	})
	for _, tt := range []struct {
		pattern string
		plain   bool
		files   int
	}{
		{"", false, 9},
		{"*.go", true, 5},
		{"*.tar.gz", true, 1},
		{"*.", false, 0},
		{"*", false, 9},
		{"*.g?", false, 6},
		{"*.{go,txt}", false, 6},
		{"d/*.go", false, 2},
		{"**/*.go", false, 5},
		{"*.g-o", false, 0},
		{"i\\[1\\].go", false, 1},
		{"?.go", false, 2},
	} {
		if got := isPlainSuffix(tt.pattern); got != tt.plain {
			t.Errorf("%s is plain: %v", tt.pattern, got)
		}
		found := both(t, folder(dir, dir), Query{Regex: "x", FilePattern: tt.pattern, Limit: 20})
		if len(found.Files) != tt.files {
			t.Errorf("%q: %d files, want %d: %v", tt.pattern, len(found.Files), tt.files, found.Files)
		}
	}
}

// Assertions mean the same at any place: rg alone finds no empty line by $^, for example.
func TestAssertionsAgree(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{
		"empty lines": "a\n\nb\n\n", "crlf": "a\r\n\r\nb\r\n", "bom": "\xef\xbb\xbf\na\n", "open": "a\nab", "one": "\n", "utf16": utf16le("\nb\n"),
	})
	for expr, files := range map[string]int{
		"$^": 5, "^$": 5, "^^a": 4, "b$$": 4, "(^$)+": 5, "(^|b)$": 6, "^(a|$)": 6, "a$^": 0, "$a": 0, "b^": 0, "(a|$)(^|b)": 6, `^\b`: 5, `\b$`: 5, `$\B^`: 5, `(?:$)*^`: 6,
	} {
		if found := both(t, folder(dir, dir), Query{Regex: expr, Limit: 50}); len(found.Files) != files {
			t.Errorf("%s: %d files, want %d: %v", expr, len(found.Files), files, found.Files)
		}
	}
}

// Both engines find files of any name, except names that are not UTF-8, which no tool
// could pass to a model.
func TestHostileNamesAgree(t *testing.T) {
	scratch.Need(t, "rg")
	base := scratch.Dir(t, nil)
	count := 0
	part := rapid.SampledFrom([]string{"a", "-e", "--", ".", " ", "\n", "\r", "\t", "\\", "\"", "é", "\xff", "*", "[", "{", "$(x)", ":", "\x1b[31m", "#", "!"})
	program := ripgrepPath(t)
	rapid.Check(t, func(t *rapid.T) {
		count++
		files := map[string]string{}
		searchable := 0
		for range rapid.IntRange(1, 8).Draw(t, "files") {
			name := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "name"), "")
			if strings.Trim(name, ".") == "" || files[name] != "" {
				continue
			}
			files[name] = "needle\n"
			if utf8.ValidString(name) {
				searchable++
			}
		}
		dir := filepath.Join(base, strconv.Itoa(count))
		scratch.Mkdir(t, dir)
		scratch.Fill(t, dir, files)
		f := folder(dir, dir)
		q := Query{Regex: "needle", Limit: 100}
		own, err := f.Grep(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Ripgrep = program
		rg, err := f.Grep(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(own, rg); diff != "" || own.Matches != searchable {
			t.Fatalf("%d matches in %q; without ripgrep (-) and with (+):\n%s", own.Matches, files, diff)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// rg is started once, and checks sizes if there is a file that it must leave out.
func TestRipgrepStartsOnce(t *testing.T) {
	scratch.Need(t, "sh", "rg")
	dir := scratch.Dir(t, map[string]string{"a": "needle\n", "b": "no\n", "out/.gitignore": "*.log\n"})
	rg := program(t, "echo \"$*\" >>\"$0.log\"\nexec "+ripgrepPath(t)+" \"$@\"\n")
	q := Query{Regex: "needle", Ripgrep: rg, Seen: &Seen{}}
	for i, tt := range []struct {
		large   string
		names   []string
		careful int
	}{
		{"out/ignored.log", []string{"a"}, 0},
		{"b", []string{"a", "b"}, 1},
	} {
		if err := os.WriteFile(filepath.Join(dir, tt.large), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, tt.large), MaxFile+1); err != nil {
			t.Fatal(err)
		}
		names, ok := folder(dir, dir).ripgrep(t.Context(), q)
		if diff := cmp.Diff(tt.names, names); !ok || diff != "" {
			t.Errorf("%s: %v: %s", tt.large, ok, diff)
		}
		log, err := os.ReadFile(rg + ".log")
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(log), "\n"); n != i+1 {
			t.Errorf("%s: rg was started %d times in %d searches", tt.large, n, i+1)
		}
		if n := strings.Count(string(log), "--max-filesize"); n != tt.careful {
			t.Errorf("%s: rg checked sizes %d times, want %d", tt.large, n, tt.careful)
		}
	}
}

// A file that is too large is not searched, and the answer names it unless other files are
// meant.
func TestHugeFile(t *testing.T) {
	line := "a line with a needle\n"
	dir := scratch.Dir(t, map[string]string{
		"huge": strings.Repeat(line, MaxFile/len(line)+1), "small": line, "long.txt": strings.Repeat("x", 1<<20) + line,
	})
	for _, tt := range []struct {
		q          Query
		unsearched []string
		files      []string
	}{
		{Query{Limit: 5}, []string{"huge"}, []string{"long.txt", "small"}},
		{Query{Limit: 5, File: "huge"}, []string{"huge"}, nil},
		{Query{Limit: 5, Regex: "nothing"}, []string{"huge"}, nil},
		{Query{Limit: 5, Mode: Files}, []string{"huge"}, []string{"long.txt", "small"}},
		{Query{Limit: 5, Mode: Counts}, []string{"huge"}, []string{"long.txt", "small"}},
		{Query{Limit: 5, FilePattern: "*.txt"}, nil, []string{"long.txt"}},
		{Query{Limit: 5, Never: func(abs string) bool { return filepath.Base(abs) == "huge" }}, nil, []string{"long.txt", "small"}},
	} {
		if tt.q.Regex == "" {
			tt.q.Regex = "needle"
		}
		found := both(t, folder(dir, dir), tt.q)
		var files []string
		for _, f := range found.Files {
			files = append(files, f.Path)
		}
		for _, f := range found.Counts {
			files = append(files, f.Path)
		}
		if diff := cmp.Diff([][]string{tt.files, tt.unsearched}, [][]string{files, found.Unsearched}); diff != "" {
			t.Errorf("%+v: %s", tt.q, diff)
		}
	}
}
