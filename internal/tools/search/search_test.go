package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

func folder(dir, root string) Folder {
	return Folder{FS: os.DirFS(dir), Abs: dir, Root: root}
}

func ripgrepPath(t testing.TB) string {
	t.Helper()
	rg, err := exec.LookPath("rg")
	if err != nil && runtime.GOOS == "windows" {
		return "" // Wine has none
	}
	if err != nil {
		t.Fatal("the tests need ripgrep: ", err)
	}
	return rg
}

// both runs q with and without ripgrep, and fails if the answers differ. On Windows, ripgrep may be missing.
func both(t testing.TB, f Folder, q Query) Found {
	t.Helper()
	q.Ripgrep = ""
	own, err := f.Grep(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if q.Ripgrep = ripgrepPath(t); q.Ripgrep == "" {
		return own
	}
	if _, used := f.ripgrep(t.Context(), q); !used && (f.Abs == f.Root) {
		t.Fatalf("ripgrep was not used for %+v", q)
	}
	rg, err := f.Grep(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(own, rg); diff != "" {
		t.Fatalf("without ripgrep (-) and with (+) for %+v:\n%s", q, diff)
	}
	return own
}

func utf16le(s string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

func TestGrep(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{
		"a.go":              "package a\n\nfunc Handler() {\n\treturn\n}\n",
		"sub/b.go":          "x\r\nfunc handler() {}\r\ny\r\n",
		"sub/c.txt":         "func handler\n",
		"bin.dat":           "func Handler\x00\n",
		"latin.txt":         "caf\xe9 handler\n",
		"utf16.txt":         utf16le("un café handler\n"),
		"bom.txt":           "\xef\xbb\xbfhandler first\n",
		".hidden/d.go":      "handler\n",
		".git/config":       "handler\n",
		"node_modules/m.js": "handler\n",
		".gitignore":        "node_modules/\n*.log\n",
		"x.log":             "handler\n",
		"long.txt":          strings.Repeat("a", 3000) + "handler" + strings.Repeat("b", 3000) + "\n",
		"empty":             "",
	})
	tests := []struct {
		q    Query
		want string
	}{
		{Query{Regex: "Handler", Context: 1}, "a.go\n2-\n3:func Handler() {\n4-\treturn\n\n1 match in 1 file."},
		{Query{Regex: "(?i)HANDLER", FilePattern: "*.go"}, ".hidden/d.go\n1:handler\n\na.go\n3:func Handler() {\n\nsub/b.go\n2:func handler() {}\n\n3 matches in 3 files."},
		{Query{Regex: "handler", FilePattern: "sub/**"}, "sub/b.go\n2:func handler() {}\n\nsub/c.txt\n1:func handler\n\n2 matches in 2 files."},
		{Query{Regex: "handler$", FilePattern: "*.{txt,js}"}, "latin.txt\n1:café handler\n\nsub/c.txt\n1:func handler\n\nutf16.txt\n1:un café handler\n\n3 matches in 3 files."},
		{Query{Regex: `\{\}$`}, "sub/b.go\n2:func handler() {}\n\n1 match in 1 file."},
		{Query{Regex: "^handler f"}, "bom.txt\n1:handler first\n\n1 match in 1 file."},
		{Query{Regex: "café"}, "latin.txt\n1:café handler\n\nutf16.txt\n1:un café handler\n\n2 matches in 2 files."},
		{Query{Regex: `caf\w`}, "No matches."},
		{Query{Regex: "handler", Limit: 1}, ".hidden/d.go\n1:handler\n\n1 match in 1 file. There are more: narrow the regex, path or file_pattern, or raise limit."},
		{Query{Regex: "handler", File: "x.log"}, "x.log\n1:handler\n\n1 match in 1 file."},
		{Query{Regex: "aahandlerbb"}, "long.txt\n1:…" + strings.Repeat("a", 102-2) + "handler" + strings.Repeat("b", 293) + "…\n\n1 match in 1 file."},
	}
	for _, tt := range tests {
		t.Run(tt.q.Regex, func(t *testing.T) {
			if tt.q.Limit == 0 {
				tt.q.Limit = 300
			}
			found := both(t, folder(dir, dir), tt.q)
			text := found.Text(func(p string) string { return p })
			if tt.q.Regex == "aahandlerbb" { // the exact cut does not matter
				if !strings.Contains(text, "…aaa") || !strings.Contains(text, "aahandlerbb") || len(text) > 600 {
					t.Errorf("long line: %s", text)
				}
				return
			}
			if diff := gocmp.Diff(tt.want, text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGrepRefuses(t *testing.T) {
	f := folder(scratch.Dir(t, nil), "")
	for expr, want := range map[string]string{
		`a\nb`:    "line by line",
		`(?=a)`:   "not RE2",
		`a{2001}`: "not RE2",
	} {
		_, err := f.Grep(t.Context(), Query{Regex: expr, Limit: 1})
		if want == "line by line" {
			want = "lines are searched one by one"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", expr, err, want)
		}
	}
	if _, err := f.Grep(t.Context(), Query{Regex: "a", FilePattern: "[", Limit: 1}); err == nil {
		t.Error("a malformed glob is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Grep(ctx, Query{Regex: "a", Limit: 1}); err == nil {
		t.Error("a cancelled search ends without an error")
	}
}

// The limit cuts the same lines whatever the context, and the text stays within its
// bound.
func TestGrepBounds(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("match "+strings.Repeat("x", 90)+"\nother\nother\n", 30)
	}
	dir := scratch.Dir(t, files)
	found := both(t, folder(dir, dir), Query{Regex: "match", Context: 1, Limit: 100})
	if found.Matches != 100 || !found.More || len(found.Files) != 4 {
		t.Errorf("%d matches in %d files, more %v", found.Matches, len(found.Files), found.More)
	}
	last := found.Files[3].Lines
	if got := last[len(last)-1]; got.Number != 29 || got.Match {
		t.Errorf("the last line is %+v", got)
	}
	found = both(t, folder(dir, dir), Query{Regex: "match", Context: 1, Limit: 1000})
	shown := found.Text(func(p string) string { return p })
	if len(shown) > maxText+1000 || !strings.Contains(shown, "are shown: too long") {
		t.Errorf("%d bytes: %s", len(shown), shown[len(shown)-200:])
	}
}

// Both engines give the same answer for any expression, tree and content.
func TestEnginesAgree(t *testing.T) {
	scratch.Need(t, "rg")
	var dirs []string
	for _, files := range []map[string]string{
		{
			"a": "foo bar\nFOO_1 k\nKELVIN \u212a s ſ\n\n", "b": "caf\xe9 na\xefve\r\nx\ry\r\n\tz", "c": "nul\x00 foo\n",
			"d/e": utf16le("foo\r\nünï\n"), "d/f": "\xef\xbb\xbffoo\n\xef\xbb\xbfbar", "d/.gitignore": "x*\n!xy\n", "d/xa": "foo\n", "d/xy": "foo\n",
		},
		{
			"sjis": "\x83\x65\x83\x58\x83\x67 foo\n\x95\x5c\r\n", "koi8": "\xc6\xcf\xcf foo\n", "win": "\x80 f\xfc\xdf\x85\n", "stray": "fü foo\n\xe9 é\n\xff", "bom": "\xef\xbb\xbffoo \xe9\n",
			"gbk": "\xd6\xd0\xce\xc4 foo\n", "eucjp": "\xc6\xfc\xcb\xdc foo\x8e\xb1\n", "gb18030": "\x81\x30\x81\x30 o\n",
		},
		{
			".gitignore": "/top\nlow/\n*.o\n!keep.o\n**/deep/*.c\na/**/z\n", "top": "foo\n", "sub/top": "foo\n", "low/a": "foo\n",
			"sub/low": "foo\n", "m.o": "foo\n", "keep.o": "foo\n", "sub/deep/q.c": "foo\n", "sub/deep/q.h": "foo\n", "a/b/c/z": "foo\n", "a/z": "foo\n",
			"nested/.git/HEAD": "foo\n", "nested/m.o": "foo\n", "sub/.gitignore": "!*.o\n", "sub/n.o": "foo\n", ".x/y": "foo\n", ".ignore": "keep.o\n",
		},
	} {
		dirs = append(dirs, scratch.Dir(t, files))
	}
	atoms := rapid.SampledFrom([]string{
		"foo", "FOO", "o", "k", "s", "é", "ï", ".", `\w`, `\W`, `\d`, `\D`, `\s`, `\S`, `\b`, `\B`, "^", "$", `\A`, `\z`,
		"[a-f]", "[^a-f]", "[^é]", "[é-ü]", "(?i:k)", "(?i:s)", "(?i:foo)", "(?i:É)", " ", `\t`, `\r`, `\.`, `\pL`, `[[:upper:]]`, "(?s:.)", `\x{FEFF}`,
		"テ", "表", "ф", "中", "日", "€", "…", `\x{10FEE9}`, `\p{Han}`, `\p{Co}`, `\p{Cyrillic}`, `\x{80}`,
	})
	encodings := rapid.SampledFrom([]text.Encoding{"", text.Latin1, text.UTF8, "windows-1251", "koi8-r", "shift_jis", "gbk", "gb18030", "euc-jp", "big5"})
	program := ripgrepPath(t)
	rapid.Check(t, func(t *rapid.T) {
		var expr strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(t, "atoms") {
			if i > 0 && rapid.IntRange(0, 4).Draw(t, "or") == 0 {
				expr.WriteString("|")
			}
			expr.WriteString("(?:" + atoms.Draw(t, "atom") + ")" + rapid.SampledFrom([]string{"", "", "", "*", "+", "?", "{2}", "{1,}"}).Draw(t, "repeat"))
		}
		dir := rapid.SampledFrom(dirs).Draw(t, "dir")
		q := Query{Regex: expr.String(), Context: rapid.IntRange(0, 2).Draw(t, "context"), Limit: rapid.SampledFrom([]int{2, 300}).Draw(t, "limit"), Encoding: encodings.Draw(t, "encoding")}
		if rapid.IntRange(0, 3).Draw(t, "editor") == 0 {
			q.Asked = func(abs string) text.Encoding {
				return cmp.Or(map[string]text.Encoding{"sjis": "shift_jis", "koi8": "koi8-r"}[filepath.Base(abs)], "euc-jp")
			}
			if rapid.Bool().Draw(t, "of all") {
				q.Asked = func(abs string) text.Encoding { return text.UTF8 }
			}
		}
		f := folder(dir, dir)
		own, err := f.Grep(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Ripgrep = program
		if _, used := f.ripgrep(context.Background(), q); !used {
			t.Fatalf("ripgrep refuses %s", q.Regex)
		}
		rg, err := f.Grep(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(own, rg); diff != "" {
			t.Fatalf("%s: without ripgrep (-) and with (+):\n%s", q.Regex, diff)
		}
	})
}

// The search by literals finds every line that the expression matches.
func TestLiteralsAreRequired(t *testing.T) {
	exprs := []string{
		"foo", "(?i)foo", "(?i)mask", "foo|bar", "(foo)+", "(foo){2,}", "x*foo", "[ab]foo", "(?i:Foo)bar", "foo?", "a|", `\bfo(o|x)\b`, "é", "éa", "(?i)ß", "fo{0}", "(?i)describe",
	}
	alphabet := rapid.SampledFrom([]string{"foo", "FOO", "Foo", "bar", "x", "f", "o", "mask", "MA\u017f\u212a", "é", "a", "ß", "ẞ", " ", "\n", "DesCribe"})
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom(exprs).Draw(t, "expr")
		data := []byte(strings.Join(rapid.SliceOf(alphabet).Draw(t, "data"), ""))
		m, err := newMatcher(expr)
		if err != nil {
			t.Fatal(err)
		}
		with, _, _ := m.scan(data, 0, 1000)
		m.literals = nil
		without, _, _ := m.scan(data, 0, 1000)
		if diff := gocmp.Diff(without, with); diff != "" {
			t.Fatalf("%s on %q:\n%s", expr, data, diff)
		}
	})
}

func TestRequired(t *testing.T) {
	tests := map[string]string{
		"foo": "foo", "(?i)foo": "foo/i", "foo|barbaz": "foo,barbaz", `func \w+Handler\(`: "Handler(", "a*": "", "(?i)kiss": "i/i", "x.y": "x",
	}
	for expr, want := range tests {
		m, err := newMatcher(expr)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range m.literals {
			s := l.text
			if l.fold {
				s += "/i"
			}
			got = append(got, s)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s requires %q, want %q", expr, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{
		"old.go": "", "new.go": "", "sub/mid.go": "", "sub/x.txt": "", "vendor/v.go": "", ".gitignore": "vendor\n", ".git/a.go": "",
	})
	now := time.Now()
	for name, age := range map[string]time.Duration{"old.go": 3 * time.Hour, "sub/mid.go": 2 * time.Hour, "new.go": time.Hour} {
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		pattern string
		limit   int
		want    Names
	}{
		{"*.go", 10, Names{Names: []string{"new.go", "sub/mid.go", "old.go"}, Total: 3}},
		{"**/*.go", 2, Names{Names: []string{"new.go", "sub/mid.go"}, Total: 3}},
		{"./sub/*", 10, Names{Names: []string{"sub/x.txt", "sub/mid.go"}, Total: 2}},
		{"*.{md,rs}", 10, Names{}},
	}
	for _, tt := range tests {
		got, err := folder(dir, dir).Find(t.Context(), tt.pattern, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.pattern, diff)
		}
	}
	if _, err := folder(dir, dir).Find(t.Context(), "[", 1); err == nil {
		t.Error("a malformed pattern is accepted")
	}
}

// Files come before folders, and all folders are there, including empty ones.
func TestAll(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"b/c/d": "", "a": "", "out/x.o": "", "empty/none/": "", ".gitignore": "out\n"})
	now := time.Now()
	for name, age := range map[string]time.Duration{"b/c/d": time.Hour, "a": 2 * time.Hour, ".gitignore": 3 * time.Hour} {
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"b/c/d", "a", ".gitignore", "b/", "b/c/", "empty/", "empty/none/"}
	for _, limit := range []int{100, 5} {
		got, err := folder(dir, dir).All(t.Context(), limit)
		if diff := gocmp.Diff(Names{Names: want[:min(limit, len(want))], Total: len(want)}, got); err != nil || diff != "" {
			t.Errorf("limit %d: %v (-want +got)\n%s", limit, err, diff)
		}
	}
	if _, err := folder(filepath.Join(dir, "nowhere"), dir).All(t.Context(), 1); err == nil {
		t.Error("a missing folder can be listed")
	}
}

func TestList(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{"b/c/d": "", "b/e": "", "a": "", "x.o": "", ".gitignore": "*.o\n", ".git/HEAD": "", "empty/": ""})
	tests := []struct {
		recursive bool
		limit     int
		want      Names
	}{
		{false, 10, Names{Names: []string{".git/", ".gitignore", "a", "b/", "empty/", "x.o"}, Total: 6}},
		{false, 2, Names{Names: []string{".git/", ".gitignore"}, Total: 6}},
		{true, 10, Names{Names: []string{".gitignore", "a", "b/", "b/c/", "b/c/d", "b/e", "empty/"}, Total: 7}},
		{true, 5, Names{Names: []string{".gitignore", "a", "b/", "b/c/", "empty/"}, Total: 7}},
	}
	for _, tt := range tests {
		got, err := folder(dir, dir).List(t.Context(), tt.recursive, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("recursive %v, limit %d (-want +got)\n%s", tt.recursive, tt.limit, diff)
		}
	}
	if _, err := folder(filepath.Join(dir, "nowhere"), dir).List(t.Context(), true, 1); err == nil {
		t.Error("a missing folder can be listed")
	}
}

// Any number of goroutines walk a large tree completely and in order.
func TestWalkIsComplete(t *testing.T) {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("d%d/e%d/f%d", i%7, i%31, i)] = ""
	}
	dir := scratch.Dir(t, files)
	entries, complete, err := folder(dir, dir).walk(t.Context())
	if err != nil || !complete {
		t.Fatal(err, complete)
	}
	n := 0
	for i, e := range entries {
		if !e.dir {
			n++
		}
		if i > 0 && entries[i-1].path >= e.path {
			t.Fatalf("%s before %s", entries[i-1].path, e.path)
		}
	}
	if n != len(files) {
		t.Errorf("%d of %d files", n, len(files))
	}
}
