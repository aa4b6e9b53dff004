package workspace

import "testing"

// Paths that make Windows ask another machine are told apart on every system.
func TestRemotePaths(t *testing.T) {
	local := files{folders: []folder{{path: `C:\p`}}}
	shared := files{folders: []folder{{path: `\\wsl$\Debian\p`}}}
	for _, c := range []struct {
		in   *files
		path string
		want bool
	}{
		{&local, `\\evil.example\share\a.txt`, true},
		{&local, "//evil.example/share/a.txt", true},
		{&local, `\/evil.example/share`, true},
		{&local, `\\?\UNC\evil.example\share`, true},
		{&local, `\\.\pipe\a`, true},
		{&local, `C:\p\a.txt`, false},
		{&local, `D:\a.txt`, false},
		{&local, `sub\a.txt`, false},
		{&local, "sub//a.txt", false},
		{&local, "/a.txt", false},
		{&shared, `\\wsl$\Debian\p`, false},
		{&shared, `\\WSL$\debian\p\a.txt`, false},
		{&shared, `\\wsl$\Debian\private`, true},
		{&shared, `\\wsl$\Debian\p\..\..\..\x`, true},
		{&shared, `\\evil.example\p`, true},
	} {
		if got := c.in.isRemote(c.path); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.in.folders[0].path, got)
		}
	}
}
