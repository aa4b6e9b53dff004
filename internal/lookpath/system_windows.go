package lookpath

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// System returns the path of a program of Windows.
func System(name string) string {
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		return name // Command refuses it
	}
	return filepath.Join(dir, name)
}
