//go:build linux || darwin

package workspace

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyAttributes copies the extended attributes of from, including access lists, to to,
// and removes those that to got from its folder's defaults.
func copyAttributes(to, from *os.File) error {
	names, err := attributes(from)
	if err != nil {
		return err
	}
	extra, err := attributes(to)
	if err != nil {
		return err
	}
	for _, name := range extra {
		if !slices.Contains(names, name) && !byKernel(name) {
			if err := unix.Fremovexattr(int(to.Fd()), name); err != nil {
				return fmt.Errorf("the attribute %s cannot be removed: %w", name, err)
			}
		}
	}
	for _, name := range names {
		value, err := attribute(from, name)
		if err == nil {
			err = unix.Fsetxattr(int(to.Fd()), name, value, 0)
		}
		if err != nil && !byKernel(name) {
			return fmt.Errorf("the attribute %s cannot be kept: %w", name, err)
		}
	}
	return nil
}

// byKernel reports whether the system sets an attribute by its own rules and users may
// not.
func byKernel(name string) bool {
	return strings.HasPrefix(name, "security.") || strings.HasPrefix(name, "trusted.") || strings.HasPrefix(name, "com.apple.")
}

// attributes lists the names; none on a file system without attributes.
func attributes(f *os.File) ([]string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Flistxattr(int(f.Fd()), buf)
		switch {
		case errors.Is(err, unix.ENOTSUP):
			return nil, nil
		case errors.Is(err, unix.ERANGE):
			buf = make([]byte, 16*len(buf))
			continue
		case err != nil:
			return nil, fmt.Errorf("its attributes cannot be listed: %w", err)
		}
		return strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 }), nil
	}
}

func attribute(f *os.File, name string) ([]byte, error) {
	size, err := unix.Fgetxattr(int(f.Fd()), name, nil)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, size)
	n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
	return buf[:max(n, 0)], err
}
