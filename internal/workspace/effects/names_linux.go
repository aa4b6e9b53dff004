package effects

import (
	"slices"

	"golang.org/x/sys/unix"
)

// timesNames reports whether the times of a folder on the file system of d change with its
// names. Some that are served by programs or other machines leave them as they are.
func (d dir) timesNames() bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(d.fd, &st); err != nil {
		return false
	}
	return slices.Contains([]int64{
		unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	}, int64(st.Type)) //nolint:unconvert // its type differs between systems
}
