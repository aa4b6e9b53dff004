package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// linguist asks the language servers for a tool.
type linguist struct{ reader }

// propose has the fate of files reviewed as one change.
func (l linguist) propose(ctx context.Context, call Call, title string, edits []langserver.FileEdit) (Result, error) {
	if len(edits) == 0 {
		return toolcall.Failed("Nothing to change. Check the name."), nil
	}
	w := l.writer(l.tool)
	w.Title = title
	parts := make([]change.Part, len(edits))
	for i, e := range edits {
		parts[i] = planned(e)
	}
	return w.Apply(ctx, call, parts...)
}

// planned returns the fate of a file as a part of a proposal. One that has changed since then is not changed.
func planned(e langserver.FileEdit) change.Part {
	p := change.Part{Path: e.Path, To: e.To}
	if e.Gone || e.To != "" && e.After == e.Before {
		return p
	}
	p.Edit = func(f workspace.File) (edit.Result, error) {
		switch {
		case e.Made && f.Exists:
			return edit.Result{}, errors.New("it would be created, but it already exists")
		case !e.Made && !f.Exists:
			return edit.Result{}, change.ErrMissing
		case f.Text != e.Before:
			return edit.Result{}, errors.New("it changed while the change was computed: call the tool again")
		}
		return edit.Result{Text: e.After}, nil
	}
	return p
}

// begin asks whether the servers may start that a question needs; refused is set if the answer is no.
func (l linguist) begin(ctx context.Context, call Call, path string) (refused *Result, err error) {
	if len(l.Languages.Starts(ctx, path)) == 0 {
		return nil, nil
	}
	if err := call.WaitTurn(ctx); err != nil {
		return nil, UnansweredError{Err: err}
	}
	c := commander{Deps: l.Deps}
	dir := l.Root.Dir()
	for _, u := range l.Languages.Starts(ctx, path) { // an earlier call may have started some
		line := strings.Join(u.Command, " ")
		req := c.request(execution{call, executeCommandArgs{Command: line, Background: true}, shell.Options{Line: line, Dir: dir}, c.place(dir).Judge(line)})
		req.Tool = l.tool
		note := "It is a language server: it reads the project, may run code of it such as build scripts, and ends with the session."
		if u.Confined {
			note += " It runs isolated: it cannot change files or use the network."
		}
		req.Notes = append(req.Notes, caution.Notes(note)...)
		v, err := l.Ask.Ask(ctx, req)
		if err != nil {
			return nil, UnansweredError{Err: err}
		}
		if v.Decision != confirm.Approve {
			res := toolcall.Declined(l.tool, "start of "+u.Name, "Nothing was looked up. Use search_files.", v)
			return &res, nil
		}
		l.Languages.Allow(u)
	}
	return nil, nil
}

// unanswered returns the result for a question without an answer.
func (l linguist) unanswered(ctx context.Context, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return toolcall.Failed("Not known: %s. Use search_files.", sanitize.Line(toolcall.OneLine(err.Error(), maxReason))), nil
}

// text returns the text of a file that the model may read, with the changes that wait.
func (l linguist) text(ctx context.Context, call Call, name string) (f workspace.File, refused *Result, err error) {
	refused, failed := l.allowed(ctx, call, name, func() (err error) {
		f, err = l.Root.Read(name)
		return err
	})
	if failed != nil {
		res, err := l.unreadable(ctx, name, failed)
		return f, &res, err
	}
	if refused != nil {
		return f, refused, nil
	}
	if f = l.Pending.Over(f); !f.Exists || f.Raw != nil {
		res := toolcall.Failed("%s is not a text file.", name)
		return f, &res, nil
	}
	return f, nil, nil
}

// other returns the text of a file that a rename changes besides the one that was named. The server reads
// it from disk, as UTF-8.
func (l linguist) other(path string) (string, error) {
	f, err := l.Root.Peek(path)
	switch {
	case err != nil:
		return "", err
	case f.Format.Encoding != workspace.UTF8 || f.Format.BOM:
		return "", fmt.Errorf("%s is not plain UTF-8, so its places are not certain", f.Name)
	}
	if now := l.Pending.Over(f); now.Text != f.Text {
		return "", fmt.Errorf("%s has changes that wait for a review, which the language server does not know", f.Name)
	}
	return f.Text, nil
}

// spot is a file, maybe with a line: its number, or its text.
type spot struct {
	path, line string
	number     int // 0 for a text
}

// split reads a place as a model names it: a path, or one with a line behind a colon.
func (l linguist) split(at string) spot {
	for i := 0; i < len(at); i++ {
		if at[i] != ':' {
			continue
		}
		if f, err := l.Root.Peek(at[:i]); err != nil || !f.Exists {
			continue
		}
		line := strings.TrimSpace(at[i+1:])
		number, rest, _ := strings.Cut(line, ":") // a column may follow
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if _, failed := strconv.Atoi(rest); err != nil || rest != "" && failed != nil {
			n = 0
		}
		return spot{at[:i], line, n}
	}
	return spot{path: at}
}

// place returns the place of a symbol, or the result if it is not certain.
func (l linguist) place(ctx context.Context, call Call, a symbolArgs) (at langserver.Place, refused *Result, err error) {
	where := l.split(a.At)
	if refused, err := l.begin(ctx, call, where.path); refused != nil || err != nil {
		return at, refused, err
	}
	if where.path == "" {
		found, err := l.exactly(ctx, a.Symbol)
		if err != nil {
			res, err := l.unanswered(ctx, err)
			return at, &res, err
		}
		if len(found) != 1 {
			res := l.several(a.Symbol, found)
			return at, &res, nil
		}
		where = spot{found[0].Path, strconv.Itoa(found[0].Line), found[0].Line}
	}
	f, refused, err := l.text(ctx, call, where.path)
	if refused != nil || err != nil {
		return at, refused, err
	}
	at = langserver.Place{Path: f.Path, Text: f.Text}
	likely := 0
	if where.line == "" { // the line of its definition
		outline, _ := l.Languages.Outline(ctx, at) // without one, the first place counts
		inner := true
		for _, s := range outline {
			if is(s.Name, a.Symbol) && (likely == 0 || inner && s.In == "") { // one of the file before a field of the name
				likely, inner = s.Line, s.In != ""
			}
		}
	}
	offset, why := find(f.Text, a.Symbol, where, likely)
	if why != "" {
		res := toolcall.Failed("%s: %s", f.Name, why)
		return at, &res, nil
	}
	at.Offset = offset
	return at, nil, nil
}

// line returns the beginning of a line, or the result without one.
func (l linguist) line(ctx context.Context, call Call, name string) (at langserver.Place, refused *Result, err error) {
	where := l.split(name)
	if refused, err := l.begin(ctx, call, where.path); refused != nil || err != nil {
		return at, refused, err
	}
	f, refused, err := l.text(ctx, call, where.path)
	if refused != nil || err != nil {
		return at, refused, err
	}
	at = langserver.Place{Path: f.Path, Text: f.Text}
	for n, line := range strings.SplitAfter(f.Text, "\n") {
		if where.is(n+1, line) {
			return at, nil, nil
		}
		at.Offset += len(line)
	}
	res := toolcall.Failed("%s has no such line: at takes path:line, with the line's number or text.", f.Name)
	return at, &res, nil
}

// is reports whether a line is the one that is meant.
func (w spot) is(number int, text string) bool {
	if w.number > 0 {
		return number == w.number
	}
	return w.line != "" && strings.Contains(text, w.line)
}

// exactly returns the symbols of the project with a name.
func (l linguist) exactly(ctx context.Context, symbol string) ([]langserver.Symbol, error) {
	found, err := l.Languages.Find(ctx, last(symbol))
	return slices.DeleteFunc(found, func(s langserver.Symbol) bool {
		return !is(s.Name, symbol) && !is(s.In+"."+s.Name, symbol)
	}), err
}

// is reports whether a server's name of a symbol is that of a model: servers put more before it.
func is(name, symbol string) bool {
	plain := strings.NewReplacer("(", "", ")", "", "*", "", "::", ".", "#", ".")
	name, symbol = plain.Replace(name), plain.Replace(symbol)
	return name == symbol || strings.HasSuffix(name, "."+symbol)
}

// last returns the last part of a symbol such as Box.Size.
func last(symbol string) string {
	return symbol[strings.LastIndexAny(symbol, ".:#")+1:]
}

// several returns the result for a name that is not one symbol.
func (l linguist) several(symbol string, found []langserver.Symbol) Result {
	if len(found) == 0 {
		return toolcall.Failed("No symbol of the project has the name %s. Say at which path, or use search_files.", symbol)
	}
	return toolcall.Failed("%d symbols have the name %s: say at which path:line.\n%s", len(found), symbol, l.listSymbols(found).ForModel)
}

// find returns the offset of a symbol in a text: in the line that is meant, else in the line likely, if that is
// not zero, else at its first place.
func find(text, symbol string, where spot, likely int) (offset int, why string) {
	word := regexp.MustCompile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(last(symbol)) + `($|[^\pL\pN_])`)
	var lines []string
	start, first := 0, -1
	for n, l := range strings.SplitAfter(text, "\n") {
		if m := word.FindStringSubmatchIndex(l); m != nil {
			here := start + m[3]
			if where.line == "" && n+1 == likely || where.is(n+1, l) {
				return here, ""
			}
			if first < 0 {
				first = here
			}
			lines = append(lines, strconv.Itoa(n+1))
		}
		start += len(l)
	}
	switch {
	case first < 0:
		return 0, "the text has no " + last(symbol) + "."
	case where.line == "":
		return first, ""
	}
	return 0, fmt.Sprintf("there is no %s in line %s, but in %s %s.", last(symbol), clip.Bytes(where.line, maxPlaceLine, "…"), strings.TrimLeft(plural.Of(len(lines), "line"), "0123456789 "), strings.Join(lines[:min(len(lines), 20)], ", "))
}

// named lists the symbols of the project that match a query.
func (l linguist) named(ctx context.Context, query string) (Result, error) {
	if query == "" {
		return toolcall.Failed("list_symbols needs a path or a query."), nil
	}
	found, err := l.Languages.Find(ctx, query)
	if err != nil {
		return l.unanswered(ctx, err)
	}
	return l.listSymbols(found), nil
}

func (l linguist) listSymbols(found []langserver.Symbol) Result {
	var b strings.Builder
	for _, s := range found[:min(len(found), placesLimit)] {
		in := ""
		if s.In != "" {
			in = " in " + sanitize.Line(toolcall.OneLine(s.In, maxPlaceLine))
		}
		fmt.Fprintf(&b, "%s:%d: %s %s%s\n", l.nameOf(s.Path), s.Line, s.Kind, sanitize.Line(toolcall.OneLine(s.Name, maxPlaceLine)), in)
	}
	return l.counted(b.String(), len(found), "symbol")
}

// counted adds how many there are.
func (l linguist) counted(lines string, n int, noun string) Result {
	count := plural.Of(n, noun)
	if n > placesLimit {
		lines += fmt.Sprintf("truncated: %d of %s shown", placesLimit, count)
	} else {
		lines += count
	}
	return Result{ForModel: lines, ForUser: count}
}

// list lists places with their lines: those in the file from come first, then those in its folder, tests last.
func (l linguist) list(found []langserver.Location, from string) Result {
	rank := func(at langserver.Location) int {
		name := path.Base(at.Path)
		switch {
		case at.Path == from:
			return 0
		case strings.Contains(name, "_test.") || strings.Contains(name, ".test.") || strings.HasPrefix(name, "test_") || strings.Contains(at.Path, "/tests/"):
			return 3
		case path.Dir(at.Path) == path.Dir(from):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(found, func(a, b langserver.Location) int {
		if by := rank(a) - rank(b); by != 0 {
			return by
		}
		if by := strings.Compare(a.Path, b.Path); by != 0 {
			return by
		}
		return a.Line - b.Line
	})
	found = slices.Compact(found)
	texts := map[string][]string{}
	var b strings.Builder
	for _, at := range found[:min(len(found), placesLimit)] {
		lines, known := texts[at.Path]
		if !known {
			lines = l.lines(at.Path)
			texts[at.Path] = lines
		}
		text := ""
		if at.Line > 0 && at.Line <= len(lines) {
			text = ": " + toolcall.OneLine(strings.TrimSpace(cmp.Or(at.Text, lines[at.Line-1])), maxPlaceLine)
		}
		fmt.Fprintf(&b, "%s:%d%s\n", l.nameOf(at.Path), at.Line, text)
	}
	return l.counted(b.String(), len(found), "place")
}

// lines returns the lines of a file that the model may read without a question; nil for others.
func (l linguist) lines(abs string) []string {
	resolved, name, err := l.Root.Resolve(abs)
	if err != nil || l.NeedsAnswer(name, resolved) {
		return nil
	}
	f, err := l.Root.Read(abs)
	if err != nil {
		return nil
	}
	return strings.Split(l.Pending.Over(f).Text, "\n")
}
