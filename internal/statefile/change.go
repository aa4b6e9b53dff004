package statefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Change replaces the content of the file at path by the result of f for it, which gets
// nil if the file is missing. It waits, until ctx ends, for other processes that are changing
// the file, so that none loses the change of another. After an error the file is
// unchanged.
func Change(ctx context.Context, path string, f func(data []byte) ([]byte, error)) (err error) {
	lock, err := Acquire(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	data, err := readAny(path)
	if err != nil {
		return err
	}
	if data, err = f(data); err != nil {
		return err
	}
	return Write(path, data)
}

// readAny returns the content of the file at path, or nil if it is missing. An
// empty file's content is not nil.
func readAny(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
