//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// opened opens a file with flags and closes it.
func opened(name string, flags int) error {
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("escaped")
	return firstError(err, f.Close())
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sh runs a line.
func sh(format string, args ...any) error {
	out, err := exec.Command("/bin/sh", "-c", fmt.Sprintf(format, args...)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

var writes = []escape{
	{name: "create a file outside", got: world.made, try: func(w world) error { return put(w.outside("new")) }},
	{name: "overwrite", got: world.changed, try: func(w world) error { return opened(w.outside("file"), os.O_WRONLY) }},
	{name: "append", got: world.changed, try: func(w world) error { return opened(w.outside("file"), os.O_WRONLY|os.O_APPEND) }},
	{name: "truncate by name", got: world.changed, try: func(w world) error { return os.Truncate(w.outside("file"), 0) }},
	{name: "truncate by opening", got: world.changed, try: func(w world) error { return opened(w.outside("file"), os.O_RDONLY|os.O_TRUNC) }},
	{name: "read and write", got: world.changed, try: func(w world) error { return opened(w.outside("file"), os.O_RDWR) }},
	{name: "remove a file", got: world.changed, try: func(w world) error { return unix.Unlink(w.outside("file")) }},
	{name: "remove a folder", try: func(w world) error { return unix.Rmdir(w.outside("folder")) }},
	{name: "make a folder", got: world.made, try: func(w world) error { return os.Mkdir(w.outside("new"), 0o777) }},
	{name: "make a fifo", got: world.made, try: func(w world) error { return unix.Mkfifo(w.outside("new"), 0o666) }},
	{name: "make a symbolic link", got: world.made, try: func(w world) error { return os.Symlink("/", w.outside("new")) }},
	{name: "make a socket file", got: world.made, try: func(w world) error { return unix.Mknod(w.outside("new"), unix.S_IFSOCK|0o666, 0) }},
	{name: "relative path", got: world.made, try: func(world) error { return put("../out/new") }},
	{name: "path through proc", got: world.made, try: func(world) error { return put("/proc/self/cwd/../out/new") }},
	{name: "root in proc", got: world.made, try: func(w world) error { return put("/proc/self/root" + w.outside("new")) }},
	{name: "root of another process", got: world.made, try: func(w world) error {
		return put(fmt.Sprintf("/proc/%d/root%s", w.victim, w.outside("new")))
	}},
	{name: "change the folder", got: world.made, try: func(w world) error { return firstError(os.Chdir(w.out), put("new")) }},
	{name: "open folder", got: world.made, try: func(w world) error {
		dir, err := unix.Open(w.out, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		_, err = unix.Openat(dir, "new", unix.O_CREAT|unix.O_WRONLY, 0o666)
		return err
	}},
	{name: "open again for writing", got: world.changed, try: func(w world) error {
		fd, err := unix.Open(w.outside("file"), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return opened(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_WRONLY)
	}},
	{name: "nameless file", needs: "nameless files", got: world.made, try: func(w world) error {
		fd, err := unix.Open(w.out, unix.O_TMPFILE|unix.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, w.outside("new"), unix.AT_SYMLINK_FOLLOW)
	}},
	{name: "redirection of a shell", got: world.made, try: func(w world) error { return sh("echo x >'%s'", w.outside("new")) }},
	{name: "another program", got: world.made, try: func(w world) error { return sh("cp file '%s'", w.outside("new")) }},
	{name: "grandchild in a new session", got: world.made, try: func(w world) error {
		return sh("setsid sh -c 'sh -c \"echo x >%s\"'", w.outside("new"))
	}},
	{name: "sparse write", got: world.changed, try: func(w world) error { return sh("dd if=/dev/zero of='%s' bs=1 count=1 conv=notrunc", w.outside("file")) }},
	{name: "file handle", root: true, got: world.changed, try: func(w world) error {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, w.outside("file"), 0)
		if err != nil {
			return err
		}
		mount, err := unix.Open(w.out, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		fd, err := unix.OpenByHandleAt(mount, handle, unix.O_WRONLY)
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte("escaped"))
		return err
	}},
}

var links = []escape{
	{name: "symbolic link to a file", got: world.changed, try: func(w world) error {
		return firstError(os.Symlink("../out/file", "link"), put("link"))
	}},
	{name: "symbolic link to a folder", got: world.made, try: func(w world) error {
		return firstError(os.Symlink(w.out, "link"), put("link/new"))
	}},
	{name: "dangling symbolic link", got: world.made, try: func(w world) error {
		return firstError(os.Symlink(w.outside("new"), "link"), put("link"))
	}},
	{name: "hard link into the workspace", got: world.changed, try: func(w world) error {
		return firstError(os.Link(w.outside("file"), "link"), put("link"))
	}},
	{name: "hard link of an open file", got: world.changed, try: func(w world) error {
		fd, err := unix.Open(w.outside("file"), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return firstError(unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "link", unix.AT_SYMLINK_FOLLOW), put("link"))
	}},
	{name: "hard link out of the workspace", got: world.made, try: func(w world) error { return os.Link("file", w.outside("new")) }},
	{name: "rename out of the workspace", got: world.made, try: func(w world) error { return os.Rename("file", w.outside("new")) }},
	{name: "rename over a file outside", got: world.changed, try: func(w world) error {
		return firstError(put("file"), os.Rename("file", w.outside("file")))
	}},
	{name: "rename into the workspace", got: world.changed, try: func(w world) error { return os.Rename(w.outside("file"), "stolen") }},
	{name: "rename outside", got: world.made, try: func(w world) error { return os.Rename(w.outside("file"), w.outside("new")) }},
	{name: "rename a folder out", got: world.made, try: func(w world) error { return os.Rename("folder", w.outside("new")) }},
	{name: "rename a folder in", try: func(w world) error { return os.Rename(w.outside("folder"), "stolen") }},
	{name: "exchange two files", got: world.changed, try: func(w world) error {
		return firstError(put("file"), unix.Renameat2(unix.AT_FDCWD, "file", unix.AT_FDCWD, w.outside("file"), unix.RENAME_EXCHANGE))
	}},
	{name: "replace the workspace by a link", got: func(w world) bool {
		info, err := os.Lstat(w.in)
		return err == nil && info.Mode()&os.ModeSymlink != 0
	}, try: func(w world) error {
		return firstError(os.Rename(w.in, w.in+".old"), os.Symlink("/", w.in))
	}},
}

// unmounted removes the mounts of an escape.
func unmounted(t *testing.T, w world) string {
	t.Helper()
	t.Cleanup(func() {
		for _, dir := range []string{w.outside("folder"), w.inside("folder")} {
			_ = unix.Unmount(dir, unix.MNT_DETACH) // usually nothing is mounted there
		}
	})
	return ""
}

var mounts = []escape{
	{name: "bind mount", root: true, got: world.made, prepare: unmounted, try: func(w world) error {
		return firstError(unix.Mount(w.out, w.inside("folder"), "", unix.MS_BIND, ""), put("folder/new"))
	}},
	{name: "mount over a folder outside", root: true, prepare: unmounted, try: func(w world) error {
		return unix.Mount("none", w.outside("folder"), "tmpfs", 0, "")
	}},
	{name: "cloned mount", root: true, got: world.made, try: func(w world) error {
		tree, err := unix.OpenTree(unix.AT_FDCWD, w.out, unix.OPEN_TREE_CLONE)
		if err != nil {
			return err
		}
		_, err = unix.Openat(tree, "new", unix.O_CREAT|unix.O_WRONLY, 0o666)
		return err
	}},
	{name: "new file system", root: true, prepare: unmounted, try: func(w world) error {
		fs, err := unix.Fsopen("tmpfs", 0)
		if err != nil {
			return err
		}
		const create = 6
		if _, _, errno := unix.Syscall6(unix.SYS_FSCONFIG, uintptr(fs), create, 0, 0, 0, 0); errno != 0 {
			return errno
		}
		mount, err := unix.Fsmount(fs, 0, 0)
		if err != nil {
			return err
		}
		return unix.MoveMount(mount, "", unix.AT_FDCWD, w.outside("folder"), unix.MOVE_MOUNT_F_EMPTY_PATH)
	}},
	{name: "changed mount", root: true, prepare: unmounted, try: func(w world) error {
		if err := unix.Mount(w.out, w.inside("folder"), "", unix.MS_BIND, ""); err != nil {
			return err
		}
		return unix.MountSetattr(unix.AT_FDCWD, w.inside("folder"), 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOEXEC})
	}},
	{name: "unmount", root: true, prepare: func(t *testing.T, w world) string {
		if err := unix.Mount("none", w.outside("folder"), "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		return unmounted(t, w)
	}, try: func(w world) error { return unix.Unmount(w.outside("folder"), 0) }},
	{name: "change root", root: true, got: world.made, try: func(w world) error {
		return firstError(unix.Chroot(w.out), put("/new"))
	}},
	{name: "namespace of mounts", root: true, try: func(world) error { return sh("unshare -m true") }},
	{name: "namespace of users", needs: "user namespaces", nobody: true, try: func(world) error { return sh("unshare -U true") }},
	{name: "namespace of users by clone", needs: "user namespaces", nobody: true, try: func(world) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{name: "namespace of users by clone3", needs: "user namespaces", nobody: true, try: func(world) error {
		args := struct{ flags, pidfd, child, parent, exit, stack, size, tls uint64 }{flags: unix.CLONE_NEWUSER, exit: uint64(unix.SIGCHLD)}
		pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		if pid == 0 && errno == 0 {
			for {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
		}
		if errno != 0 {
			return errno
		}
		_, err := unix.Wait4(int(pid), nil, 0, nil)
		return err
	}},
	{name: "mount in a namespace of users", needs: "user namespaces", nobody: true, try: func(w world) error {
		return sh("unshare -rm mount -t tmpfs none '%s'", filepath.Join(w.out, "folder"))
	}},
	{name: "namespace of another process", root: true, try: func(w world) error {
		return sh("nsenter -t %d -m true", w.victim)
	}},
}
