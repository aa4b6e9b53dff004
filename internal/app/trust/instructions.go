package trust

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Instruction is a file of instructions for the model. It is used with the texts that a
// person has approved, at its path.
type Instruction struct {
	Path    string // absolute
	Name    string // for people; not sanitized
	Size    int64
	Hidden  int    // number of characters that a reader cannot see
	Hash    string // of the text
	Changed bool   // another text of it was approved
	Agent   string // the summary of the sub-agent that it defines; "" for other files
	Skill   string // the description of the skill in it; "" for plain instructions
	// Hooks describes the hooks in it, each in a line. Trust in a folder above does not
	// extend to them: each was shown. Hash is of the hooks and the scripts that they run.
	Hooks []string
}

// maxTexts is the number of approved texts that are kept for a file: those of some
// branches.
const maxTexts = 20

// texts holds the hashes of the approved texts by the file's path.
type texts map[string][]string

func (s Store) texts() statefile.JSON[texts] {
	return statefile.JSON[texts]{
		Path: filepath.Join(s.home, "instructions.json"), Name: "trusted instructions",
		Malformed: "no instructions are trusted; delete it to be asked again",
	}
}

// Approvals are the texts that a person has approved, as of one reading of the file.
type Approvals struct{ all texts }

// Approvals reads the approved texts.
func (s Store) Approvals() (Approvals, error) {
	all, err := s.texts().Read()
	return Approvals{all}, err
}

// Has reports whether a person has approved this text at this path.
func (a Approvals) Has(path, hash string) bool { return slices.Contains(a.all[path], hash) }

// Approved reports whether a person has approved this text at this path.
func (s Store) Approved(path, hash string) (bool, error) {
	a, err := s.Approvals()
	return a.Has(path, hash), err
}

// Seen reports whether a person has approved this text at this path, and whether they have approved
// any there.
func (s Store) Seen(path, hash string) (seen, known bool) {
	a, err := s.Approvals()
	return a.Has(path, hash), err != nil || len(a.all[path]) > 0
}

// Approve saves that a person has approved the text of each file.
func (s Store) Approve(ctx context.Context, list ...Instruction) error {
	return s.texts().Change(ctx, func(all texts) texts {
		if all == nil {
			all = texts{}
		}
		for _, in := range list {
			kept := slices.DeleteFunc(all[in.Path], func(old string) bool { return old == in.Hash })
			kept = append(kept, in.Hash)
			all[in.Path] = kept[max(0, len(kept)-maxTexts):]
		}
		return all
	})
}

// Unapproved returns the instructions of f without a yes. A file in a folder below a
// trusted one, if no text of it was approved before, gets one with its present text.
func (s Store) Unapproved(ctx context.Context, f Found) (list []Instruction, err error) {
	list, derived, err := s.unapproved(f)
	if len(derived) > 0 {
		err = s.Approve(ctx, derived...)
	}
	return list, err
}

// Derived returns the instructions of f that Unapproved would approve.
func (s Store) Derived(f Found) (list []Instruction, err error) {
	_, list, err = s.unapproved(f)
	return list, err
}

func (s Store) unapproved(f Found) (list, derived []Instruction, err error) {
	all, err := s.texts().Read()
	if err != nil {
		return nil, nil, err
	}
	folders, err := s.List()
	if err != nil {
		return nil, nil, err
	}
	for _, in := range f.Instructions {
		known, hashes := len(all[in.Path]) > 0, all[in.Path]
		switch over, ok := over(folders, filepath.Dir(in.Path)); {
		case slices.Contains(hashes, in.Hash):
		case !known && ok && over.Trusted && over.here() && in.Hooks == nil:
			derived = append(derived, in)
		default:
			in.Changed = known
			list = append(list, in)
		}
	}
	return list, derived, nil
}

// forget deletes the approved texts of the files that a session in dir or below uses.
func (s Store) forget(ctx context.Context, dir string) error {
	all, err := s.texts().Read()
	if err != nil || len(all) == 0 {
		return err
	}
	return s.texts().Change(ctx, func(all texts) texts {
		for path := range all {
			if at := filepath.Dir(path); at == dir || inside(dir, at) || inside(at, dir) {
				delete(all, path)
			}
		}
		return all
	})
}
