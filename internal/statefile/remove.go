package statefile

import "os"

// Remove deletes the file at path. That it is gone already is no error.
func Remove(path string) error { return remove(path) }

// Truncate cuts the file at path to size bytes.
func Truncate(path string, size int64) error { return os.Truncate(path, size) }
