package search

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Names is a list of files and folders; the latter end in a slash.
type Names struct {
	Names []string
	Total int // how many there are
	// Partial says that the folder has too many entries to look at all.
	Partial bool
}

// Find returns the files that glob selects, those that were changed last first
// and equal ones by path, limit at most.
func (f Folder) Find(ctx context.Context, pattern string, limit int) (Names, error) {
	glob, err := NewGlob(pattern)
	if err != nil {
		return Names{}, err
	}
	entries, complete, err := f.walk(ctx)
	if err != nil {
		return Names{}, err
	}
	files := newest(entries, glob.Match)
	return Names{Names: files[:min(limit, len(files))], Total: len(files), Partial: !complete}, nil
}

// All returns the files as Find does, and behind them the folders by path, limit at
// most together.
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

// newest returns the files that are meant, those that were changed last first and
// equal ones by path.
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
		if info, err := e.Info(); err == nil { // else it is gone by now
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

// List returns what is in f, limit names at most, sorted. With recursive set,
// that is everything below it that is not ignored; if it is too much, what is
// nearer to the top comes first.
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
