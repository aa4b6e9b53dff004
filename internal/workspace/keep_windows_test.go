package workspace_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

const marks = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED

// An edit and its undo leave a file its marks, also if it moves.
func TestMarksAreKept(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	before := mark(t, w.Path("f"))
	if before&windows.FILE_ATTRIBUTE_HIDDEN == 0 {
		t.Skip("this file system has no hidden files")
	}
	check := func(when, name string) {
		t.Helper()
		if got := attributes(t, w.Path(name)); got&marks != before&marks {
			t.Errorf("%s, %s has the attributes %#x, want %#x of %#x", when, name, got, before&marks, marks)
		}
	}
	w.Edit("f", "new\n", workspace.Origin{})
	check("after an edit", "f")
	w.undo(undo.LastChange)
	check("after its undo", "f")
	c := w.Change("f", "moved\n")
	var err error
	c.To, c.ToName, err = w.Vacant("d/g")
	must(t, err)
	_, err = w.Commit(t.Context(), c, workspace.Origin{})
	must(t, err)
	check("after a move", "d/g")
}

// mark hides a file and returns its attributes.
func mark(t *testing.T, path string) uint32 {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	must(t, err)
	must(t, windows.SetFileAttributes(name, marks))
	return attributes(t, path)
}

func attributes(t *testing.T, path string) uint32 {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	must(t, err)
	all, err := windows.GetFileAttributes(name)
	must(t, err)
	return all
}

// An edit and its undo leave a file the rights that it has of its own.
func TestRightsAreKept(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	restrict(t, w.Path("f"))
	want := rights(t, w.Path("f"))
	w.Write("g", "old\n")
	if rights(t, w.Path("g")) == want {
		t.Skip("this file system keeps no rights: " + want)
	}
	w.Edit("f", "new\n", workspace.Origin{})
	if got := rights(t, w.Path("f")); got != want {
		t.Errorf("after an edit it has %s, want %s", got, want)
	}
	w.undo(undo.LastChange)
	if got := rights(t, w.Path("f")); got != want {
		t.Errorf("after its undo it has %s, want %s", got, want)
	}
	inherited := rights(t, w.Path("g"))
	w.Edit("g", "new\n", workspace.Origin{})
	if got := rights(t, w.Path("g")); got != inherited {
		t.Errorf("after an edit a file with the rights of its folder has %s, want %s", got, inherited)
	}
}

// restrict takes a file from everybody but its owner.
func restrict(t *testing.T, path string) {
	t.Helper()
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	must(t, err)
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;" + user.User.Sid.String() + ")")
	must(t, err)
	list, _, err := sd.DACL()
	must(t, err)
	must(t, windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil))
}

func rights(t *testing.T, path string) string {
	t.Helper()
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	must(t, err)
	return sd.String()
}

// An edit and its undo leave a file its further streams, such as the mark of a download. Wine has none.
func TestStreamsAreKept(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	streams := map[string]string{":Zone.Identifier": "[ZoneTransfer]\r\nZoneId=3\r\n", ":empty": "", ":long": strings.Repeat("x", 1<<20)}
	for name, content := range streams {
		if err := os.WriteFile(w.Path("f")+name, []byte(content), 0o600); err != nil {
			t.Skip("this file system has no streams: ", err)
		}
	}
	if all := w.Files(); len(all) > 1 {
		t.Skip("this file system takes streams for files: ", all)
	}
	check := func(when string) {
		t.Helper()
		for name, want := range streams {
			if got, err := os.ReadFile(w.Path("f") + name); err != nil || string(got) != want {
				t.Errorf("%s, the stream %s has %d bytes, want %d: %v", when, name, len(got), len(want), err)
			}
		}
	}
	w.Edit("f", "new\n", workspace.Origin{})
	check("after an edit")
	w.undo(undo.LastChange)
	check("after its undo")
}

// Neither an edit nor the restoration after a command detaches a name of a file from the others.
func TestFurtherNamesAreKept(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	if err := os.Link(w.Path("f"), w.Path("g")); err != nil {
		t.Skip("this file system has no hard links: ", err)
	}
	_, err := w.Propose("f", func(workspace.File) (string, error) { return "new\n", nil })
	if err == nil || !strings.Contains(err.Error(), "2 names") {
		t.Errorf("an edit: %v", err)
	}
	if err := w.Linked(w.Path("f")); err == nil || !strings.Contains(err.Error(), "2 names") {
		t.Errorf("a restoration: %v", err)
	}
	now, content, err := w.Look(w.Path("f"))
	must(t, err)
	to := workspace.States{Before: now, After: workspace.StateOf(now.Mode, []byte("new\n")), Content: []byte("new\n")}
	c := workspace.Restated(w.Path("f"), "f", to, content)
	if _, err := w.Commit(t.Context(), c, workspace.Origin{}); err == nil || !strings.Contains(err.Error(), "2 names") {
		t.Errorf("a commit: %v", err)
	}
	if got := w.Content("f") + w.Content("g"); got != "old\nold\n" {
		t.Errorf("the names hold %q", got)
	}
}
