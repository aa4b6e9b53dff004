package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Bounds of search_files.
const (
	searchContext    = 1
	searchMaxContext = 20
	searchLimit      = 300 // files in the modes without content
	searchContent    = 100 // matches shown without a limit; if there are more, the files come first
	searchFirst      = 20  // matches shown after the files
	searchMaxLimit   = 2000
)

type searchFilesArgs struct {
	Path        string `json:"path"`
	Regex       string `json:"regex"`
	FilePattern string `json:"file_pattern"`
	Context     *int   `json:"context"`
	Limit       *int   `json:"limit"`
	Mode        string `json:"mode"`
}

var searchFilesFacts = Facts{Name: "search_files", Kind: KindSearch, Hook: "Grep", Names: []string{"Grep"}, Keys: map[string][]string{"regex": {"pattern"}, "file_pattern": {"glob"}}, Mistaken: []string{"grepsearch", "searchfilecontent"}, Helper: true}

func searchFiles(d Deps) Tool {
	params := []args.Param{
		{Name: "regex", Kind: args.Text, Doc: "RE2", Required: true},
		{Name: "path", Kind: args.Text},
		{Name: "file_pattern", Kind: args.Text, Doc: "such as *.go"},
		{Name: "context", Kind: args.Integer, Doc: "lines, default 1"},
		{Name: "limit", Kind: args.Integer},
		{Name: "mode", Schema: `{"type":"string","enum":["content","files","count"]}`},
	}
	s := searcher{reader: reader{d, searchFilesFacts.Name}, ripgrep: sync.OnceValue(func() string { return findRipgrep(d) }), seen: &search.Seen{}}
	return newTool(s.tool, params,
		func(a searchFilesArgs) string { return "Search /" + a.Regex + "/" + withPath("in", a.Path) },
		s.search).foresees(func(a searchFilesArgs) []Foreseen { return s.foresee(a.Path) }).reads()
}

type searcher struct {
	reader
	ripgrep func() string
	seen    *search.Seen
}

func (s searcher) search(ctx context.Context, call Call, a searchFilesArgs) (Result, error) {
	switch search.Mode(a.Mode) {
	case "", search.Content, search.Files, search.Counts:
	default:
		return toolcall.Failed("There is no mode %q: the modes are content, files and count.", a.Mode), nil
	}
	q := search.Query{
		Regex: a.Regex, FilePattern: a.FilePattern, Ripgrep: s.ripgrep(), Seen: s.seen,
		Context: min(max(orDefault(a.Context, searchContext), 0), searchMaxContext),
		Limit:   min(max(orDefault(a.Limit, a.limit()), 1), searchMaxLimit),
		Mode:    search.Mode(a.Mode),
	}
	q.Encoding, q.Asked = s.Root.Encoding()
	if s.Pending.Len() > 0 { // both know the files on disk only
		q.Ripgrep, q.Seen = "", nil
	}
	f, name, refused, err := s.folder(ctx, call, a.Path)
	if err != nil && s.isFile(ctx, a.Path) {
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
	kept := s.leaveOutKeys(&q)
	res, err := s.answer(ctx, f, q, a.Limit != nil, func(p string) string { return access.Under(name, p) })
	if err != nil {
		return s.unreadable(ctx, a.Path, err)
	}
	if len(kept) > 0 {
		res.ForModel += fmt.Sprintf("\n[Not searched: %s. Name one as path to ask the user for it.]", s.countKept(kept))
	}
	return res, nil
}

// countKept counts the files that a search left out.
func (s searcher) countKept(kept map[string]bool) string {
	for abs := range kept {
		if permission.Keys(s.nameOf(abs), abs, s.Home) != permission.UsuallyHolds {
			return search.Count(len(kept), "file that needs the user's answer", "files that need the user's answer")
		}
	}
	return search.Count(len(kept), "file that may contain passwords or keys", "files that may contain passwords or keys")
}

// leaveOutKeys makes q leave out the files whose text is kept from the model. It returns
// the set of those that a person can be asked about, which the search fills.
func (s searcher) leaveOutKeys(q *search.Query) map[string]bool {
	kept := map[string]bool{}
	q.Never = func(abs string) bool {
		if s.Guards(s.nameOf(abs), abs) == "" {
			return false
		}
		if permission.NeverRead(abs, s.Home) == "" {
			kept[abs] = true
		}
		return true
	}
	return kept
}

// answer searches and formats the answer. If more lines match than are shown without a
// limit of the model's own, the files with their numbers come first.
func (s searcher) answer(ctx context.Context, f search.Folder, q search.Query, limited bool, name func(string) string) (Result, error) {
	found, err := f.Grep(ctx, q)
	if err != nil {
		return Result{}, err
	}
	if !found.More || limited || q.Mode == search.Files || q.Mode == search.Counts {
		return Result{ForModel: found.Text(name), ForUser: matches(found)}, nil
	}
	q.Mode, q.Limit = search.Counts, searchLimit
	counts, err := f.Grep(ctx, q)
	if err != nil {
		return Result{}, err
	}
	first := found.First(searchFirst, q.Context)
	first.More, first.Partial = false, false // counts tells both
	return Result{
		ForModel: counts.Text(name) + "\n\nThe first of them; for others set path, file_pattern or limit:\n\n" + first.Text(name),
		ForUser:  matches(counts),
	}, nil
}

// limit returns the default of limit.
func (a searchFilesArgs) limit() int {
	if a.Mode == "" || a.Mode == string(search.Content) {
		return searchContent
	}
	return searchLimit
}

// matches summarizes an answer for the user.
func matches(found search.Found) string {
	user := search.Count(found.Matches, "match", "matches")
	if found.Mode == search.Files {
		user = search.Count(len(found.Counts), "file", "files")
	}
	if found.More {
		user = "the first " + user
	}
	if n := len(found.Unsearched); n > 0 {
		user += ", " + search.Count(n, "file was not searched", "files were not searched")
	}
	return user
}

// isFile reports whether path is a file in the workspace.
func (s searcher) isFile(ctx context.Context, path string) bool {
	if ctx.Err() != nil || path == "" {
		return false
	}
	if _, _, err := s.Root.Resolve(path); err != nil {
		return false // outside, a person agrees to folders
	}
	stream, err := s.open(path)
	if err != nil {
		return errors.Is(err, workspace.ErrGuarded) // a person is asked
	}
	return stream.Close() == nil
}

// findRipgrep returns the path of rg, or "" if it is missing or in the workspace, where
// the model might have written it.
func findRipgrep(d Deps) string {
	path := d.Ripgrep
	if path == "" {
		found, err := lookpath.Search{Dirs: d.Root.Roots()}.Find("rg")
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
