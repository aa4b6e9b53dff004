package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Bounds of search_files.
const (
	searchContext    = 1
	searchMaxContext = 20
	searchLimit      = 300
	searchMaxLimit   = 2000
)

type searchFilesArgs struct {
	Path        string `json:"path"`
	Regex       string `json:"regex"`
	FilePattern string `json:"file_pattern"`
	Context     *int   `json:"context"`
	Limit       *int   `json:"limit"`
}

func searchFiles(d Deps) Tool {
	params := []args.Param{
		{Name: "regex", Kind: args.Text, Doc: "RE2", Required: true},
		{Name: "path", Kind: args.Text, Doc: "folder or file"},
		{Name: "file_pattern", Kind: args.Text, Doc: "such as *.go"},
		{Name: "context", Kind: args.Integer, Doc: "lines around, default 1"},
		{Name: "limit", Kind: args.Integer, Doc: "matches, default 300"},
	}
	s := searcher{reader: reader{d, "search_files"}, ripgrep: sync.OnceValue(func() string { return findRipgrep(d) })}
	return newTool(s.tool, params,
		func(a searchFilesArgs) string { return "Search /" + a.Regex + "/" + withPath("in", a.Path) },
		s.search).reads()
}

type searcher struct {
	reader
	ripgrep func() string
}

func (s searcher) search(ctx context.Context, call Call, a searchFilesArgs) (Result, error) {
	q := search.Query{
		Regex: a.Regex, FilePattern: a.FilePattern, Ripgrep: s.ripgrep(),
		Context: min(max(orDefault(a.Context, searchContext), 0), searchMaxContext),
		Limit:   min(max(orDefault(a.Limit, searchLimit), 1), searchMaxLimit),
		Never:   func(abs string) bool { return permission.NeverRead(abs, s.Home) != "" },
	}
	f, name, refused, err := s.folder(ctx, call, a.Path)
	if err != nil && s.isFile(ctx, a.Path) {
		if abs, _, err := s.Root.Resolve(a.Path); err == nil && q.Never(abs) {
			return failed("%s is never read: %s.", a.Path, permission.NeverRead(abs, s.Home)), nil
		}
		q.File = filepath.Base(a.Path)
		var of *Result // the refusal of the folder
		refused, err = s.allowed(ctx, call, a.Path, func() (err error) {
			f, name, of, err = s.folder(ctx, call, filepath.Dir(a.Path))
			return err
		})
		refused = cmp.Or(refused, of)
	}
	if refused != nil {
		return *refused, nil
	}
	if err != nil {
		return s.unreadable(ctx, a.Path, err)
	}
	if _, _, err := s.Root.Resolve(f.Abs); errors.Is(err, workspace.ErrOutside) {
		never := q.Never
		q.Never = func(abs string) bool { return never(abs) || permission.Secret(strings.TrimPrefix(abs, f.Abs)) }
	}
	left := 0
	if q.File == "" {
		never := q.Never
		q.Never = func(abs string) bool {
			if never(abs) {
				return true
			}
			out := s.keepsOut(f, abs)
			if out {
				left++
			}
			return out
		}
	}
	found, err := f.Grep(ctx, q)
	if err != nil {
		return s.unreadable(ctx, a.Path, err)
	}
	user := search.Count(found.Matches, "match", "matches")
	if found.More {
		user = "the first " + user
	}
	text := found.Text(func(p string) string { return under(name, p) })
	if left > 0 {
		text += fmt.Sprintf("\n[Not searched: %s. Name one as path to ask the user for it.]", search.Count(left, "file that usually holds keys", "files that usually hold keys"))
	}
	return Result{ForModel: text, ForUser: user}, nil
}

// isFile reports whether path is a file in the workspace.
func (s searcher) isFile(ctx context.Context, path string) bool {
	if ctx.Err() != nil || path == "" {
		return false
	}
	if _, _, err := s.Root.Resolve(path); err != nil {
		return false // outside, a person agrees to folders
	}
	stream, err := s.Root.Open(path)
	if err != nil {
		return false
	}
	return stream.Close() == nil
}

// findRipgrep returns the path of rg, or "" if it is missing or in the workspace, where
// the model might have written it.
func findRipgrep(d Deps) string {
	path := d.Ripgrep
	if path == "" {
		found, err := exec.LookPath("rg")
		if err != nil {
			return ""
		}
		path = found
	}
	if _, _, err := d.Root.Resolve(path); err == nil {
		return ""
	}
	return path
}
