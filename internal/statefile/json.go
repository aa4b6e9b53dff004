package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrMalformed is returned by JSON.Read if the file does not hold a T. It wraps the error
// of encoding/json, which may quote the file.
var ErrMalformed = errors.New("malformed JSON")

// JSON is a file that holds one T as indented JSON. Several processes may change it at
// the same time; none loses the change of another.
type JSON[T any] struct{ Path string }

// Read returns the value in the file, or the zero T if there is no file.
func (j JSON[T]) Read() (T, error) {
	var v, zero T
	data, err := os.ReadFile(j.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return zero, nil
	}
	if err != nil {
		return zero, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return zero, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return v, nil
}

// Change replaces the value by the result of f for it. It waits, until ctx ends,
// for other processes that are changing the file. It leaves a malformed file alone.
func (j JSON[T]) Change(ctx context.Context, f func(T) T) (err error) {
	lock, err := Acquire(ctx, j.Path+".lock")
	if err != nil {
		return fmt.Errorf("lock %s: %w", j.Path, err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	v, err := j.Read()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(f(v), "", "  ")
	if err != nil {
		return err
	}
	return Write(j.Path, append(data, '\n'))
}
