package journal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// forgetter is set in the environment of a re-executed test binary that forgets in the
// journal of this home until it is killed.
const forgetter = "JOURNAL_TEST_FORGET"

func TestMain(m *testing.M) {
	if home := os.Getenv(forgetter); home != "" {
		fmt.Fprintln(os.Stderr, "the child ended by itself:", forgetForever(home))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// keepAt is keep for a file and a session.
func keepAt(t *testing.T, j *Journal, path, session, before string) *Entry {
	t.Helper()
	e := entryAt(path, session, before)
	must(t, j.Keep(*e.Before, []byte(before)))
	must(t, j.Begin(e))
	must(t, j.Sync())
	must(t, j.End(e, true))
	return e
}

func isSecret(e *Entry) bool { return strings.HasSuffix(e.Path, "secret") }

// onDisk returns the number of the journal's files that contain text.
func onDisk(t *testing.T, home, text string) (n int) {
	t.Helper()
	must(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			n++
		}
		return err
	}))
	return n
}

// TestForgetContentAfter: the content after a forgotten entry goes, too, even if a kept one
// left it; that of other entries stays.
func TestForgetContentAfter(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	edit := func(path, before, after string) {
		e := entryAt(path, "s", before)
		sum := Hash(sha256.Sum256([]byte(after)))
		e.After = &sum
		must(t, j.Keep(*e.Before, []byte(before)))
		must(t, j.KeepAfter(sum, []byte(after)))
		must(t, j.Begin(e))
		must(t, j.Sync())
		must(t, j.End(e, true))
	}
	edit("/some/root/secret", "nothing", "key-1234")
	edit("/some/root/a", "first", "key-1234")
	edit("/some/root/b", "first", "second")
	must(t, j.Close())
	_, err := Open(home, root, Recover{}).Forget(t.Context(), isSecret)
	must(t, err)
	if n := onDisk(t, home, "key-1234"); n != 0 {
		t.Errorf("%d files hold the forgotten content", n)
	}
	past, err := Open(home, root, Recover{}).History(nil)
	must(t, err)
	if len(past) != 2 {
		t.Fatalf("%d entries are left", len(past))
	}
	if data, err := past[0].ContentAfter(); err == nil {
		t.Errorf("the first entry left %q", data)
	}
	if data, err := past[1].ContentAfter(); err != nil || string(data) != "second" {
		t.Errorf("the second entry left %q, %v", data, err)
	}
}

// Forgotten content is in no file of the journal, and the rest is as before.
func TestForget(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	keepAt(t, j, "/some/root/a", "s1", "first")
	keepAt(t, j, "/some/root/secret", "s1", "key-1234")
	keepAt(t, j, "/some/root/a", "s1", "second")
	must(t, j.Close())
	j = Open(home, root, Recover{})
	last := keepAt(t, j, "/some/root/secret", "s2", "key-5678")
	must(t, j.Close())
	busy := Open(home, root, Recover{}) // a running session
	keepAt(t, busy, "/some/root/secret", "s3", "key-9")

	want := Forgotten{Paths: []string{"/some/root/secret"}, Changes: 2, Busy: 1}
	compare := func(got Forgotten, err error) {
		t.Helper()
		got.newest = 0
		if d := cmp.Diff(want, got, cmp.AllowUnexported(Forgotten{})); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	compare(j.Find(isSecret))
	if onDisk(t, home, "key-1234")+onDisk(t, home, "key-5678") != 2 {
		t.Error("looking has deleted something")
	}
	compare(j.Forget(t.Context(), isSecret))
	if onDisk(t, home, "key-1234")+onDisk(t, home, "key-5678") != 0 {
		t.Error("it is still on the disk")
	}
	if d := cmp.Diff([]string{"first", "second", "key-9"}, history(t, Open(home, root, Recover{}))); d != "" {
		t.Error(d)
	}
	if lost, err := j.Lost(); err != nil || lost.UnixNano() != last.Time {
		t.Errorf("lost until %v, %v; want %v", lost, err, time.Unix(0, last.Time))
	}
	must(t, busy.Close())
	if f, err := j.Forget(t.Context(), isSecret); err != nil || f.Changes != 1 || f.Busy != 0 {
		t.Errorf("after the session: %+v, %v", f, err)
	}
	if d := cmp.Diff([]string{"first", "second"}, history(t, j)); d != "" {
		t.Error(d)
	}
}

// An expired journal has the entries since a time, in every workspace.
func TestExpire(t *testing.T) {
	home := t.TempDir()
	one, two := Open(home, root, Recover{}), Open(home, "/other/root", Recover{})
	keep(t, one, "old", true)
	keep(t, two, "old too", true)
	in := 0
	must(t, two.Begin(&Entry{Path: "/other/root/f"}))
	kill(t, two)
	border := time.Now()
	keep(t, one, "new", true)
	must(t, one.Close())
	must(t, Expire(home, border.Add(-time.Hour), allDone(&in)))
	if d := cmp.Diff([]string{"old", "new"}, history(t, one)); d != "" || in != 0 {
		t.Errorf("nothing is old: %s, %d recovered", d, in)
	}
	live, err := filepath.Glob(filepath.Join(two.dir, "*"+liveExt))
	if err != nil || len(live) != 1 {
		t.Fatal(live, err)
	}
	must(t, os.Chtimes(live[0], time.Time{}, border.Add(-time.Minute)))
	must(t, Expire(home, border, allDone(&in)))
	if d := cmp.Diff([]string{"new"}, history(t, one)); d != "" || in != 1 {
		t.Errorf("%s, %d recovered, want 1", d, in)
	}
	if onDisk(t, home, "old") != 0 || len(history(t, two)) != 0 {
		t.Error("old content is still on the disk")
	}
	must(t, Expire(t.TempDir(), border, Recover{})) // without a journal
}

// entryAt is an entry that replaces the content before of a file.
func entryAt(path, session, before string) *Entry {
	sum := Hash(sha256.Sum256([]byte(before)))
	return &Entry{Path: path, Before: &sum, Origin: Origin{Session: session}}
}

// forgetForever makes a journal with secrets and forgets them, again and again, after a
// line on standard output.
func forgetForever(home string) error {
	out := bufio.NewWriter(os.Stdout)
	for {
		j := Open(home, root, allDone(new(int)))
		for i := range 6 {
			path := "/some/root/secret"
			if i%2 == 0 {
				path = "/some/root/kept"
			}
			before := fmt.Sprint(filepath.Base(path), i, strings.Repeat("x", 1<<16))
			e := entryAt(path, "", before)
			if err := j.Keep(*e.Before, []byte(before)); err != nil {
				return err
			}
			if err := j.Begin(e); err != nil {
				return err
			}
			if err := j.End(e, true); err != nil {
				return err
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
		fmt.Fprintln(out, "forgetting")
		if err := out.Flush(); err != nil {
			return err
		}
		if f, err := j.Forget(context.Background(), isSecret); err != nil || f.Changes != 3 && f.Changes != 6 {
			return fmt.Errorf("%+v: %w", f, err)
		}
	}
}

// A process that is killed while it forgets leaves each segment as it was or without the
// secrets; the other entries are always there.
func TestKilledWhileForgetting(t *testing.T) {
	middle := 0
	for i := range 25 {
		home := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), forgetter+"="+home), os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		rounds := i%5 + 1
		for range rounds {
			if !lines.Scan() {
				t.Fatal("the child ended")
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		j := Open(home, root, allDone(new(int)))
		got := history(t, j)
		kept := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "kept") })
		secrets := len(got) - len(kept)
		if len(kept) < 3*rounds || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "<") }) || secrets > 6 {
			t.Fatalf("after %d rounds, %d of %d entries are kept, %d are secrets", rounds, len(kept), len(got), secrets)
		}
		if secrets > 0 {
			middle++
		}
		if _, err := j.Forget(t.Context(), isSecret); err != nil {
			t.Fatal(err)
		}
		if onDisk(t, home, "secret1x") != 0 || len(history(t, j)) != len(kept) {
			t.Fatalf("after another try, %d files hold a secret, %d of %d entries are kept", onDisk(t, home, "secret1x"), len(history(t, j)), len(kept))
		}
	}
	t.Logf("%d of 25 were killed before the end", middle)
}

// Each state of a rewrite that a crash can leave is cleaned up by the next start.
func TestTornRewrite(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	keepAt(t, j, "/some/root/a", "", "first")
	keepAt(t, j, "/some/root/secret", "", "key-1234")
	path := j.live.path
	must(t, j.Close())
	whole, err := os.ReadFile(path + logExt)
	must(t, err)
	for _, cut := range []int{0, 1, len(whole) / 2, len(whole)} {
		must(t, os.WriteFile(path+newExt, whole[:cut], 0o600))
		must(t, os.WriteFile(path+lockExt, nil, 0o600))
		j := Open(home, root, Recover{})
		if d := cmp.Diff([]string{"first", "key-1234"}, history(t, j)); d != "" || j.failed != nil {
			t.Error(d, j.failed)
		}
		for _, ext := range []string{newExt, lockExt} {
			if _, err := os.Stat(path + ext); err == nil {
				t.Errorf("%s is left", ext)
			}
		}
	}
}
