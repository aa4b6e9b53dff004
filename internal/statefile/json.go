package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrMalformed is returned by JSON.Read if the file does not hold a T. It wraps the error
// of encoding/json, which may quote the file.
var ErrMalformed = errors.New("malformed JSON")

// JSON is a file that holds one T as indented JSON. Several processes may change it at
// the same time; none loses the change of another.
type JSON[T any] struct {
	Path string
	// Name and Malformed explain errors to people: the content of the file, and the consequence of a
	// malformed one. Both may be empty.
	Name, Malformed string
}

// Read returns the value in the file, or the zero T if there is no file.
func (j JSON[T]) Read() (v T, err error) {
	data, err := readAny(j.Path)
	if err == nil {
		v, err = j.decode(data)
	}
	return v, j.explain(err)
}

// explain adds the consequence to an error of the file.
func (j JSON[T]) explain(err error) error {
	switch {
	case err == nil || j.Name == "":
		return err
	case errors.Is(err, ErrMalformed) && j.Malformed != "":
		return fmt.Errorf("%s: %w, so %s", j.Path, err, j.Malformed)
	}
	return fmt.Errorf("%s: %w", j.Name, err)
}

// decode returns the value in data, or the zero T if data is nil: there is no file.
func (j JSON[T]) decode(data []byte) (T, error) {
	var v, zero T
	if data == nil {
		return zero, nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return zero, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return v, nil
}

// Change replaces the value by the result of f for it. It waits, until ctx ends,
// for other processes that are changing the file. It leaves a malformed file alone.
func (j JSON[T]) Change(ctx context.Context, f func(T) T) error {
	return j.explain(Change(ctx, j.Path, func(data []byte) ([]byte, error) {
		v, err := j.decode(data)
		if err != nil {
			return nil, err
		}
		data, err = json.MarshalIndent(f(v), "", "  ")
		return append(data, '\n'), err
	}))
}

// List is a file of entries, such as a person's answers, in the order of Compare.
type List[T any] struct {
	JSON[[]T]
	Compare func(a, b T) int
}

// Change replaces the entries by those that f returns; see JSON.Change.
func (l List[T]) Change(ctx context.Context, f func([]T) []T) error {
	return l.JSON.Change(ctx, func(all []T) []T {
		all = f(all)
		slices.SortFunc(all, l.Compare)
		return all
	})
}

// Put stores an entry in place of the old ones.
func (l List[T]) Put(ctx context.Context, e T, old func(T) bool) error {
	return l.Change(ctx, func(all []T) []T { return append(slices.DeleteFunc(all, old), e) })
}

// Delete deletes entries and reports whether it found any.
func (l List[T]) Delete(ctx context.Context, old func(T) bool) (was bool, err error) {
	err = l.Change(ctx, func(all []T) []T {
		was = slices.ContainsFunc(all, old)
		return slices.DeleteFunc(all, old)
	})
	return was, err
}
