package client_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// answering returns a client of an editor that answers tool with r.
func answering(t *testing.T, d idetest.Dialect, tool string, r idetest.Reply) *client.Client {
	t.Helper()
	e := idetest.Start(t, d)
	e.Handle(tool, func(*idetest.Conn, json.RawMessage) idetest.Reply { return r })
	return connect(t, e)
}

// uri is the file URI of an absolute path.
func uri(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestDiagnosticsOfEditors holds that every editor's lines come out 1-based.
func TestDiagnosticsOfEditors(t *testing.T) {
	file, other := root("p", "a b.go"), root("p", "z.go")
	for _, d := range dialects() {
		e := idetest.Start(t, d)
		e.World.Find(true,
			idetest.Finding{Path: file, Line: 7, Column: 3, Severity: "ERROR", Message: "m"},
			idetest.Finding{Path: other, Line: 1, Column: 1, Severity: "Warning", Message: "w"},
		)
		c := connect(t, e)
		got, known, err := c.Documents.Diagnostics(t.Context(), "", 0)
		if err != nil || !known {
			t.Errorf("%s: known %t, %v", d.Name, known, err)
		}
		slices.SortFunc(got, func(a, b editor.Diagnostic) int { return strings.Compare(a.Path, b.Path) })
		want := []editor.Diagnostic{
			{Path: file, Line: 7, Column: 3, Severity: editor.SeverityError, Message: "m", Source: "test"},
			{Path: other, Line: 1, Column: 1, Severity: editor.SeverityWarning, Message: "w", Source: "test"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", d.Name, diff)
		}
	}
}

func TestDiagnosticShapes(t *testing.T) {
	file := root("p", "a.go")
	at := func(line int, s editor.Severity) []editor.Diagnostic {
		return []editor.Diagnostic{{Path: file, Line: line, Column: 1, Severity: s, Message: "m"}}
	}
	where := quoted(uri(file))
	for text, want := range map[string][]editor.Diagnostic{
		`[{"uri":` + where + `,"diagnostics":[{"message":"m","severity":"Information","range":{"start":{"line":4}}}]}]`: at(5, editor.SeverityInfo),
		`[{"filePath":` + quoted(file) + `,"message":"m","severity":4,"line":5}]`:                                       at(5, editor.SeverityHint),
		`{"diagnostics":[{"file":` + quoted(file) + `,"message":"m","severity":"WEAK_WARNING"}]}`:                       at(1, editor.SeverityInfo),
		`[{"message":"m","severity":"warn","range":{"start":{"line":-3,"character":1e300}}}]`:                           {{Path: file, Line: 1, Column: 1 << 31, Severity: editor.SeverityWarning, Message: "m"}},
		`[{"message":"m","severity":null}]`:                     at(1, editor.SeverityError),
		`[{"message":"m"},{"message":""},7,{"message":8},null]`: at(1, editor.SeverityError),
		`[]`: nil, ``: nil, `null`: nil, `{}`: nil, `"x"`: nil,
	} {
		got, known, err := answering(t, idetest.Neovim(), "getDiagnostics", idetest.Text(text)).Documents.Diagnostics(t.Context(), file, 0)
		if diff := cmp.Diff(want, got); err != nil || !known || diff != "" {
			t.Errorf("%s: known %t, %v, %s", text, known, err, diff)
		}
	}
}

// TestUnknownDiagnostics: unknown diagnostics are not reported as none.
func TestUnknownDiagnostics(t *testing.T) {
	for name, r := range map[string]idetest.Reply{
		"not open":    idetest.Refusef(-32001, "File not open"),
		"not settled": idetest.Text("[]", `{"settled":false}`),
		"garbage":     idetest.Text("[{"),
	} {
		found, known, err := answering(t, idetest.Ours(), "getDiagnostics", r).Documents.Diagnostics(t.Context(), root("a"), 0)
		if known || err != nil || found != nil {
			t.Errorf("%s: %v, known %t, %v", name, found, known, err)
		}
	}
	if _, known, err := answering(t, idetest.Ours(), "getDiagnostics", idetest.Text("[]", "x")).Documents.Diagnostics(t.Context(), "", 0); !known || err != nil {
		t.Error("a second item that is no state", known, err)
	}
	_, _, err := answering(t, idetest.Ours(), "getDiagnostics", idetest.Refusef(-32601, "no")).Documents.Diagnostics(t.Context(), "", 0)
	if !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
}

// TestWait holds that only an editor that understands it is asked to wait.
func TestWait(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Ours(), idetest.Neovim()} {
		e := idetest.Start(t, d)
		if _, _, err := connect(t, e).Documents.Diagnostics(t.Context(), root("p", "a b.go"), time.Second); err != nil {
			t.Error(err)
		}
		args := string(e.Requests("getDiagnostics")[0].Params)
		if strings.Contains(args, `"waitMs":1000`) != d.Ours || !strings.Contains(args, "a%20b.go") {
			t.Errorf("%s: %s", d.Name, args)
		}
	}
}

// TestManyFiles holds that findings in other files than the one asked for do not
// count, but that another name of the same file does.
func TestManyFiles(t *testing.T) {
	one := `[{"uri":` + quoted(uri(root("link", "a.go"))) + `,"diagnostics":[{"message":"m"}]}]`
	two := `[{"uri":` + quoted(uri(root("p", "a.go"))) + `,"diagnostics":[{"message":"m"}]},{"uri":` + quoted(uri(root("p", "b.go"))) + `,"diagnostics":[{"message":"n"}]}]`
	for text, want := range map[string]int{one: 1, two: 1, strings.ReplaceAll(two, "a.go", "c.go"): 0} {
		got, _, err := answering(t, idetest.Neovim(), "getDiagnostics", idetest.Text(text)).Documents.Diagnostics(t.Context(), root("p", "a.go"), 0)
		if err != nil || len(got) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		for _, d := range got {
			if d.Path != root("p", "a.go") {
				t.Errorf("path %s", d.Path)
			}
		}
	}
	flood := "[" + strings.Repeat(`{"message":"`+strings.Repeat("x", 5000)+`"},`, 3000) + `{"message":"m"}]`
	got, _, err := answering(t, idetest.Ours(), "getDiagnostics", idetest.Text(flood)).Documents.Diagnostics(t.Context(), root("a"), 0)
	if err != nil || len(got) != 1000 || len(got[0].Message) > 3<<10 {
		t.Errorf("%d findings, %v", len(got), err)
	}
}

func TestTabsAndFolders(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Ours(), idetest.Neovim(), idetest.Nexus3()} {
		e := idetest.Start(t, d)
		e.World.Open(root("p", "a.go"), idetest.Document{Active: true})
		e.World.Open(root("p", "b c.go"), idetest.Document{Dirty: true})
		e.World.SetFolders(root("p"), root("q r"))
		c := connect(t, e)
		tabs, err := c.Documents.Tabs(t.Context())
		slices.SortFunc(tabs, func(a, b editor.Tab) int { return strings.Compare(a.Path, b.Path) })
		want := []editor.Tab{{Path: root("p", "a.go"), Active: true}, {Path: root("p", "b c.go"), Dirty: true}}
		if diff := cmp.Diff(want, tabs); err != nil || diff != "" {
			t.Errorf("%s: %v %s", d.Name, err, diff)
		}
		folders, err := c.Documents.Folders(t.Context())
		if diff := cmp.Diff([]string{root("p"), root("q r")}, folders); err != nil || diff != "" {
			t.Errorf("%s: %v %s", d.Name, err, diff)
		}
	}
	for text, want := range map[string]int{
		`[` + quoted(root("a")) + `,"relative","untitled:1","",7,null]`:                       1,
		`{"tabs":[{"uri":"untitled:Untitled-1"},{"fileName":` + quoted(root("✻ x ⧉")) + `}]}`: 0,
		`{"tabs":[{"uri":"file:///a%0Ab"},{"path":` + quoted(root("a\u001b")) + `}]}`:         0,
		`{"tabs":[{"filePath":` + quoted(root("a")) + `,"isActive":"x"}]}`:                    1,
		`{"tabs":{}}`: 0, `null`: 0, ``: 0,
	} {
		tabs, err := answering(t, idetest.Neovim(), "getOpenEditors", idetest.Text(text)).Documents.Tabs(t.Context())
		if err != nil || len(tabs) != want {
			t.Errorf("%s: %v, %v", text, tabs, err)
		}
	}
	c := connect(t, idetest.Start(t, idetest.Emacs()))
	if _, err := c.Documents.Tabs(t.Context()); !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := c.Documents.Folders(t.Context()); !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
}

func TestBuffer(t *testing.T) {
	text := "unsaved\n"
	for _, d := range []idetest.Dialect{idetest.Ours(), idetest.Neovim(), idetest.Nexus3()} {
		e := idetest.Start(t, d)
		path := root("p", "a.go")
		e.World.Open(path, idetest.Document{Text: text, Dirty: true})
		c := connect(t, e)
		b, err := c.Documents.Buffer(t.Context(), path, true)
		if err != nil || !b.Open || !b.Dirty || (b.Text != nil) != d.Ours || d.Ours && (*b.Text != text || len(b.SHA256) != 64) {
			t.Errorf("%s: %+v, %v", d.Name, b, err)
		}
		if err := c.Documents.Save(t.Context(), path); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		if b, err := c.Documents.Buffer(t.Context(), path, false); err != nil || b.Dirty || b.Text != nil {
			t.Errorf("%s, saved: %+v, %v", d.Name, b, err)
		}
		if err := c.Documents.Save(t.Context(), root("none")); err == nil {
			t.Errorf("%s: a file that is not open was saved", d.Name)
		}
		if b, err := c.Documents.Buffer(t.Context(), root("none"), false); err != nil || b.Dirty {
			t.Errorf("%s, not open: %+v, %v", d.Name, b, err)
		}
	}
	if b, err := answering(t, idetest.Neovim(), "checkDocumentDirty", idetest.Refusef(-32000, "not open")).Documents.Buffer(t.Context(), root("a"), false); err != nil || b.Open {
		t.Error(b, err)
	}
	if _, err := answering(t, idetest.Neovim(), "checkDocumentDirty", idetest.Text("?")).Documents.Buffer(t.Context(), root("a"), false); err == nil {
		t.Error("garbage was taken for clean")
	}
	for text, ok := range map[string]bool{`"ok"`: true, `OK`: true, `?`: false, `{"saved":false}`: false, `{"success":true}`: true} {
		if err := answering(t, idetest.Nexus3(), "saveDocument", idetest.Text(text)).Documents.Save(t.Context(), root("a")); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestEncoding: VS Code's names become those that Go's tables know.
func TestEncoding(t *testing.T) {
	ours := idetest.Start(t, idetest.Ours())
	c := connect(t, ours)
	for name, want := range map[string]string{
		"utf8": "", "utf8bom": "", "utf16le": "utf-16le", "shiftjis": "shift_jis", "eucjp": "euc-jp", "gbk": "gbk",
		"gb18030": "gb18030", "gb2312": "gbk", "cp950": "big5", "big5hkscs": "big5", "euckr": "euc-kr", "windows1252": "windows-1252",
		"windows874": "windows-874", "iso88591": "iso-8859-1", "iso885915": "iso-8859-15", "koi8r": "koi8-r", "koi8u": "koi8-u",
		"macroman": "macintosh", "cp866": "ibm866",
	} {
		ours.World.Open("/p/a.txt", idetest.Document{Encoding: name})
		got, err := c.Documents.Encoding(t.Context(), "/p/a.txt")
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if _, err := htmlindex.Get(got); err != nil && got != "" && !strings.HasPrefix(got, "utf-16") {
			t.Errorf("%s: %v", got, err)
		}
	}
	for name, answer := range map[string]idetest.Reply{
		"not open": idetest.Text(`{"success":false}`), "refused": idetest.Refuse("NOT_FOUND", "no"), "a number": idetest.Text(`{"encoding":"7"}`),
	} {
		ours.Handle("checkDocumentDirty", func(*idetest.Conn, json.RawMessage) idetest.Reply { return answer })
		if got, err := c.Documents.Encoding(t.Context(), "/p/a.txt"); err != nil || got != "" && got != "7" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	ours.Handle("checkDocumentDirty", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Text("?") })
	if _, err := c.Documents.Encoding(t.Context(), "/p/a.txt"); err == nil {
		t.Error("nonsense was read")
	}
	other := connect(t, idetest.Start(t, idetest.Neovim()))
	if _, err := other.Documents.Encoding(t.Context(), "/p/a.txt"); !errors.Is(err, client.ErrUnsupported) {
		t.Errorf("Neovim: %v", err)
	}
}

func TestOpenFile(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := connect(t, e)
	if err := c.Documents.Open(t.Context(), root("a"), 3, 0); err != nil {
		t.Error(err)
	}
	if err := c.Documents.Open(t.Context(), root("a"), 0, 0); err != nil {
		t.Error(err)
	}
	got := e.Requests("openFile")
	if !strings.Contains(string(got[0].Params), `"endLine":3`) || strings.Contains(string(got[1].Params), "startLine") {
		t.Errorf("%s, %s", got[0].Params, got[1].Params)
	}
}

// TestNamesWithPercent holds that a name is as it is on disk, whether an editor encodes
// its URIs or not.
func TestNamesWithPercent(t *testing.T) {
	dir := scratch.Dir(t, nil)
	odd := filepath.Join(dir, "100%25 of it.txt")
	scratch.Write(t, odd, "")
	for _, tab := range []map[string]any{
		{"uri": "file://" + odd}, {"uri": uri(odd)}, {"uri": "file://" + odd, "fileName": odd}, {"fileName": odd}, {"filePath": odd, "fileUrl": uri(odd)},
	} {
		c := answering(t, idetest.Neovim(), "getOpenEditors", idetest.JSON(map[string]any{"tabs": []any{tab}}))
		tabs, err := c.Documents.Tabs(t.Context())
		if err != nil || len(tabs) != 1 || tabs[0].Path != odd {
			t.Errorf("%v: %+v, %v", tab, tabs, err)
		}
	}
}
