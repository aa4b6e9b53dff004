package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/fixedport"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/peer"
)

const secret = "a-secret-of-more-than-32-characters"

// desk is a machine with editors.
type desk struct {
	t    *testing.T
	home string // of the user
	dir  string // working directory
	env  map[string]string
	s    Search
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	tmp := scratch.Dir(t, nil)
	d := &desk{t: t, home: filepath.Join(tmp, "home"), dir: filepath.Join(tmp, "proj", "sub"), env: map[string]string{}}
	d.mkdir(d.home)
	d.mkdir(d.dir)
	d.s = Search{
		Folder: filepath.Join(d.home, ".agent", "ide"), Home: d.home, Dir: d.dir,
		Env: func(name string) string { return d.env[name] }, Ancestors: func() []int { return nil },
	}
	return d
}

func (d *desk) mkdir(dir string) {
	d.t.Helper()
	scratch.Mkdir(d.t, dir)
}

// listen opens a port that answers.
func (d *desk) listen() int {
	d.t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = l.Close() })
	return fixedport.Of(l)
}

// lock writes a lock file below the home folder and returns its path.
func (d *desk) lock(folder string, port int, fields map[string]any) string {
	d.t.Helper()
	all := map[string]any{
		"pid": os.Getpid(), "workspaceFolders": []string{filepath.Dir(d.dir)}, "ideName": "Test",
		"transport": "ws", "authToken": "0123456789abcdef", "v": 1, "secret": secret, "somethingNew": []int{1},
	}
	for k, v := range fields {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.write(filepath.Join(folder, strconv.Itoa(port)+".lock"), string(data))
}

func (d *desk) write(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.home, name)
	d.mkdir(filepath.Dir(path))
	scratch.Write(d.t, path, text)
	return path
}

func (d *desk) find() []Candidate {
	d.t.Helper()
	return Find(d.t.Context(), d.s)
}

// one finds and returns the only candidate.
func (d *desk) one() Candidate {
	d.t.Helper()
	found := d.find()
	if len(found) != 1 {
		d.t.Fatalf("%d candidates: %+v", len(found), found)
	}
	return found[0]
}

// ports returns the ports found, in order.
func ports(found []Candidate) []int {
	var all []int
	for _, c := range found {
		all = append(all, c.Port)
	}
	return all
}

const ours, claude, nexus = ".agent/ide", ".claude/ide", ".nexus3/ide"

func TestNothing(t *testing.T) {
	d := newDesk(t)
	if found := d.find(); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	if c, ok := Choice(nil); ok {
		t.Errorf("%+v", c)
	}
}

func TestOurs(t *testing.T) {
	d := newDesk(t)
	path := d.lock(ours, d.listen(), map[string]any{"realFolders": []string{d.dir}, "trusted": true, "extVersion": "1"})
	found := d.find()
	c, ok := Choice(found)
	if !ok || c.Path != path || c.Host != "127.0.0.1" || c.Dialect != Agent || !c.Usable || c.Why != "" || c.Notes != nil {
		t.Errorf("%+v", c)
	}
	if c.File.Credential() != secret || c.File.Name != "Test" || c.File.PID != os.Getpid() || !*c.File.Trusted {
		t.Errorf("%+v", c.File)
	}
	if c.Folder != d.dir { // the deepest
		t.Errorf("folder %s", c.Folder)
	}
	if want := fmt.Sprintf("127.0.0.1:%d", c.Port); c.Address() != want {
		t.Errorf("address %s", c.Address())
	}
}

// TestReasons: every unusable candidate has a reason.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields map[string]any
		text   string // instead of the fields
		why    string
	}{
		{name: "transport", fields: map[string]any{"transport": "sse"}, why: `it needs the transport "sse"; this agent supports only ws`},
		{name: "no secret", fields: map[string]any{"secret": nil}, why: "the lock file has no secret"},
		{name: "short secret", fields: map[string]any{"secret": secret[:31]}, why: "the lock file has no secret"},
		{name: "secret of two lines", fields: map[string]any{"secret": secret + "\n"}, why: "the lock file has no secret"},
		{name: "secret too long", fields: map[string]any{"secret": strings.Repeat("x", 501)}, why: "the lock file has no secret"},
		{name: "no version", fields: map[string]any{"v": nil}, why: "its extension speaks version 0 of the protocol, this agent version 1: run agent ide install, then reload its window"},
		{name: "another version", fields: map[string]any{"v": 2}, why: "its extension speaks version 2 of the protocol, this agent version 1: run agent ide install, then reload its window"},
		{name: "versions", fields: map[string]any{"v": "2"}, why: "the lock file is malformed"},
		{name: "half-written", text: `{"pid":1,"workspa`, why: "the lock file is malformed"},
		{name: "empty", text: ` `, why: "the lock file is malformed"},
		{name: "a list", text: `[]`, why: "the lock file is malformed"},
		{name: "twice", text: `{"pid":1,"pid":2}`, why: "the lock file is malformed"},
		{name: "transports", text: `{"transport":["ws"]}`, why: "the lock file is malformed"},
		{name: "not Unicode", text: "{\"ideName\":\"\xff\"}", why: "the lock file is malformed"},
		{name: "large", text: strings.Repeat(" ", 64<<10) + "{}", why: "the lock file is larger than 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.s.After = at(t, nil)
			port := d.listen()
			if c.text == "" {
				d.lock(ours, port, c.fields)
			} else {
				d.write(ours+"/"+strconv.Itoa(port)+".lock", c.text)
			}
			got := d.one()
			if got.Why != c.why || got.Usable || got.Auto {
				t.Errorf("%+v, want %q", got, c.why)
			}
		})
	}
}

// TestNames holds which files are lock files at all.
func TestNames(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"0.lock", "65536.lock", "-1.lock", "+5.lock", "007.lock", "x.lock", "1.json", ".lock", "1.lock.tmp", "5765.mcp.json"} {
		d.write(ours+"/"+name, "{}")
	}
	d.mkdir(filepath.Join(d.home, ours, "sub"))
	if found := d.find(); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// at is a clock on which a wait is over at once, after then was run.
func at(t *testing.T, then func()) func(time.Duration) <-chan time.Time {
	return func(wait time.Duration) <-chan time.Time {
		if wait != 100*time.Millisecond {
			t.Errorf("waited %s", wait)
		}
		if then != nil {
			then()
		}
		done := make(chan time.Time, 1)
		done <- time.Time{}
		return done
	}
}

// TestHalfWritten holds that a file that is being written in place is read again,
// once.
func TestHalfWritten(t *testing.T) {
	d := newDesk(t)
	port := d.listen()
	d.write(ours+"/"+strconv.Itoa(port)+".lock", `{"pid":`)
	waits := 0
	d.s.After = at(t, func() {
		waits++
		d.lock(ours, port, nil)
	})
	if c := d.one(); !c.Auto || waits != 1 {
		t.Errorf("%+v after %d waits", c, waits)
	}
}

// TestForeignTokens holds which tokens are never sent.
func TestForeignTokens(t *testing.T) {
	for _, token := range []string{"abc\r\nX-Evil: 1", strings.Repeat("x", 501)} {
		d := newDesk(t)
		d.lock(claude, d.listen(), map[string]any{"authToken": token, "v": "its own", "secret": 1})
		if c := d.one(); c.Usable || c.Why != "its token has invalid characters" {
			t.Errorf("%+v", c)
		}
	}
}

// TestStale holds that a lock that was left over stays, and that one whose process
// is not this user's is connected by hand alone, though somebody answers.
func TestStale(t *testing.T) {
	d := newDesk(t)
	path := d.lock(ours, fixedport.Silent(t), map[string]any{"pid": 1 << 30})
	c := d.one()
	if c.Usable || !strings.HasPrefix(c.Why, "nothing answers on port") {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock file: %v", err)
	}
	for folder, pids := range map[string][]any{ours: {1 << 30, nil, 0, -1}, claude: {1 << 30}} {
		for _, pid := range pids {
			d = newDesk(t)
			d.s.Foreign = true
			path := d.lock(folder, d.listen(), map[string]any{"pid": pid})
			if folder == ours {
				d.env["AGENT_IDE_LOCK"] = path
			} else {
				d.env["CLAUDE_CODE_SSE_PORT"] = strings.TrimSuffix(filepath.Base(path), ".lock")
			}
			if c := d.one(); c.Auto || !c.Usable || !c.Gone || !strings.Contains(c.Why, "left over") {
				t.Errorf("%s, process %v: %+v", folder, pid, c)
			}
		}
	}
}

// TestOwnerOfThePort holds that only a port of this user's is used, and one on
// another machine by hand alone.
func TestOwnerOfThePort(t *testing.T) {
	for name, c := range map[string]struct {
		err              error
		usable, autoLink bool
		why              string
	}{
		"ours":      {nil, true, true, ""},
		"stranger":  {peer.ErrStranger, false, false, "another user's program listens on port"},
		"unknown":   {peer.ErrUnknown, false, false, "whose owner is unknown"},
		"elsewhere": {peer.ErrElsewhere, true, false, "connect to it by hand if you know it"},
	} {
		for _, folder := range []string{ours, claude} {
			d := newDesk(t)
			d.s.Foreign = true
			d.s.Check = func(net.Conn) error { return c.err }
			d.lock(folder, d.listen(), nil)
			if got := d.one(); got.Usable != c.usable || got.Auto != c.autoLink || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s in %s: %+v", name, folder, got)
			}
		}
	}
}

func TestForeign(t *testing.T) {
	for folder, dialect := range map[string]Dialect{
		claude: Claude, nexus: Nexus3, ".config/claude/ide": Claude, "conf/ide": Claude,
	} {
		d := newDesk(t)
		d.env["CLAUDE_CONFIG_DIR"] = filepath.Join(d.home, "conf")
		port := d.listen()
		d.lock(folder, port, map[string]any{"authToken": nil})
		c := d.one()
		if c.Dialect != dialect || !c.Usable || c.Auto || !strings.Contains(c.Why, "another program's editor") || len(c.Notes) != 1 {
			t.Errorf("%s: %+v", folder, c)
		}
		if _, ok := Choice([]Candidate{c}); ok {
			t.Errorf("%s is chosen unasked", folder)
		}
		d.s.Foreign = true
		if c := d.one(); !c.Auto || c.Why != "" {
			t.Errorf("%s, foreign allowed: %+v", folder, c)
		}
		d.s.Foreign = false
		d.env[dialect.PortVar] = strconv.Itoa(port)
		if c := d.one(); !c.Auto || !c.Named {
			t.Errorf("%s, named: %+v", folder, c)
		}
	}
}

// TestForOthers holds that the file by which our extension is found by other programs is
// no way in for this one, though the environment names its port: there is no proof.
func TestForOthers(t *testing.T) {
	d := newDesk(t)
	d.s.Foreign = true
	port := d.listen()
	d.env[Claude.PortVar] = strconv.Itoa(port)
	d.lock(claude, port, map[string]any{"agentLock": "/gone/" + strconv.Itoa(port) + ".lock"})
	if c := d.one(); c.Usable || c.Auto || !strings.Contains(c.Why, "for other programs") {
		t.Errorf("%+v", c)
	}
	d.lock(ours, port, nil)
	if c, ok := Choice(d.find()); !ok || c.Dialect != Agent || c.Port != port {
		t.Errorf("%t, %+v", ok, c)
	}
}

// TestFolders holds that every folder with a token is named, so that it can be hidden.
func TestFolders(t *testing.T) {
	d := newDesk(t)
	t.Setenv("TMPDIR", scratch.Dir(t, nil))
	got := d.s.Folders()
	for _, want := range []string{
		d.s.Folder, filepath.Join(d.home, claude), filepath.Join(d.home, ".qwen", "ide"), filepath.Join(os.TempDir(), "gemini", "ide"),
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
}

func TestXDG(t *testing.T) {
	d := newDesk(t)
	d.env["XDG_CONFIG_HOME"] = filepath.Join(d.home, "xdg")
	d.lock("xdg/claude/ide", d.listen(), nil)
	if c := d.one(); c.Dialect != Claude {
		t.Errorf("%+v", c)
	}
	d.env["XDG_CONFIG_HOME"], d.env["CLAUDE_CONFIG_DIR"] = "relative", "relative"
	if found := d.find(); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// TestSameFolderTwice holds that a folder is looked into once, by whatever names
// it is reached.
func TestSameFolderTwice(t *testing.T) {
	d := newDesk(t)
	d.env["CLAUDE_CONFIG_DIR"] = filepath.Join(d.home, ".claude")
	d.lock(claude, d.listen(), nil)
	d.one()
}

// TestEnvironment: the variables of an editor's terminal select that editor.
func TestEnvironment(t *testing.T) {
	t.Run("port", func(t *testing.T) {
		d := newDesk(t)
		far, near := d.listen(), d.listen()
		d.lock(ours, far, map[string]any{"workspaceFolders": []string{"/elsewhere"}})
		d.lock(ours, near, nil)
		d.env["AGENT_IDE_PORT"] = strconv.Itoa(far)
		found := d.find()
		if diff := cmp.Diff([]int{far, near}, ports(found)); diff != "" || !found[0].Named || !strings.Contains(found[1].Why, "this terminal is its own") {
			t.Errorf("%s %+v", diff, found)
		}
	})
	t.Run("stale port", func(t *testing.T) {
		d := newDesk(t)
		dead, near := fixedport.Silent(t), d.listen()
		d.lock(ours, near, nil)
		d.env["AGENT_IDE_PORT"] = strconv.Itoa(dead)
		found := d.find()
		c, ok := Choice(found)
		if !ok || c.Port != near || !strings.Contains(found[1].Why, "no lock file does") {
			t.Errorf("%+v", found)
		}
		d.lock(ours, dead, nil)
		if c, ok := Choice(d.find()); !ok || c.Port != near {
			t.Errorf("%+v", c)
		}
	})
	t.Run("port of another family", func(t *testing.T) {
		d := newDesk(t)
		port := d.listen()
		d.lock(claude, port, nil)
		d.env["AGENT_IDE_PORT"] = strconv.Itoa(port)
		if c, ok := Choice(d.find()); ok {
			t.Errorf("%+v", c)
		}
	})
	t.Run("no port", func(t *testing.T) {
		for _, v := range []string{"x", "0", "70000"} {
			d := newDesk(t)
			d.env["AGENT_IDE_PORT"] = v
			if c := d.one(); c.Why != "AGENT_IDE_PORT is not a port number" {
				t.Errorf("%+v", c)
			}
		}
	})
	t.Run("lock", func(t *testing.T) {
		d := newDesk(t)
		path := d.lock("elsewhere", d.listen(), map[string]any{"workspaceFolders": nil})
		d.env["AGENT_IDE_LOCK"] = path
		if c := d.one(); !c.Auto || !c.Named || c.Path != path {
			t.Errorf("%+v", c)
		}
		d.s.Folder = filepath.Dir(path) // found twice is one
		d.one()
	})
	t.Run("no lock", func(t *testing.T) {
		for value, why := range map[string]string{
			"1.lock": "not an absolute path", scratch.Abs("/nowhere/1.lock"): "missing file", "HOME/x": "its name must be", "HOME/1.lock": "the lock file is gone",
		} {
			d := newDesk(t)
			if !filepath.IsAbs(d.home) {
				t.Fatal(d.home)
			}
			d.env["AGENT_IDE_LOCK"] = filepath.FromSlash(strings.Replace(value, "HOME", d.home, 1))
			if c := d.one(); !strings.Contains(c.Why, why) {
				t.Errorf("%s: %+v", value, c)
			}
		}
	})
}

// another returns the number of a process of the user that is not this one: the parent, except that a
// program that Wine starts has none.
func another(t *testing.T) int {
	t.Helper()
	if pid := os.Getppid(); pid != 0 {
		return pid
	}
	cmd := exec.Command("cmd")
	in, err := cmd.StdinPipe() // it waits for a line
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	return cmd.Process.Pid
}

// TestRanking is the order among those that may all be connected.
func TestRanking(t *testing.T) {
	d := newDesk(t)
	d.s.Foreign = true
	parent := another(t)
	d.s.Ancestors = func() []int { return []int{parent} }
	var want []int
	add := func(folder string, age time.Duration, fields map[string]any) {
		port := d.listen()
		path := d.lock(folder, port, fields)
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		want = append(want, port)
	}
	add(ours, 9*time.Hour, map[string]any{"workspaceFolders": []string{d.dir}})
	add(ours, 5*time.Hour, map[string]any{"pid": parent})
	add(ours, time.Hour, nil)
	add(ours, 2*time.Hour, nil)
	add(claude, 8*time.Hour, map[string]any{"workspaceFolders": nil}) // named below
	named := want[len(want)-1]
	add(nexus, 0, map[string]any{"workspaceFolders": []string{d.dir}})
	add(claude, 0, nil)
	add(ours, 0, map[string]any{"workspaceFolders": []string{d.dir + "-other", "/x", "relative", ""}}) // no match
	d.env["CLAUDE_CODE_SSE_PORT"] = strconv.Itoa(named)
	found := d.find()
	if diff := cmp.Diff(want, ports(found)); diff != "" {
		t.Error(diff)
	}
	for i, why := range []string{
		"", "its folder is closer", "its folder is closer", "its folder is closer",
		"it speaks our own protocol", "it speaks our own protocol", "it speaks our own protocol", "none of its folders holds",
	} {
		if !strings.Contains(found[i].Why, why) || (found[i].Why == "") != (i == 0) {
			t.Errorf("%d: %q, want %q", i, found[i].Why, why)
		}
	}
}

// TestBounds: a folder full of files costs only a bounded time.
func TestBounds(t *testing.T) {
	d := newDesk(t)
	for port := 1; port <= 300; port++ {
		d.write(fmt.Sprintf("%s/%d.lock", ours, port), "{}")
	}
	found := d.find()
	beyond := 0
	for _, c := range found {
		if c.Why == "there are more than 256 lock files" {
			beyond++
		}
	}
	if len(found) != 300 || beyond != 44 {
		t.Errorf("%d found, %d of them not read", len(found), beyond)
	}
}

// TestGivenUp: a search that was cancelled returns its results so far.
func TestGivenUp(t *testing.T) {
	d := newDesk(t)
	d.lock(ours, d.listen(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, ok := Choice(Find(ctx, d.s)); ok {
		t.Errorf("%+v", c)
	}
	d.write(ours+"/1.lock", "{")
	ctx, cancel = context.WithCancel(t.Context())
	d.s.After = func(time.Duration) <-chan time.Time {
		cancel()
		return nil
	}
	for _, c := range Find(ctx, d.s) {
		if c.Auto {
			t.Errorf("%+v", c)
		}
	}
}

// TestDefaults runs on the real machine.
func TestDefaults(t *testing.T) {
	if found := Find(t.Context(), Search{Dir: t.TempDir()}); len(found) != 0 {
		for _, c := range found {
			if c.Auto && !c.Named {
				t.Errorf("%+v", c)
			}
		}
	}
}
