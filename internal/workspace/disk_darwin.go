package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// asOnDisk returns path with the last part as it is called on the disk, where case and accents may be
// written in another way.
func asOnDisk(path string) (string, error) {
	dir, part := filepath.Split(path)
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return "", fmt.Errorf("the folder of %s does not tell its names, so it is not known how that is spelled: %w", path, err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return "", err
	}
	name, ok := nameOnDisk(names, part, func(name string) bool {
		found, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && os.SameFile(info, found)
	})
	if !ok {
		return path, nil // it was removed meanwhile, or has no name of its own, as a mounted folder
	}
	return filepath.Join(dir, name), nil
}
