package search

import (
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
	type dated struct {
		path string
		time int64
	}
	var files []dated
	for _, e := range entries {
		if e.dir || !glob.Match(e.path) {
			continue
		}
		if info, err := e.Info(); err == nil { // else it is gone by now
			files = append(files, dated{e.path, info.ModTime().UnixNano()})
		}
	}
	slices.SortStableFunc(files, func(a, b dated) int {
		switch {
		case a.time > b.time:
			return -1
		case a.time < b.time:
			return 1
		}
		return 0
	})
	out := Names{Total: len(files), Partial: !complete}
	for _, file := range files[:min(limit, len(files))] {
		out.Names = append(out.Names, file.path)
	}
	return out, nil
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
