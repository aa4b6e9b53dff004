package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// maxSeen is the number of folders that a Seen remembers.
	maxSeen = 20_000
	// settled is the age of a folder's last change from which on a later change has
	// another time, whatever the file system's clock.
	settled = 2 * time.Second
	// sizesLast is how long the sizes of files are believed: within it, few files grow by MaxFile, and rg is stopped in
	// time if one does.
	sizesLast = 10 * time.Second
)

// Seen remembers the names in folders, so that a search before which nothing has changed
// reads none again. Several goroutines may use it; its zero value is empty, and a nil *Seen
// remembers nothing.
type Seen struct {
	now func() time.Time // nil means time.Now

	mu      sync.Mutex
	folders map[string]listing // by path
}

// listing holds the names in a folder, without links and irregular files.
type listing struct {
	changed time.Time // when the folder itself last changed
	below   []string  // folders, without .git
	files   []string  // regular files, which may grow without a change of the folder
	git     bool      // there is a .git
	ignore  bool      // there is a .gitignore
	unfit   bool      // it is a link, or there is a .rgignore
	large   []string  // those of files that are larger than MaxFile
	sized   time.Time // when large was found; zero if it was not
}

// list returns the names in dir; none if it may not be read, as rg cannot read it either.
func (s *Seen) list(dir string) (listing, error) {
	var changed time.Time
	if s != nil {
		if info, err := os.Stat(dir); err == nil {
			changed = changedAt(info)
		}
		if l, ok := s.known(dir, changed); ok {
			return l, nil
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		return listing{}, nil //nolint:nilerr // see above
	}
	list, err := f.ReadDir(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return listing{}, err
	}
	l := newListing(list)
	l.changed = changed
	return l, nil
}

// size finds the large files of l, the listing of dir, and remembers l.
func (s *Seen) size(dir string, l *listing) {
	if s != nil && s.time().Sub(l.sized) < sizesLast {
		return
	}
	l.large = nil
	for _, file := range l.files {
		if info, err := os.Lstat(filepath.Join(dir, file)); err == nil && info.Mode().IsRegular() && info.Size() > MaxFile {
			l.large = append(l.large, file)
		}
	}
	if s == nil || l.changed.IsZero() {
		return
	}
	if l.sized = s.time(); l.sized.Sub(l.changed) > settled {
		s.remember(dir, *l)
	}
}

func (s *Seen) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

func (s *Seen) known(dir string, changed time.Time) (listing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.folders[dir]
	return l, ok && l.changed.Equal(changed)
}

func (s *Seen) remember(dir string, l listing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folders == nil {
		s.folders = map[string]listing{}
	}
	if _, ok := s.folders[dir]; ok || len(s.folders) < maxSeen {
		s.folders[dir] = l
	}
}

func newListing(list []fs.DirEntry) (l listing) {
	for _, d := range list {
		switch d.Name() {
		case ".git":
			l.git = true
		case ".gitignore":
			l.ignore, l.unfit = true, l.unfit || d.Type()&fs.ModeSymlink != 0
		case ".rgignore":
			l.unfit = true
		}
		if d.IsDir() && d.Name() != ".git" {
			l.below = append(l.below, d.Name())
		}
		if d.Type().IsRegular() && d.Name() != ".git" {
			l.files = append(l.files, d.Name())
		}
	}
	return l
}
