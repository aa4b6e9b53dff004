package search

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/bb2d0cf4/agent/internal/glob"

	"golang.org/x/sync/errgroup"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// MaxFile is the size limit of a searched file in bytes.
const MaxFile = 64 << 20

// Mode is the form of an answer.
type Mode string

// The modes.
const (
	Content Mode = "content" // the matching lines
	Files   Mode = "files"   // the files that hold any
	Counts  Mode = "count"   // the files, with the number of matching lines
)

// Query describes a search.
type Query struct {
	Regex       string // RE2 with ASCII classes, matched against each line
	Mode        Mode   // empty means Content
	FilePattern string // see glob.Glob; empty means every file
	Context     int    // lines shown around a match
	Limit       int    // matching lines, over all files; files, if no lines are wanted
	// File, if set, is the only file to search, relative to the folder.
	File string
	// Never, if not nil, returns true for files that must not be searched, by absolute
	// path.
	Never func(abs string) bool
	// Encoding is the encoding of files that do not show theirs; empty means Latin-1. Asked, if not nil,
	// knows better for a file at an absolute path, or returns "".
	Encoding text.Encoding
	Asked    func(abs string) text.Encoding
	// Ripgrep is the path of rg, which then selects the files; empty means without it.
	Ripgrep string
	// Seen, if not nil, is shared by the searches of a session.
	Seen *Seen
}

// untilUnknown returns asked, which is not called again once it does not know: an editor that
// does not answer delays a search by one file.
func untilUnknown(asked func(abs string) text.Encoding) func(string) text.Encoding {
	if asked == nil {
		return nil
	}
	var unknown atomic.Bool
	return func(abs string) (e text.Encoding) {
		if !unknown.Load() {
			if e = asked(abs); e == "" {
				unknown.Store(true)
			}
		}
		return e
	}
}

// fallback returns the encoding of the file at an absolute path, if its bytes do not show it.
func (q Query) fallback(abs string) text.Fallback {
	if q.Asked == nil {
		return text.Fallback{Encoding: q.Encoding}
	}
	return text.Fallback{Encoding: q.Encoding, Ask: func() text.Encoding { return q.Asked(abs) }}
}

func (q Query) withoutLines() bool { return q.Mode == Files || q.Mode == Counts }

// FileLines holds the lines found in one file.
type FileLines struct {
	Path  string // relative to the searched folder
	Lines []Line
}

// FileCount is a file with its number of matching lines, in the mode Files only one.
type FileCount struct {
	Path    string
	Matches int
}

// Found is the answer to a Query: files in order of their paths.
type Found struct {
	Mode    Mode
	Files   []FileLines // in the mode Content
	Counts  []FileCount // in the others
	Matches int
	More    bool // there are more matches, or files, than the limit
	Partial bool // the folder has too many files to search all
	// Unsearched lists unreadable folders, which end in a slash, and the files before the
	// limit that are larger than MaxFile or unreadable.
	Unsearched []string
}

// Grep searches the files below f. An error is about the query, the folder or ctx.
func (f Folder) Grep(ctx context.Context, q Query) (Found, error) {
	m, err := newMatcher(q.Regex)
	if err != nil {
		return Found{}, err
	}
	pattern, err := glob.New(q.FilePattern)
	if err != nil {
		return Found{}, err
	}
	q.Encoding, q.Asked = cmp.Or(q.Encoding, text.Latin1), untilUnknown(q.Asked)
	names, skipped, complete, err := f.candidates(ctx, q)
	if err != nil {
		return Found{}, err
	}
	if q.File == "" && q.FilePattern != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return !pattern.Match(name) })
	}
	if q.Never != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return q.Never(filepath.Join(f.Abs, name)) })
	}
	found, err := f.scanAll(ctx, m, q, names)
	found.Partial, found.Unsearched = !complete, slices.Concat(skipped, found.Unsearched)
	return found, err
}

// candidates returns the files that may match, sorted, and the folders that cannot be read.
func (f Folder) candidates(ctx context.Context, q Query) (names, skipped []string, complete bool, err error) {
	if q.File != "" {
		return []string{q.File}, nil, true, nil
	}
	if names, ok := f.ripgrep(ctx, q); ok {
		return names, nil, true, ctx.Err()
	}
	entries, skipped, complete, err := f.walkAll(ctx)
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.path)
		}
	}
	return names, skipped, complete, err
}

// batch is the number of files searched before the limit is checked again.
const batch = 256

// scanAll searches the files in order and stops at the limit.
func (f Folder) scanAll(ctx context.Context, m matcher, q Query, names []string) (Found, error) {
	found := Found{Mode: q.Mode}
	buffers := make([][]byte, runtime.GOMAXPROCS(0))
	for len(names) > 0 && !found.More {
		n := min(batch, len(names))
		results, err := f.scanBatch(ctx, m, q, names[:n], buffers)
		if err != nil {
			return found, err
		}
		for i, r := range results {
			switch {
			case found.More:
			case r.unsearched:
				found.Unsearched = append(found.Unsearched, names[i])
			case r.matches > 0:
				found.add(q, names[i], r)
			}
		}
		names = names[n:]
	}
	return found, nil
}

// add adds the result of one file, with as many matches as the limit allows.
func (found *Found) add(q Query, name string, r result) {
	left := q.Limit - found.Matches
	if q.withoutLines() {
		left = q.Limit - len(found.Counts)
	}
	if left == 0 {
		found.More = true
		return
	}
	if q.withoutLines() {
		found.Counts = append(found.Counts, FileCount{name, r.matches})
		found.Matches += r.matches
		return
	}
	if r.matches > left {
		r.lines, r.more = firstMatches(r.lines, left, q.Context), true
		r.matches = left
	}
	found.Files = append(found.Files, FileLines{name, r.lines})
	found.Matches += r.matches
	found.More = r.more
}

func (f FileLines) matches() int {
	n := 0
	for _, l := range f.Lines {
		if l.Match {
			n++
		}
	}
	return n
}

// First returns the first n matches of found with their context.
func (found Found) First(n, context int) Found {
	out := Found{Mode: found.Mode, Partial: found.Partial}
	q := Query{Mode: found.Mode, Limit: n, Context: context}
	for _, f := range found.Files {
		if !out.More {
			out.add(q, f.Path, result{lines: slices.Clone(f.Lines), matches: f.matches()})
		}
	}
	return out
}

// firstMatches cuts lines after the n-th match and its context. A further match in that
// context becomes context.
func firstMatches(lines []Line, n, context int) []Line {
	last := -1 // index of the n-th match
	for i := range lines {
		switch l := &lines[i]; {
		case n > 0 && l.Match:
			n--
			last = i
		case n == 0 && l.Number > lines[last].Number+context:
			return lines[:i]
		case n == 0:
			l.Match = false
		}
	}
	return lines
}

type result struct {
	lines      []Line
	matches    int
	more       bool
	unsearched bool
}

func (f Folder) scanBatch(ctx context.Context, m matcher, q Query, names []string, buffers [][]byte) ([]result, error) {
	results := make([]result, len(names))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for w := range min(len(buffers), len(names)) {
		g.Go(func() error {
			defer crash.Guard()
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				r := &results[i]
				buffers[w], r.unsearched = readInto(f.FS, names[i], buffers[w])
				data, ok := text.Plain(buffers[w], q.fallback(filepath.Join(f.Abs, names[i])))
				switch {
				case !ok:
				case q.Mode == Files:
					r.matches = m.count(data, 1)
				case q.Mode == Counts:
					r.matches = m.count(data, math.MaxInt)
				default:
					r.lines, r.matches, r.more = m.scan(data, q.Context, q.Limit)
				}
			}
			return nil
		})
	}
	return results, g.Wait()
}

// readInto reads a file into the memory of buf. The result is empty if the file is not
// regular or gone, or unsearched: too large or unreadable.
func readInto(fsys fs.FS, name string, buf []byte) (data []byte, unsearched bool) {
	f, err := fsys.Open(name)
	if err != nil {
		return buf[:0], !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxFile {
		return buf[:0], err != nil || info.Mode().IsRegular()
	}
	if size := int(info.Size()); cap(buf) < size {
		buf = make([]byte, size)
	} else {
		buf = buf[:size]
	}
	n, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return buf[:0], !errors.Is(err, io.EOF)
	}
	return buf[:n], false
}
