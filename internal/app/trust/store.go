package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Answer is what a person has said about a folder, or what follows from it.
type Answer int

// The answers. The zero one uses nothing of the folder.
const (
	Unknown Answer = iota // nobody has been asked
	Changed               // it was trusted as it was then
	Refused
	Trusted
)

// Entry is one answer.
type Entry struct {
	Dir     string `json:"dir"` // its real path
	Trusted bool   `json:"trusted"`
	Hash    string `json:"hash,omitzero"` // of what was looked at, if it is trusted
	// Via is the folder above whose answer made this one trusted; empty if a person
	// was asked about this one. It goes when that answer goes.
	Via string `json:"via,omitzero"`
}

// String is the entry as a list shows it.
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

// Store keeps the answers in the agent's own folder.
type Store struct{ home string }

// Open returns the Store in the agent's own folder. It reads nothing yet.
func Open(home string) Store { return Store{home} }

func (s Store) file() string { return filepath.Join(s.home, "trust.json") }

func (s Store) entries() statefile.JSON[[]Entry] { return statefile.JSON[[]Entry]{Path: s.file()} }

// List returns all answers, in the order of the folders.
func (s Store) List() ([]Entry, error) {
	all, err := s.entries().Read()
	return all, s.explain(err)
}

// explain adds to an error of the file what it means for the person.
func (s Store) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, statefile.ErrMalformed):
		return fmt.Errorf("%s: %w, so no folder is trusted; delete it to be asked again", s.file(), err)
	}
	return fmt.Errorf("trusted folders: %w", err)
}

// Use is Of for what is used from then on: a folder below one that is trusted is
// trusted as it is first seen, and asked about when it has changed.
func (s Store) Use(ctx context.Context, f Found) (Answer, error) {
	a, via, err := s.of(f)
	if err == nil && via != "" {
		err = s.pin(ctx, Entry{Dir: f.Dir, Trusted: true, Hash: f.Hash, Via: via})
	}
	if err != nil {
		return Unknown, err
	}
	return a, nil
}

// pin keeps what follows from an answer, unless there is one about the folder by now.
func (s Store) pin(ctx context.Context, e Entry) error {
	return s.change(ctx, func(all []Entry) []Entry {
		if slices.ContainsFunc(all, func(old Entry) bool { return old.Dir == e.Dir }) {
			return all
		}
		return append(all, e)
	})
}

// Of returns the answer for what was found in a folder.
func (s Store) Of(f Found) (Answer, error) {
	a, _, err := s.of(f)
	return a, err
}

// of is Of; via is the folder above that the answer follows from.
func (s Store) of(f Found) (a Answer, via string, err error) {
	all, err := s.List()
	if err != nil {
		return Unknown, "", err
	}
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.Dir == f.Dir }); i >= 0 {
		switch e := all[i]; {
		case !e.Trusted:
			return Refused, "", nil
		case e.Hash != f.Hash:
			return Changed, "", nil
		}
		return Trusted, "", nil
	}
	if over, ok := over(all, f.Dir); ok && over.Trusted {
		return Trusted, cmp.Or(over.Via, over.Dir), nil
	}
	return Unknown, "", nil // what was said of a folder alone says nothing of those below it
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

// inside says whether dir is below parent.
func inside(parent, dir string) bool {
	rel, err := filepath.Rel(parent, dir)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Set keeps an answer about a folder, in the place of an earlier one. A no also ends
// what followed from an earlier yes.
func (s Store) Set(ctx context.Context, e Entry) error {
	return s.change(ctx, func(all []Entry) []Entry {
		all = slices.DeleteFunc(all, func(old Entry) bool {
			return old.Dir == e.Dir || !e.Trusted && old.Via == e.Dir
		})
		return append(all, e)
	})
}

// Removed is what became of the answers when one was forgotten.
type Removed struct {
	Was   bool     // there was one
	Below []string // folders below that were trusted by it, and are not any more
	Own   []string // folders below that are trusted by answers of their own
	Over  string   // the folder above by which it is trusted all the same
}

// Lines says what it means that the answer about dir was forgotten.
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

// Remove forgets the answer about a folder, and what followed from it.
func (s Store) Remove(ctx context.Context, dir string) (r Removed, err error) {
	err = s.change(ctx, func(all []Entry) []Entry {
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
	if err != nil {
		return r, err
	}
	all, err := s.List()
	if over, ok := over(all, dir); ok && over.Trusted {
		r.Over = over.Dir
	}
	return r, err
}

// change replaces the answers by what f makes of them.
func (s Store) change(ctx context.Context, f func([]Entry) []Entry) error {
	return s.explain(s.entries().Change(ctx, func(all []Entry) []Entry {
		all = f(all)
		slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Dir, b.Dir) })
		return all
	}))
}
