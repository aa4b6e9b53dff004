package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// linguists is a server that knows every word of a, b and a_test: the first line with it defines it.
type linguists struct {
	fresh  bool // none has started
	b      *bench
	fails  error
	starts []langserver.Usable

	allowed []string
	at      int // of the last question
}

func (linguists) Serve() bool   { return true }
func (s linguists) Asked() bool { return !s.fresh }

func (s linguists) Starts(context.Context, string) []langserver.Usable { return s.starts }

func (s *linguists) Allow(u langserver.Usable) { s.allowed = append(s.allowed, u.Name) }

func (s linguists) Fixes(_ context.Context, at langserver.Place) ([]string, error) {
	line, _, _ := strings.Cut(at.Text[at.Offset:], "\n")
	return []string{"Mend " + line, "Remove it"}, s.fails
}

func (s linguists) Fix(ctx context.Context, at langserver.Place, name string, read func(string) (string, error)) ([]langserver.FileEdit, error) {
	all, err := s.Rename(ctx, at, "Area", read)
	return append(all,
		langserver.FileEdit{Path: s.b.path("made.go"), Made: true, After: "made\n"},
		langserver.FileEdit{Path: s.b.path("c.go"), To: s.b.path("d.go"), Before: "see Size here\n", After: "see " + name + "\n"},
		langserver.FileEdit{Path: s.b.path("a_test.go"), Before: "test Size too\n", Gone: true}), err
}

func (s *linguists) Definition(_ context.Context, at langserver.Place) ([]langserver.Location, error) {
	all, err := s.References(context.Background(), at)
	return all[:1], err
}

func (s *linguists) References(_ context.Context, at langserver.Place) (all []langserver.Location, err error) {
	s.at = at.Offset
	word, _, _ := strings.Cut(at.Text[at.Offset:], " ")
	for _, name := range []string{"a_test.go", "sub/b.go", "a.go", "c.go"} {
		for n, l := range strings.Split(s.b.read(name), "\n") {
			if strings.Contains(l, word) {
				all = append(all, langserver.Location{Path: s.b.path(name), Line: n + 1})
			}
		}
	}
	return all, s.fails
}

func (s linguists) Outline(context.Context, langserver.Place) ([]langserver.Symbol, error) {
	return []langserver.Symbol{
		{Location: langserver.Location{Path: s.b.path("a.go"), Line: 2}, Name: "Size", Kind: "field", In: "Box"},
		{Location: langserver.Location{Path: s.b.path("a.go"), Line: 3}, Name: "(*Box).Size", Kind: "method"},
	}, s.fails
}

func (s linguists) Find(_ context.Context, query string) (all []langserver.Symbol, err error) {
	for n, name := range []string{"Size", "Twice", "Twice"} {
		if strings.Contains(name, query) {
			all = append(all, langserver.Symbol{Location: langserver.Location{Path: s.b.path("a.go"), Line: 3 + n}, Name: name, Kind: "function", In: "m"})
		}
	}
	return all, s.fails
}

func (s linguists) Rename(_ context.Context, at langserver.Place, name string, read func(string) (string, error)) (all []langserver.FileEdit, err error) {
	for _, path := range []string{at.Path, s.b.path("sub/b.go")} {
		before := at.Text
		if path != at.Path {
			if before, err = read(path); err != nil {
				return nil, err
			}
		}
		all = append(all, langserver.FileEdit{Path: path, Before: before, After: strings.ReplaceAll(before, "Size", name)})
	}
	return all, s.fails
}

// newLinguist returns a bench with such a server.
func newLinguist(t *testing.T) (*bench, *linguists) {
	b := newBench(t, map[string]string{
		"a.go": "// Size first.\nx Size y\nfunc Size z\n", "sub/b.go": "use Size now\r\n", "c.go": "see Size here\n", "a_test.go": "test Size too\n", ".env": "Size=hunter2\n",
	})
	s := &linguists{b: b}
	b.deps.Languages = s
	b.set = NewSet(b.deps)
	return b, s
}

// TestPlacesOfSymbols: a symbol is found by any of its names, or the answer explains how to name it.
func TestPlacesOfSymbols(t *testing.T) {
	b, s := newLinguist(t)
	for _, c := range []struct {
		tool string
		args m
		want string
	}{
		{"find_references", m{"symbol": "Size", "at": "a.go"}, "a.go:1: // Size first.\na.go:2: x Size y\na.go:3: func Size z\nc.go:1: see Size here\nsub/b.go:1: use Size now\na_test.go:1: test Size too\n6 places"},
		{"find_definition", m{"symbol": "Box.Size", "at": "a.go:2"}, "a_test.go:1: test Size too\n1 place"},
		{"find_definition", m{"symbol": "Size", "at": "a.go:func Size"}, "a_test.go:1: test Size too\n1 place"},
		{"find_definition", m{"symbol": "Size"}, "a_test.go:1: test Size too\n1 place"},
		{"find_definition", m{"symbol": "Size", "at": "a.go:9"}, "a.go: there is no Size in line 9, but in lines 1, 2, 3."},
		{"find_definition", m{"symbol": "siz", "at": "a.go"}, "a.go: the text has no siz."},
		{"find_definition", m{"symbol": "Twice"}, "2 symbols have the name Twice: say at which path:line.\na.go:4: function Twice in m\na.go:5: function Twice in m\n2 symbols"},
		{"find_definition", m{"symbol": "none"}, "No symbol of the project has the name none. Say at which path, or use search_files."},
		{"list_symbols", m{"path": "a.go"}, "a.go:2: field Size in Box\na.go:3: method (*Box).Size\n2 symbols"},
		{"list_symbols", m{"query": "Tw"}, "a.go:4: function Twice in m\na.go:5: function Twice in m\n2 symbols"},
		{"list_symbols", m{}, "list_symbols needs a path or a query."},
	} {
		if got := b.call(c.tool, c.args).ForModel; got != c.want {
			t.Errorf("%s %v: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	s.at = -1
	b.call("find_definition", m{"symbol": "Size", "at": "a.go"})
	if want := strings.Index(b.read("a.go"), "Size z"); s.at != want {
		t.Errorf("asked about byte %d, not %d: a field goes before the method", s.at, want)
	}
	s.fails = errors.New("gopls: no answer within 30s")
	if got := b.call("list_symbols", m{"query": "x"}); !got.Failed || got.ForModel != "Not known: gopls: no answer within 30s. Use search_files." {
		t.Errorf("%+v", got)
	}
	b.ask.verdict = confirm.Verdict{}
	if got := b.call("find_definition", m{"symbol": "Size", "at": ".env"}); got.Denied == nil || strings.Contains(got.ForModel, "hunter2") {
		t.Errorf("a file with keys: %+v", got)
	}
}

// TestRenameIsOneReview: a rename asks one question about all files, and a no changes none.
func TestRenameIsOneReview(t *testing.T) {
	b, _ := newLinguist(t)
	b.ask.verdict = confirm.Verdict{}
	rename := m{"symbol": "Size", "at": "a.go:3:6", "new_name": "Area"}
	if res := b.call("rename_symbol", rename); b.read("a.go") != "// Size first.\nx Size y\nfunc Size z\n" || len(b.ask.asked) != 1 {
		t.Fatalf("%+v, asked %d times", res, len(b.ask.asked))
	}
	if got := fmt.Sprint(b.ask.asked[0].Subject); !strings.Contains(b.ask.asked[0].Facts().Title, "a rename of Size to Area") {
		t.Errorf("asked about %s: %s", b.ask.asked[0].Facts().Title, got)
	}
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
	if res := b.call("rename_symbol", rename); res.Failed || b.read("a.go") != "// Area first.\nx Area y\nfunc Area z\n" || b.read("sub/b.go") != "use Area now\r\n" {
		t.Errorf("%+v: %q", res, b.read("a.go"))
	}
}

// TestServersStartWithAYes: a server starts like a command, and nothing is asked of one that was refused.
func TestServersStartWithAYes(t *testing.T) {
	b, s := newLinguist(t)
	s.starts = []langserver.Usable{{Server: langserver.Server{Name: "gopls", Command: []string{"gopls", "-v"}}}}
	b.ask.verdict = confirm.Verdict{}
	for _, args := range []m{{"symbol": "Size"}, {"symbol": "Size", "at": "a.go"}} {
		res := b.call("find_definition", args)
		if res.Denied == nil || !strings.Contains(res.ForModel, "Nothing was looked up. Use search_files.") {
			t.Errorf("%v: %+v", args, res)
		}
	}
	if res := b.call("list_symbols", m{"query": "Size"}); res.Denied == nil || len(b.ask.asked) != 3 {
		t.Errorf("%+v, asked %d times", res, len(b.ask.asked))
	}
	c := confirm.As[*confirm.Command](b.ask.asked[0])
	if c == nil || c.Line != "gopls -v" || !c.Background || c.ReadOnly || c.Dir != b.dir {
		t.Errorf("asked about %+v", b.ask.asked[0])
	}
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
	if res := b.call("find_definition", m{"symbol": "Size"}); res.Failed {
		t.Errorf("%+v", res)
	}
}

// TestQuickFixIsOneReview: the fixes of a line are listed, and one of them is one question about all that it changes,
// makes, moves and removes.
func TestQuickFixIsOneReview(t *testing.T) {
	b, _ := newLinguist(t)
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, By: "test"}
	if got := b.call("quick_fix", m{"at": "a.go:func"}).ForModel; got != "Mend func Size z\nRemove it\n2 changes" || len(b.ask.asked) > 0 {
		t.Errorf("%q, asked %d times", got, len(b.ask.asked))
	}
	if got := b.call("quick_fix", m{"at": "a.go"}); !got.Failed || got.ForModel != "a.go has no such line: at takes path:line, with the line's number or text." {
		t.Errorf("%+v", got)
	}
	res := b.call("quick_fix", m{"at": "a.go:2", "name": "Remove it"})
	if res.Failed || len(b.ask.asked) != 1 || len(res.Changes) != 5 {
		t.Fatalf("%+v, asked %d times", res, len(b.ask.asked))
	}
	if b.read("a.go") != "// Area first.\nx Area y\nfunc Area z\n" || b.read("made.go") != "made\n" || b.read("d.go") != "see Remove it\n" || b.exists("c.go") || b.exists("a_test.go") {
		t.Errorf("%q, %q, %q", b.read("a.go"), b.read("made.go"), b.read("d.go"))
	}
	if res := b.call("quick_fix", m{"at": "a.go:2", "name": "Remove it"}); !res.Failed || len(b.ask.asked) != 1 {
		t.Errorf("a file that is to be made is there: %+v", res)
	}
}

// TestLanguageToolsCostNothing: without anybody who answers there are no definitions, and with one they
// are small and come after the others.
func TestLanguageToolsCostNothing(t *testing.T) {
	plain := newBench(t, nil).set.Specs()
	b, _ := newLinguist(t)
	with := b.set.Specs()
	if len(with) != len(plain)+5 || with[len(plain)-1].Name != plain[len(plain)-1].Name {
		t.Fatalf("%d tools, then %d", len(plain), len(with))
	}
	size := len(modelcontext.LanguagesLine)
	for _, s := range with[len(plain):] {
		size += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	if size > 700 { // some 180 tokens
		t.Errorf("%d bytes, with the line of the system prompt", size)
	}
	if !slices.ContainsFunc(b.set.Offered("edit_file"), func(s llm.ToolSpec) bool { return s.Name == "rename_symbol" }) {
		t.Error("rename_symbol is not offered")
	}
}

// TestToolsBeforeAServerStarts: two tools are offered once a server has started, or to an agent that names them.
func TestToolsBeforeAServerStarts(t *testing.T) {
	b := newBench(t, nil)
	b.deps.Languages = &linguists{fresh: true}
	names := func(set *Set) (all []string) {
		for _, spec := range set.Specs() {
			if strings.Contains(spec.Name, "symbol") || spec.Name == "quick_fix" || spec.Name == "find_definition" {
				all = append(all, spec.Name)
			}
		}
		return all
	}
	set := NewSet(b.deps)
	if got := strings.Join(names(set), " "); got != "find_definition rename_symbol" {
		t.Error(got)
	}
	if set.Offer([]string{"list_*"}); strings.Join(names(set), " ") != "find_definition rename_symbol list_symbols" {
		t.Error(names(set))
	}
	b.deps.Languages = &linguists{}
	if got := strings.Join(names(NewSet(b.deps)), " "); got != "find_definition rename_symbol list_symbols quick_fix" {
		t.Error(got)
	}
}
