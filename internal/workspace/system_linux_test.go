package workspace_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

func TestIrregularFiles(t *testing.T) {
	w := open(t)
	must(t, os.Mkdir(w.Path("dir"), 0o755))
	must(t, syscall.Mkfifo(w.Path("pipe"), 0o644))
	l, err := net.Listen("unix", w.Path("socket"))
	must(t, err)
	defer l.Close()
	for path, kind := range map[string]string{"dir": "a folder", "pipe": "a pipe", "socket": "a socket", ".": "a folder"} {
		_, errRead := w.Read(path)
		_, errOpen := w.Open(path)
		_, errPropose := w.Propose(path, func(workspace.File) (string, error) { return "x", nil })
		for _, err := range []error{errRead, errOpen, errPropose} {
			if !errors.Is(err, workspace.ErrNotRegular) || !strings.Contains(err.Error(), kind) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	w.Outside().Allow("/dev/zero")
	if _, err := w.Open("/dev/zero"); !errors.Is(err, workspace.ErrNotRegular) {
		t.Errorf("device: %v", err)
	}
	if _, err := w.Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := w.Read("none/below"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
}

// asUser is set in a child that runs one test as a user without privileges.
const asUser = "WORKSPACE_TEST_AS_USER"

// unprivileged runs the calling test again as the user nobody if we are root, and reports
// whether the caller should run it itself.
func unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	// The binary and the test folders belong to root.
	dir, err := os.MkdirTemp("", "nobody")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o777))
	binary := scratch.Copy(t, os.Args[0], filepath.Join(dir, "test"))
	cmd := exec.Command(binary, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asUser+"=1", "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
	return false
}

func TestPlacesThatCannotBeWritten(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	w := open(t)
	w.Write("d/f", "x\n")
	w.Write("d/readonly", "x\n")
	must(t, os.Chmod(w.Path("d/readonly"), 0o444))
	c, made := w.Change("d/f", "mine\n"), w.Change("d/new", "mine\n")
	refused := func(name, says string) {
		t.Helper()
		_, err := w.Propose(name, func(workspace.File) (string, error) {
			t.Error("the edit was computed for nothing")
			return "mine\n", nil
		})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
	refused("d/readonly", "it is read-only")
	must(t, os.Chmod(w.Path("d"), 0o555))
	refused("d/f", "its folder cannot be written")
	refused("d/new", "cannot be written")
	refused("d/deep/new", "cannot be written")
	for _, change := range []workspace.Change{c, made} { // reviewed while it was writable
		if _, err := w.Commit(t.Context(), change, workspace.Origin{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("commit of %s: %v", change.Name, err)
		}
	}
	must(t, os.Chmod(w.Path("d"), 0o755))
	if got := w.Content("d/f") + w.Content("d/new"); got != "x\n<none>" {
		t.Errorf("d/f and d/new hold %q", got)
	}
}

func TestJournalThatCannotBeWritten(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	dir, home := t.TempDir(), t.TempDir()
	must(t, os.Chmod(home, 0o555))
	w := reopen(t, dir, home, workspace.Options{})
	w.Write("f", "old\n")
	c := w.Change("f", "new\n")
	if _, err := w.Commit(t.Context(), c, workspace.Origin{}); err == nil || !strings.Contains(err.Error(), "undo journal") {
		t.Errorf("commit without a journal: %v", err)
	}
	if got := w.Content("f"); got != "old\n" {
		t.Errorf("f holds %q", got)
	}
	must(t, os.Chmod(home, 0o755))
	_, err := w.Commit(t.Context(), c, workspace.Origin{})
	must(t, err)
}

func TestHardLinksAreRefused(t *testing.T) {
	w := open(t)
	w.Write("f", "x\n")
	must(t, os.Link(w.Path("f"), w.Path("g")))
	_, err := w.Propose("f", func(workspace.File) (string, error) { return "mine\n", nil })
	if err == nil || !strings.Contains(err.Error(), "2 names") {
		t.Errorf("propose: %v", err)
	}
}

func TestMetadataIsKept(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	must(t, os.Chmod(w.Path("f"), 0o640))
	must(t, unix.Setxattr(w.Path("f"), "user.mark", []byte("value"), 0))
	want := accessList(t, w.Path("f"))
	before, err := os.Stat(w.Path("f"))
	must(t, err)
	if os.Geteuid() == 0 {
		must(t, os.Chown(w.Path("f"), 1234, 4321))
	}
	f := w.Edit("f", "new\n", workspace.Origin{})
	after, err := os.Stat(w.Path("f"))
	must(t, err)
	if after.Mode() != before.Mode() || f.Mode != before.Mode() {
		t.Errorf("mode %v became %v, reported as %v", before.Mode(), after.Mode(), f.Mode)
	}
	st := after.Sys().(*syscall.Stat_t)
	if os.Geteuid() == 0 && (st.Uid != 1234 || st.Gid != 4321) {
		t.Errorf("owner %d, group %d", st.Uid, st.Gid)
	}
	value := make([]byte, 100)
	n, err := unix.Getxattr(w.Path("f"), "user.mark", value)
	if err != nil || string(value[:n]) != "value" {
		t.Errorf("attribute %q, %v", value[:max(n, 0)], err)
	}
	if got := readACL(w.Path("f")); got != want {
		t.Errorf("access list %x became %x", want, got)
	}
}

// TestDefaultAccessListDoesNotSpread edits a file without an access list in a folder that
// gives one to new files.
func TestDefaultAccessListDoesNotSpread(t *testing.T) {
	w := open(t)
	w.Write("d/f", "old\n")
	acl := accessList(t, w.Path("d/f"))
	if acl == "" {
		return // no access lists on this system
	}
	must(t, unix.Removexattr(w.Path("d/f"), aclName))
	must(t, os.Chmod(w.Path("d/f"), 0o600))
	must(t, unix.Setxattr(w.Path("d"), "system.posix_acl_default", []byte(acl), 0))
	w.Edit("d/f", "new\n", workspace.Origin{})
	info, err := os.Stat(w.Path("d/f"))
	must(t, err)
	if got := readACL(w.Path("d/f")); got != "" || info.Mode().Perm() != 0o600 {
		t.Errorf("access list %x, mode %v", got, info.Mode())
	}
	w.Edit("d/new", "new\n", workspace.Origin{})
	if readACL(w.Path("d/new")) == "" {
		t.Error("a new file has not got the folder's access list")
	}
}

const aclName = "system.posix_acl_access"

// accessList gives a file an access list with one more user and returns it as stored; ""
// if the system has none.
func accessList(t *testing.T, path string) string {
	t.Helper()
	const none = "\xff\xff\xff\xff"
	acl := "\x02\x00\x00\x00" +
		"\x01\x00\x06\x00" + none + // owner rw
		"\x02\x00\x04\x00\x39\x05\x00\x00" + // user 1337 r
		"\x04\x00\x04\x00" + none + // group r
		"\x10\x00\x04\x00" + none + // mask r
		"\x20\x00\x00\x00" + none // others
	err := unix.Setxattr(path, aclName, []byte(acl), 0)
	if errors.Is(err, unix.ENOTSUP) {
		return ""
	}
	must(t, err)
	return acl
}

func readACL(path string) string {
	value := make([]byte, 200)
	n, err := unix.Getxattr(path, aclName, value)
	if err != nil {
		return ""
	}
	return string(value[:n])
}

// TestFullDisk makes the system refuse to write more than n bytes to a file, for each n
// up to the size of the commit: a real error and a real short write.
func TestFullDisk(t *testing.T) {
	if os.Getenv(asUser) == "" {
		child := exec.Command(os.Args[0], "-test.run", "^TestFullDisk$", "-test.v")
		child.Env = append(os.Environ(), asUser+"=1")
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // the signal would come before the error
	refused, passed := 0, 0
	old, mine := strings.Repeat("o", 3000), strings.Repeat("n", 5000)
	for limit := uint64(0); limit <= 12_000; limit += 250 {
		w := open(t)
		w.Write("f", old)
		c := w.Change("f", mine)
		var before unix.Rlimit
		must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
		must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: before.Max}))
		_, err := w.Commit(t.Context(), c, workspace.Origin{})
		must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))
		want := old
		switch {
		case err == nil:
			want = mine
			passed++
		case !errors.Is(err, unix.EFBIG):
			t.Errorf("limit %d: %v", limit, err)
		case errors.Is(err, workspace.ErrNotDurable): // only the outcome had no room
			want = mine
		default:
			refused++
		}
		if got := w.Content("f"); got != want {
			t.Errorf("limit %d: f holds %d bytes, commit said %v", limit, len(got), err)
		}
		if got := w.Files(); len(got) != 1 {
			t.Errorf("limit %d: left behind: %v", limit, got)
		}
		w.Edit("f", "space again\n", workspace.Origin{})
		w.undo(undo.LastChange)
		if got := w.Content("f"); got != want {
			t.Errorf("limit %d: undo afterwards gives %d bytes", limit, len(got))
		}
	}
	if refused == 0 || passed == 0 {
		t.Errorf("%d refused, %d passed: the limits test nothing", refused, passed)
	}
}
