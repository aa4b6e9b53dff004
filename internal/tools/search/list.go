package search

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/glob"
)

// Names is a list of files and folders; folders end in a slash.
type Names struct {
	Names []string
	Total int // number of all names
	// Partial means that the folder has too many entries to list all.
	Partial bool
}

// Find returns at most limit files that the glob pattern selects, most recently changed
// first, then by path.
func (f Folder) Find(ctx context.Context, pattern string, limit int) (Names, error) {
	g, err := glob.New(pattern)
	if err != nil {
		return Names{}, err
	}
	entries, complete, err := f.walk(ctx)
	if err != nil {
		return Names{}, err
	}
	files := newest(entries, g.Match)
	return Names{Names: files[:min(limit, len(files))], Total: len(files), Partial: !complete}, nil
}

// All returns the files as Find does, followed by the folders by path, at most limit
// together.
func (f Folder) All(ctx context.Context, limit int) (Names, error) {
	entries, complete, err := f.walk(ctx)
	if err != nil {
		return Names{}, err
	}
	names := newest(entries, func(string) bool { return true })
	for _, e := range entries {
		if e.dir {
			names = append(names, withSlash(e.path, true))
		}
	}
	return Names{Names: names[:min(limit, len(names))], Total: len(names), Partial: !complete}, nil
}

// newest returns the files for which means returns true, most recently changed first,
// then by path.
func newest(entries []entry, means func(path string) bool) []string {
	type dated struct {
		path string
		time int64
	}
	var files []dated
	for _, e := range entries {
		if e.dir || !means(e.path) {
			continue
		}
		if info, err := e.Info(); err == nil { // else it is gone
			files = append(files, dated{e.path, info.ModTime().UnixNano()})
		}
	}
	slices.SortStableFunc(files, func(a, b dated) int { return cmp.Compare(b.time, a.time) })
	var names []string
	for _, file := range files {
		names = append(names, file.path)
	}
	return names
}

// List returns at most limit names in f, sorted. With recursive set, it returns
// everything below f that is not ignored; if that is too much, names nearer to the top
// come first.
func (f Folder) List(ctx context.Context, recursive bool, limit int) (Names, error) {
	if !recursive {
		return f.listOne(limit)
	}
	entries, complete, err := f.walk(ctx)
	if err != nil {
		return Names{}, err
	}
	out := Names{Total: len(entries), Partial: !complete}
	if len(entries) > limit {
		slices.SortStableFunc(entries, func(a, b entry) int {
			return strings.Count(a.path, "/") - strings.Count(b.path, "/")
		})
		entries = entries[:limit]
	}
	for _, e := range entries {
		out.Names = append(out.Names, withSlash(e.path, e.dir))
	}
	slices.Sort(out.Names)
	return out, nil
}

func (f Folder) listOne(limit int) (Names, error) {
	list, err := fs.ReadDir(f.FS, ".")
	if err != nil {
		return Names{}, err
	}
	out := Names{Total: len(list)}
	for _, d := range list[:min(limit, len(list))] {
		out.Names = append(out.Names, withSlash(d.Name(), d.IsDir()))
	}
	return out, nil
}

func withSlash(name string, dir bool) string {
	if dir {
		return name + "/"
	}
	return name
}
