package langserver

import (
	"context"
	"errors"
	"slices"

	"github.com/bb2d0cf4/agent/internal/subpath"
)

// peer answers requests of the protocol: a server, or a linked editor.
type peer interface { //nolint:interfacebloat // for servers and editors alike
	// at has the peer hold a text, and returns the parameters for a place in it.
	at(at Place) map[string]any
	// call asks. While an answer looks empty and the peer may not know the project yet, it asks again.
	call(ctx context.Context, method string, params, result any, empty func() bool) error
	// settled waits until the peer knows the project.
	settled(ctx context.Context) error
	// counts returns how the peer counts characters.
	counts() counting
	// findings returns the problems of a text that the peer holds, as far as it wants to be told them.
	findings(ctx context.Context, path string) []diagnostic
}

// Place is a place in a text of a file.
type Place struct {
	Path   string // absolute
	Text   string // the whole text, with its own line endings
	Offset int    // in bytes
}

// Location is the place of a name.
type Location struct {
	Path string
	Line int // from 1
	// Text is that of the line, of an editor, which may know a text that is not saved; otherwise "".
	Text string
}

// Definition returns where the name at a place is defined.
func (s *Servers) Definition(ctx context.Context, at Place) ([]Location, error) {
	return s.locations(ctx, at, "textDocument/definition", nil)
}

// References returns where the name at a place is used, its definition included.
func (s *Servers) References(ctx context.Context, at Place) ([]Location, error) {
	return s.locations(ctx, at, "textDocument/references", map[string]any{"includeDeclaration": true})
}

func (s *Servers) locations(ctx context.Context, at Place, method string, more any) (all []Location, err error) {
	err = s.ask(ctx, at.Path, func(ctx context.Context, p peer) error {
		params := p.at(at)
		if more != nil { // a question about the whole project
			params["context"] = more
			if err := p.settled(ctx); err != nil {
				return err
			}
		}
		var found locations
		if err := p.call(ctx, method, params, &found, func() bool { return len(found) == 0 }); err != nil {
			return err
		}
		for _, each := range found {
			path, err := pathOf(each.URI)
			if err != nil {
				continue // a text that is in no file
			}
			all = append(all, Location{path, each.Range.Start.Line + 1, each.LineText})
		}
		return nil
	})
	return all, err
}

// Symbol is a name that is defined.
type Symbol struct {
	Location
	Name string
	Kind string // such as "function"
	In   string // the name that has it; "" if unknown
}

// Outline returns the names defined in a file, in its order.
func (s *Servers) Outline(ctx context.Context, at Place) (all []Symbol, err error) {
	err = s.ask(ctx, at.Path, func(ctx context.Context, p peer) error {
		params := p.at(at)
		delete(params, "position")
		var found []documentSymbol
		if err := p.call(ctx, "textDocument/documentSymbol", params, &found, func() bool { return len(found) == 0 }); err != nil {
			return err
		}
		all = flatten(nil, at.Path, "", found)
		return nil
	})
	return all, err
}

// Find returns the names of the project that match a query, from the editor or, if that knows none, all servers
// that run or may start.
func (s *Servers) Find(ctx context.Context, query string) (all []Symbol, err error) {
	var found []workspaceSymbol
	question := func(ctx context.Context, p peer) error {
		return p.call(ctx, "workspace/symbol", map[string]any{"query": query}, &found, func() bool { return len(found) == 0 })
	}
	if s.edits() {
		if err = s.askEditor(ctx, question); ctx.Err() != nil {
			return nil, err
		}
		if all = s.inside(found); len(all) > 0 {
			return all, nil
		}
		if errors.Is(err, errUnknown) {
			err = nil
		}
	}
	for _, u := range s.usable() {
		if u.Path != "" && s.may(u) {
			err = errors.Join(err, s.with(ctx, u, question))
			all = append(all, s.inside(found)...)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// inside returns the names that are in the project.
func (s *Servers) inside(found []workspaceSymbol) (all []Symbol) {
	for _, each := range found {
		path, err := pathOf(each.Location.URI)
		if err == nil && slices.ContainsFunc(s.opt.Folders, func(folder string) bool { return subpath.In(folder, path) }) {
			all = append(all, Symbol{Location{Path: path, Line: each.Location.Range.Start.Line + 1}, each.Name, kindOf(each.Kind), each.Container})
		}
	}
	return all
}

// FileEdit is the fate of a file.
type FileEdit struct {
	Path   string
	To     string // where it moves to; "" if it stays
	Before string // the text that it was computed from; none of a file that is made
	After  string
	Made   bool
	Gone   bool
}

// Rename returns the fate of all files by a rename of the name at a place. read returns the text of
// another file as it is to be changed.
func (s *Servers) Rename(ctx context.Context, at Place, name string, read func(path string) (string, error)) (all []FileEdit, err error) {
	err = s.ask(ctx, at.Path, func(ctx context.Context, p peer) error {
		params := p.at(at)
		params["newName"] = name
		if err := p.settled(ctx); err != nil {
			return err
		}
		var edit workspaceEdit
		if err := p.call(ctx, "textDocument/rename", params, &edit, edit.empty); err != nil {
			return err
		}
		all, err = edit.files(p.counts(), at.other(read))
		return err
	})
	return all, err
}

// other returns read, but the text of at for its file.
func (at Place) other(read func(path string) (string, error)) func(path string) (string, error) {
	return func(path string) (string, error) {
		if path == at.Path {
			return at.Text, nil
		}
		return read(path)
	}
}
