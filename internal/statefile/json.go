package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrMalformed is returned by JSON.Read if the file does not hold a T. It wraps the error
// of encoding/json, which may quote the file.
var ErrMalformed = errors.New("malformed JSON")

// JSON is a file that holds one T as indented JSON. Several processes may change it at
// the same time; none loses the change of another.
type JSON[T any] struct{ Path string }

// Read returns the value in the file, or the zero T if there is no file.
func (j JSON[T]) Read() (T, error) {
	var zero T
	data, err := readAny(j.Path)
	if err != nil {
		return zero, err
	}
	return j.decode(data)
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
	return Change(ctx, j.Path, func(data []byte) ([]byte, error) {
		v, err := j.decode(data)
		if err != nil {
			return nil, err
		}
		data, err = json.MarshalIndent(f(v), "", "  ")
		return append(data, '\n'), err
	})
}
