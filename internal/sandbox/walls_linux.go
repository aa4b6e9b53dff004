//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// Walls are the limits of a command in a room, which sees only the files that it may read, no
// processes but its own, and no network but its own: as the kernel takes them, for the
// process that sets up the room.
type Walls struct {
	Ruleset         []byte // the rights that Landlock grants nowhere else
	Folders, Others uint64 // the rights to grant below a folder, and to another file
	Filter          []byte // for system calls
	Capabilities    uint64 // those that root keeps in it
}

// Room returns the walls of a room, or an error on a system that lacks one of them.
func Room() (Walls, error) {
	l := probeLandlock()
	switch {
	case l.abi < minABI:
		return Walls{}, fmt.Errorf("the kernel has no Landlock of version %d or newer", minABI)
	case !hasSeccomp():
		return Walls{}, fmt.Errorf("the kernel has no seccomp filters")
	}
	rules := l.ruleset(Policy{Network: true})
	rules.Scoped = 0 // the namespaces are narrower
	w := Walls{
		Folders: rules.Handled_access_fs &^ deviceRights, Capabilities: keptCapabilities,
		Others: fileRights | rules.Handled_access_fs&unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	}
	for _, part := range []struct {
		value any
		to    *[]byte
	}{{rules, &w.Ruleset}, {filter(inRoom), &w.Filter}} {
		var err error
		if *part.to, err = binary.Append(nil, binary.NativeEndian, part.value); err != nil {
			return Walls{}, err
		}
	}
	return w, nil
}
