package tools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// form is a way of storing a plain text (UTF-8, lines that end in \n).
type form struct {
	name   string
	format workspace.Format
}

var forms = []form{
	{"CRLF", workspace.Format{Encoding: workspace.UTF8, EOL: "\r\n"}},
	{"CR", workspace.Format{Encoding: workspace.UTF8, EOL: "\r"}},
	{"BOM", workspace.Format{Encoding: workspace.UTF8, BOM: true, EOL: "\n"}},
	{"BOM and CRLF", workspace.Format{Encoding: workspace.UTF8, BOM: true, EOL: "\r\n"}},
	{"Latin-1", workspace.Format{Encoding: workspace.Latin1, EOL: "\n"}},
	{"Latin-1 and CRLF", workspace.Format{Encoding: workspace.Latin1, EOL: "\r\n"}},
	{"Latin-1 and CR", workspace.Format{Encoding: workspace.Latin1, EOL: "\r"}},
	{"Windows-1252", workspace.Format{Encoding: "windows-1252", EOL: "\n"}},
	{"Windows-1252 and CRLF", workspace.Format{Encoding: "windows-1252", EOL: "\r\n"}},
	{"stray bytes", workspace.Format{Encoding: workspace.StrayUTF8, EOL: "\n"}},
	{"stray bytes, BOM and CRLF", workspace.Format{Encoding: workspace.StrayUTF8, BOM: true, EOL: "\r\n"}},
	{"stray bytes and CR", workspace.Format{Encoding: workspace.StrayUTF8, EOL: "\r"}},
	{"UTF-16LE", workspace.Format{Encoding: workspace.UTF16LE, BOM: true, EOL: "\n"}},
	{"UTF-16LE and CRLF", workspace.Format{Encoding: workspace.UTF16LE, BOM: true, EOL: "\r\n"}},
	{"UTF-16BE and CRLF", workspace.Format{Encoding: workspace.UTF16BE, BOM: true, EOL: "\r\n"}},
	{"UTF-16BE and CR", workspace.Format{Encoding: workspace.UTF16BE, BOM: true, EOL: "\r"}},
}

// TestEditsOfEncodedFiles: editing an encoded file is the same as editing its plain form
// and encoding it, with every tool.
func TestEditsOfEncodedFiles(t *testing.T) {
	cases, seed := generated(t)
	b := newBench(t, nil)
	made := map[string]int{}
	for i := range cases {
		g := &edits{rand.New(rand.NewPCG(seed, uint64(i)))}
		f := forms[g.IntN(len(forms)+2)%len(forms)]
		plain := g.file(f)
		tool, args := g.call(plain)
		at := fmt.Sprintf("seed %d, case %d: %s of %q (%s) with %q", seed, i, tool, plain, f.name, args)

		want, ok := b.edited(plain, tool, args)
		if g.IntN(4) == 0 {
			b.mixed(g, at, plain, want, ok, tool, args)
			made[tool+" mixed"]++
			continue
		}
		got, did := b.edited(encode(t, plain, f.format), tool, g.asSent(args, f))
		if did != ok || got != encode(t, want, f.format) {
			t.Fatalf("%s:\n%q (%v), want\n%q (%v)", at, got, did, encode(t, want, f.format), ok)
		}
		if ok {
			made[tool]++
		}
	}
	for _, w := range writing {
		if made[w.tool] < cases/60 || made[w.tool+" mixed"] < cases/200 {
			t.Errorf("%s made %d edits of %d, %d of mixed files", w.tool, made[w.tool], cases, made[w.tool+" mixed"])
		}
	}
	t.Logf("%d cases, seed %d: %v", cases, seed, made)
}

// generated returns how many cases to generate, and the seed for them.
func generated(t *testing.T) (cases int, seed uint64) {
	t.Helper()
	return stress.Size(300, 10_000), stress.Seed(t)
}

// mixed makes the edit on the text with mixed line endings. Only line endings may differ
// from the plain form, a match by lines is reported, and no line ends in \r alone.
func (b *bench) mixed(g *edits, at, plain, want string, ok bool, tool string, args m) {
	b.Helper()
	before := g.mix(plain)
	got, did := b.edited(before, tool, args)
	if did != ok || lf(got) != want {
		b.Fatalf("%s, mixed as %q:\n%q (%v), want\n%q (%v)", at, before, got, did, want, ok)
	}
	if strings.Count(got, "\r")-strings.Count(got, "\r\n") != strings.Count(want, "\r") {
		b.Fatalf("%s, mixed as %q: %q has a \\r inside of a line", at, before, got)
	}
	old, _ := args["old_string"].(string)
	crlf := strings.Count(before, "\r\n")
	if !did || !strings.Contains(old, "\n") || crlf == 0 || crlf == strings.Count(before, "\n") {
		return
	}
	req := b.ask.asked[len(b.ask.asked)-1]
	if !req.Force || !strings.Contains(fmt.Sprint(req.Notes), "The text matched only after") {
		b.Fatalf("%s, mixed as %q: the question says %q, force %v", at, before, req.Notes, req.Force)
	}
}

// edited returns the content of the call's file, of which the bytes are given, after the
// call, and whether that succeeded.
func (b *bench) edited(before, tool string, args m) (after string, ok bool) {
	name, _ := args["path"].(string)
	b.write(name, before)
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
	res := b.call(tool, args)
	return b.read(name), !res.Failed
}

// encode encodes plain in format f.
func encode(t *testing.T, plain string, f workspace.Format) string {
	t.Helper()
	data, err := text.Encode(strings.ReplaceAll(plain, "\n", f.EOL), f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// edits generates files and calls.
type edits struct{ *rand.Rand }

func (g *edits) pick(of ...string) string { return of[g.IntN(len(of))] }

// lines returns up to most lines, the last perhaps without an ending.
func (g *edits) lines(most int) string {
	var b strings.Builder
	for range g.IntN(most + 1) {
		b.WriteString(g.pick("", "a", "b", "é", "f(a", ")", "\tx", "  x", "x  ", "a b", "\u201cq\u201d", "}"))
		b.WriteString("\n")
	}
	s := b.String()
	if g.IntN(3) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

// file returns a plain text that f can store. Latin-1 has no typographic quotes, and the first
// characters distinguish encodings from UTF-8.
func (g *edits) file(f form) string {
	s := g.lines(9)
	if f.format.Encoding == workspace.Latin1 {
		s = "é" + strings.NewReplacer("\u201c", "«", "\u201d", "»").Replace(s)
	}
	switch f.format.Encoding {
	case "windows-1252":
		s = "€" + s
	case workspace.StrayUTF8:
		s = "é\U0010feff" + s
	}
	if f.format.EOL != "\n" && !strings.Contains(s, "\n") {
		s += "\n" // without line endings, the kind is unknown
	}
	if f.format.EOL == "\n" && f.format.Encoding == workspace.UTF8 && g.IntN(8) == 0 {
		s = strings.Replace(s, "a b", "a\rb", 1)
	}
	return s
}

// call returns a call of a writing tool that usually fits the file.
func (g *edits) call(plain string) (tool string, args m) {
	lines := strings.SplitAfter(plain, "\n")
	at := g.IntN(len(lines))
	to := at + g.IntN(len(lines)-at)
	part := strings.Join(lines[at:to+1], "")
	fill := strings.NewReplacer("\u201c", "é", "\u201d", "é").Replace(g.lines(4))
	args = m{"path": "f"}
	switch tool = writing[g.IntN(len(writing))].tool; tool {
	case "write_file":
		args["content"] = g.pick(fill, strings.Replace(plain, part, fill, 1), plain+fill)
	case "append_file":
		args["content"], args["newline"] = fill, g.IntN(2) == 0
	case "edit_lines":
		args["start_line"], args["end_line"], args["new_content"] = at+1, to+1-g.IntN(2), fill
	case "regex_replace":
		args["pattern"] = g.pick(`a\n`, `\n`, `(?m)$`, `(?m)^`, `\s+`, `\s+$`, `x.*`, `(a)\n(b)`, `[^\n]+`, `\z`, `(?s)a.b`)
		args["replacement"] = g.pick("", "y", "[$0]", "\n", "y\n", "\nz\n", "$0$0")
		args["count"], args["multiline"] = g.IntN(3), g.IntN(2) == 0
	case "patch":
		args["diff"] = fmt.Sprintf("<<<<<<< SEARCH\n%s=======\n%s>>>>>>> REPLACE\n", closed(part), closed(fill))
		if g.IntN(2) == 0 {
			args["diff"] = fmt.Sprintf("@@ -%d +%d @@\n%s%s", at+1, at+1, marked("-", part), marked("+", fill))
		}
	case "edit_file":
		args["replace_all"] = g.IntN(3) == 0
		args["old_string"], args["new_string"] = g.replacement(part, fill)
	}
	return tool, args
}

// replacement cuts part anywhere, may disturb it, and inserts something.
func (g *edits) replacement(part, fill string) (before, after string) {
	r := []rune(part)
	from := g.IntN(len(r)/2 + 1)
	r = r[from : len(r)-g.IntN(len(r)/2+1)]
	cut := g.IntN(len(r) + 1)
	end := cut + g.IntN(len(r)-cut+1)
	before, after = string(r), string(r[:cut])+g.pick(fill, "", "X", "\n", ", b")+string(r[end:])
	switch g.IntN(6) {
	case 0:
		return strings.ReplaceAll(before, "\n", " \n"), strings.ReplaceAll(after, "\n", " \n")
	case 1:
		return "  " + strings.ReplaceAll(before, "\n", "\n  "), "  " + strings.ReplaceAll(after, "\n", "\n  ")
	}
	return before, after
}

// asSent returns args, sometimes with the file's own line ending in all texts.
func (g *edits) asSent(args m, f form) m {
	if g.IntN(3) > 0 || f.format.EOL == "\n" {
		return args
	}
	sent := m{}
	for k, v := range args {
		if s, ok := v.(string); ok && k != "pattern" && k != "diff" {
			v = strings.ReplaceAll(s, "\n", f.format.EOL)
		}
		sent[k] = v
	}
	return sent
}

// mix returns plain with each line ending of either kind.
func (g *edits) mix(plain string) string {
	var b strings.Builder
	for _, l := range strings.SplitAfter(plain, "\n") {
		if line, ok := strings.CutSuffix(l, "\n"); ok {
			l = line + g.pick("\n", "\r\n")
		}
		b.WriteString(l)
	}
	return b.String()
}

func closed(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func marked(sign, s string) string {
	var b strings.Builder
	for _, l := range strings.SplitAfter(s, "\n") {
		if l != "" {
			b.WriteString(sign + closed(l))
		}
	}
	return b.String()
}

// TestFirstLettersGetTheEditorsEncoding: a file that is new or nothing but ASCII shows no encoding.
// Its first other characters, by the model or the reviewer, are stored in that of the editor, which
// would show others else.
func TestFirstLettersGetTheEditorsEncoding(t *testing.T) {
	for _, tt := range []struct {
		name        string
		editor      workspace.Encoding
		old, now    string // of a.txt
		typed, want string // typed by the reviewer
		gather      bool
	}{
		{name: "the model", editor: "windows-1254", old: "two", now: "ağaç", want: "one\na\xf0a\xe7\n"},
		{name: "the reviewer", editor: "windows-1254", old: "two", now: "TWO", typed: "one\nağaç\n", want: "one\na\xf0a\xe7\n"},
		{name: "in a review of the turn", editor: "windows-1254", old: "two", now: "ağaç", gather: true, want: "one\na\xf0a\xe7\n"},
		{name: "typed in a review of the turn", editor: "windows-1254", old: "two", now: "TWO", typed: "one\nağaç\n", gather: true, want: "one\na\xf0a\xe7\n"},
		{name: "ASCII stays ASCII", editor: "windows-1254", old: "two", now: "TWO", want: "one\nTWO\n"},
		{name: "unknown", old: "two", now: "ağaç", want: "one\nağaç\n"},
		{name: "of other bytes", editor: workspace.UTF16LE, old: "two", now: "ağaç", want: "one\nağaç\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.txt": "one\ntwo\n"})
			var asked []string
			b.deps.Root = scratch.Workspace(t, b.dir, workspace.Options{Home: t.TempDir(), Asked: func(path string) workspace.Encoding {
				asked = append(asked, path)
				return tt.editor
			}})
			b.set = NewSet(b.deps)
			if tt.typed != "" {
				b.ask.verdict.Texts = map[int]string{0: tt.typed}
			}
			if tt.gather {
				b.gather()
			}
			b.want(b.call("edit_file", m{"path": "a.txt", "old_string": tt.old, "new_string": tt.now}), false)
			if tt.gather {
				b.want(b.settle(), false)
			}
			if got := b.read("a.txt"); got != tt.want {
				t.Errorf("the file holds %q, want %q; asked about %q", got, tt.want, asked)
			}
			for _, path := range asked {
				if path != scratch.Abs(b.path("a.txt")) {
					t.Errorf("asked about %s", path)
				}
			}
			if ascii := tt.name == "ASCII stays ASCII"; ascii != (len(asked) == 0) {
				t.Errorf("asked about %q", asked)
			}
		})
	}
}

// TestNewFileGetsTheEditorsEncoding: also one with a mark, and characters that it cannot store are
// refused before the question.
func TestNewFileGetsTheEditorsEncoding(t *testing.T) {
	var editor workspace.Encoding
	b := newBench(t, nil)
	b.deps.Root = scratch.Workspace(t, b.dir, workspace.Options{Home: t.TempDir(), Asked: func(string) workspace.Encoding { return editor }})
	b.set = NewSet(b.deps)
	for name, want := range map[workspace.Encoding]string{"windows-1254": "a\xf0a\xe7\n", workspace.UTF16LE: "\xff\xfea\x00\x1f\x01a\x00\xe7\x00\n\x00", "": "ağaç\n"} {
		editor = name
		b.want(b.call("write_file", m{"path": "new-" + string(name), "content": "ağaç\n"}), false)
		if got := b.read("new-" + string(name)); got != want {
			t.Errorf("in %q it holds %q, want %q", name, got, want)
		}
	}
	editor = "windows-1254"
	questions := len(b.ask.asked)
	b.want(b.call("write_file", m{"path": "no.txt", "content": "日本\n"}), true, "line 1 holds '日' (U+65E5), which windows-1254 cannot store")
	if b.exists("no.txt") || len(b.ask.asked) != questions {
		t.Errorf("%d questions", len(b.ask.asked)-questions)
	}
}
