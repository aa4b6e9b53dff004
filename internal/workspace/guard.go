package workspace

import "fmt"

// Guard makes Read, Open and the files of FS fail with ErrGuarded where why returns a
// reason, as the predicate of a sentence about the file. name is as in Resolve, abs the
// file's absolute path behind all symlinks. Proposals and the journal are not guarded: a
// person gets their texts, and no model does.
func (r *Root) Guard(why func(name, abs string) string) { r.files.guard.Store(&why) }

// guarded returns the error of reading the file at p, which exists, if it is guarded.
func (fl *files) guarded(name, abs string) error {
	why := fl.guard.Load()
	if why == nil {
		return nil
	}
	if reason := (*why)(name, abs); reason != "" {
		return fmt.Errorf("%s %s: %w", name, reason, ErrGuarded)
	}
	return nil
}

// guardedPlace is guarded for a place that may be outside or missing, which open reports.
func (fl *files) guardedPlace(p place) error {
	if p.info == nil || p.folder == nil && fl.outside.By(p.abs) == "" {
		return nil
	}
	return fl.guarded(p.name, p.abs)
}

// Peek is Read without the guard, for a comparison whose text no model gets.
func (r *Root) Peek(path string) (File, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return File{}, err
	}
	return r.files.whole(p)
}
