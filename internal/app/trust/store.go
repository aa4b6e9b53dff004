package trust

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/subpath"
)

// Answer is a person's decision about a folder, or one derived from it.
type Answer int

// The answers. Only Trusted uses files of the folder.
const (
	Unknown  Answer = iota // not asked yet
	Changed                // trusted, but with other content
	Replaced               // another folder at the path of a trusted one
	Refused
	Trusted
)

// Entry is one answer.
type Entry struct {
	Dir     string `json:"dir"` // without symbolic links
	Folder  Folder `json:"folder,omitzero"`
	Trusted bool   `json:"trusted"`
	Hash    string `json:"hash,omitzero"` // of the content that is trusted
	// Via is the parent folder whose answer made this one trusted; it is empty if a
	// person was asked about this one. The entry is deleted with that answer.
	Via string `json:"via,omitzero"`
}

// String returns the entry as a line of a list.
func (e Entry) String() string {
	line := "refused  " + e.Dir
	if e.Trusted {
		line = "trusted  " + e.Dir
	}
	if e.Via != "" {
		line += "  (by " + e.Via + ")"
	}
	return line
}

// Store holds the answers in the agent's own folder.
type Store struct{ home string }

// Open returns the Store in the agent's own folder, without reading it.
func Open(home string) Store { return Store{home} }

func (s Store) entries() statefile.List[Entry] {
	return statefile.List[Entry]{
		JSON: statefile.JSON[[]Entry]{
			Path: filepath.Join(s.home, "trust.json"), Name: "trusted folders", Malformed: "no folder is trusted; delete it to be asked again",
		},
		Compare: func(a, b Entry) int { return cmp.Compare(a.Dir, b.Dir) },
	}
}

// List returns all answers, sorted by folder.
func (s Store) List() ([]Entry, error) { return s.entries().Read() }

// Use returns the answer like Of and saves it if it is derived: a folder below a
// trusted one is trusted with its present content, and asked about when that changes.
func (s Store) Use(ctx context.Context, f Found) (Answer, error) {
	a, e, err := s.of(f)
	if err == nil && a == Trusted && e.Dir != f.Dir {
		err = s.pin(ctx, e, f)
	}
	if err != nil {
		return Unknown, err
	}
	return a, nil
}

// pin saves the answer that follows from that of a folder above, unless the folder has one
// by now.
func (s Store) pin(ctx context.Context, above Entry, f Found) error {
	return s.entries().Change(ctx, func(all []Entry) []Entry {
		if slices.ContainsFunc(all, func(old Entry) bool { return old.Dir == f.Dir }) {
			return all
		}
		return append(all, Entry{Dir: f.Dir, Folder: f.Folder, Trusted: true, Hash: f.Hash, Via: cmp.Or(above.Via, above.Dir)})
	})
}

// Of returns the answer for the files found in a folder.
func (s Store) Of(f Found) (Answer, error) {
	a, _, err := s.of(f)
	return a, err
}

// of is Of that also returns the entry it follows from: the folder's own, or that of one
// above.
func (s Store) of(f Found) (Answer, Entry, error) {
	all, err := s.List()
	if err != nil {
		return Unknown, Entry{}, err
	}
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.Dir == f.Dir }); i >= 0 {
		return all[i].answer(f), all[i], nil
	}
	if over, ok := over(all, f.Dir); ok && over.Trusted && over.here() {
		return Trusted, over, nil
	}
	return Unknown, Entry{}, nil // an answer for a single folder does not extend to those below
}

// answer returns the entry's answer for the files found in its folder.
func (e Entry) answer(f Found) Answer {
	switch same := e.Folder.is(f.Folder); {
	case !same && e.Trusted:
		return Replaced
	case !same:
		return Unknown
	case !e.Trusted:
		return Refused
	case e.Hash != f.Hash:
		return Changed
	}
	return Trusted
}

// here reports whether the folder of the entry is still at its path.
func (e Entry) here() bool {
	return e.Folder.is(folderAt(e.Dir))
}

// over returns the answer about the nearest folder above dir.
func over(all []Entry, dir string) (nearest Entry, ok bool) {
	for _, e := range all {
		if inside(e.Dir, dir) && len(e.Dir) > len(nearest.Dir) {
			nearest, ok = e, true
		}
	}
	return nearest, ok
}

// inside reports whether dir is below parent.
func inside(parent, dir string) bool { return dir != parent && subpath.In(parent, dir) }

// Trust saves a yes to everything that was found in a folder.
func (s Store) Trust(ctx context.Context, f Found) error {
	if len(f.Instructions) > 0 {
		if err := s.Approve(ctx, f.Instructions...); err != nil {
			return err
		}
	}
	return s.Set(ctx, Entry{Dir: f.Dir, Folder: f.Folder, Trusted: true, Hash: f.Hash})
}

// Set saves an answer about a folder, replacing an earlier one. A no also deletes the
// answers derived from an earlier yes.
func (s Store) Set(ctx context.Context, e Entry) error {
	return s.entries().Put(ctx, e, func(old Entry) bool { return old.Dir == e.Dir || !e.Trusted && old.Via == e.Dir })
}

// Removed is the result of deleting an answer.
type Removed struct {
	Was   bool     // it existed
	Below []string // folders below whose trust was derived from it
	Own   []string // folders below with answers of their own, still trusted
	Over  string   // the folder above from which trust is still derived
}

// Lines explains the result of deleting the answer about dir.
func (r Removed) Lines(dir string) []string {
	lines := []string{"forgotten: " + dir}
	for _, below := range r.Below {
		lines = append(lines, "forgotten with it: "+below)
	}
	for _, own := range r.Own {
		lines = append(lines, "still trusted by an answer of its own: "+own)
	}
	if r.Over != "" {
		lines = append(lines, "it is still trusted as a folder below "+r.Over)
	}
	return lines
}

// Remove deletes the answer about a folder, and those derived from it.
func (s Store) Remove(ctx context.Context, dir string) (r Removed, err error) {
	err = s.entries().Change(ctx, func(all []Entry) []Entry {
		return slices.DeleteFunc(all, func(old Entry) bool {
			switch {
			case old.Dir == dir:
				r.Was = true
			case old.Via == dir:
				r.Below = append(r.Below, old.Dir)
			default:
				if old.Trusted && old.Via == "" && inside(dir, old.Dir) {
					r.Own = append(r.Own, old.Dir)
				}
				return false
			}
			return true
		})
	})
	if err == nil {
		err = errors.Join(s.forget(ctx, dir), s.forgetServers(ctx, dir))
	}
	if err != nil {
		return r, err
	}
	all, err := s.List()
	if over, ok := over(all, dir); ok && over.Trusted {
		r.Over = over.Dir
	}
	return r, err
}
