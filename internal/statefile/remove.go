package statefile

import "os"

// Remove deletes the file at path. That it is gone already is no error.
func Remove(path string) error { return remove(path) }

// RemoveTree deletes the folder dir and all that is in it. That it is gone already
// is no error.
func RemoveTree(dir string) error { return os.RemoveAll(dir) }

// Truncate cuts the file at path to size bytes.
func Truncate(path string, size int64) error { return os.Truncate(path, size) }
