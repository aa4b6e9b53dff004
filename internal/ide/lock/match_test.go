package lock

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
)

func TestTranslate(t *testing.T) {
	for _, c := range []struct {
		path         string
		wsl, windows bool
		want         string
	}{
		{`D:\src\x`, true, false, "/mnt/d/src/x"},
		{`d:/src/x`, true, false, "/mnt/d/src/x"},
		{"/d/src/x", true, false, "/mnt/d/src/x"},
		{"/mnt/d/src/x", true, false, "/mnt/d/src/x"},
		{"/mnt/d/src/x", false, true, `D:\src\x\`},
		{"/c", false, true, `C:\`},
		{`c:\src`, false, true, `C:\src\`},
		{`\\wsl$\Ubuntu\home\u`, true, false, "/home/u"},
		{`\\wsl.localhost\Debian\home\u`, true, false, "/home/u"},
		{"/home/u", true, false, ""},
		{"/dd/src", true, false, ""},
		{"/d/src/x", false, false, ""},
		{"", true, true, ""},
		{"/", true, true, ""},
	} {
		got := translate(c.path, c.wsl, c.windows)
		var want []string
		if want = []string{c.path}; c.want != "" {
			want = append(want, c.want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

func TestDepth(t *testing.T) {
	abs := filepath.FromSlash
	for _, c := range []struct {
		folder, dir string
		want        int
	}{
		{"/a/b", "/a/b", 2}, {"/a/b/", "/a/b/c", 2}, {"/a/b", "/a/bc", -1}, {"/a/b/c", "/a/b", -1}, {"/", "/a", 0}, {"/x", "/a", -1},
	} {
		if got := depthWithin(abs(c.folder), []string{abs(c.dir)}); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestWSL holds that an editor in Windows is found from the Linux within it.
func TestWSL(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent runs in the Linux")
	}
	d := newDesk(t)
	d.env["WSL_DISTRO_NAME"] = "Debian"
	d.s.windows = filepath.Join(d.home, "Users")
	port := d.listen()
	d.lock("Users/u/.claude/ide", port, map[string]any{
		"workspaceFolders": []string{`\\wsl$\Debian` + strings.ReplaceAll(d.dir, "/", `\`)}, "runningInWindows": true, "pid": 1 << 30,
	})
	d.env["CLAUDE_CODE_SSE_PORT"] = "1" // of a terminal long gone
	found := d.find()
	if len(found) != 2 || !found[0].Usable || found[0].Folder == "" || found[0].Dialect != Claude {
		t.Errorf("%+v", found)
	}
	// Where the editor does not answer here, it may be at Windows' own address.
	d = newDesk(t)
	d.env["WSL_DISTRO_NAME"] = "Debian"
	d.lock(claude, fixedport.Silent(t), map[string]any{"runningInWindows": true, "pid": 1 << 30})
	if c := d.one(); c.Usable || strings.Contains(c.Why, "process") {
		t.Errorf("a process of Windows was judged: %+v", c)
	}
}

func TestGateway(t *testing.T) {
	table := "Iface\tDestination\tGateway \tFlags\n" +
		"eth0\t0010A8C0\t00000000\t0001\n" +
		"eth0\t00000000\t0110A8C0\t0003\n"
	if diff := cmp.Diff([]string{"192.168.16.1"}, gateway(table)); diff != "" {
		t.Error(diff)
	}
	for _, none := range []string{"", "x", "eth0 00000000 zz 1\n", "eth0 00000000 00000000 1\n"} {
		if got := gateway(none); got != nil {
			t.Errorf("%q: %v", none, got)
		}
	}
}

// TestHost holds that only the environment names another host.
func TestHost(t *testing.T) {
	for _, name := range []string{"AGENT_IDE_HOST", "CLAUDE_CODE_IDE_HOST_OVERRIDE"} {
		d := newDesk(t)
		d.lock(claude, d.listen(), map[string]any{"host": "198.51.100.1", "url": "ws://198.51.100.1"})
		if c := d.one(); c.Host != "127.0.0.1" {
			t.Errorf("%+v", c)
		}
		d.env[name] = "localhost"
		if c := d.one(); c.Host != "localhost" || !c.Usable {
			t.Errorf("%+v", c)
		}
	}
}

func TestContainer(t *testing.T) {
	d := newDesk(t)
	d.env["container"] = "podman"
	d.lock(ours, fixedport.Silent(t), nil)
	if c := d.one(); !strings.Contains(c.Why, "AGENT_IDE_HOST") {
		t.Errorf("%+v", c)
	}
}

func TestParent(t *testing.T) {
	for stat, want := range map[string]int{
		"7 (bash) S 3 7 7": 3, "7 (a) b) (c) S 12 7": 12, "": 0, "7 (x": 0, "7 (x) S": 0, "7 (x) S y 1": 0,
	} {
		if got := parentIn([]byte(stat)); got != want {
			t.Errorf("%q: %d", stat, got)
		}
	}
	if all := ancestors(); len(all) == 0 || all[0] != os.Getppid() {
		t.Errorf("%v", all)
	}
}
