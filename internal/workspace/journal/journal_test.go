package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

const root = "/some/root"

// allDone returns a Recover that reports every change as made, and counts.
func allDone(n *int) Recover {
	return Recover{Entry: func(*Entry) (bool, error) { *n++; return true, nil }}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keep writes an entry that replaces the content before, of file f.
func keep(t *testing.T, j *Journal, before string, done bool, undoes ...string) *Entry {
	t.Helper()
	sum := Hash(sha256.Sum256([]byte(before)))
	e := &Entry{Path: "/some/root/f", Before: &sum, Origin: Origin{Undoes: undoes}}
	must(t, j.Keep(sum, []byte(before)))
	must(t, j.Begin(e))
	must(t, j.Sync())
	must(t, j.End(e, done))
	return e
}

// history returns the contents in the journal, oldest first; undone ones are marked.
func history(t *testing.T, j *Journal) []string {
	t.Helper()
	past, err := j.History(func(*Entry) bool { return false })
	must(t, err)
	var out []string
	for _, e := range past {
		data, err := e.Content()
		if err != nil {
			data = []byte("<" + err.Error() + ">")
		}
		if e.Undone {
			data = append(data, " undone"...)
		}
		out = append(out, string(data))
	}
	return out
}

// kill leaves the journal as after its process was killed.
func kill(t *testing.T, j *Journal) (segment string) {
	t.Helper()
	path := j.live.path
	must(t, j.abandon())
	return path + liveExt
}

func TestHistory(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	keep(t, j, "a", true)
	b := keep(t, j, "b", true)
	keep(t, j, "failed", false)
	other := Open(home, root, Recover{}) // another process
	c := keep(t, other, "c", true, b.ID)
	d := keep(t, other, "d", true)
	keep(t, j, "e", true, d.ID)
	if diff := cmp.Diff([]string{"a", "b undone", "c", "d undone", "e"}, history(t, j)); diff != "" {
		t.Error(diff)
	}
	keep(t, j, "f", true, c.ID)
	must(t, j.Close())
	must(t, other.Close())
	j = Open(home, root, Recover{})
	if diff := cmp.Diff([]string{"a", "b", "c undone", "d undone", "e", "f"}, history(t, j)); diff != "" {
		t.Error(diff)
	}
	if got := history(t, Open(home, "/other/root", Recover{})); got != nil {
		t.Errorf("the journal of another workspace has %v", got)
	}
}

func TestInDoubtIsAskedFor(t *testing.T) {
	j := Open(t.TempDir(), root, Recover{})
	must(t, j.Begin(&Entry{Path: "/some/root/f"}))
	for _, there := range []bool{false, true} {
		past, err := j.History(func(*Entry) bool { return there })
		if err != nil || len(past) != map[bool]int{false: 0, true: 1}[there] {
			t.Errorf("on disk %v: %v, %v", there, past, err)
		}
	}
	must(t, j.Close())
}

func TestSameContentIsStoredOnce(t *testing.T) {
	j := Open(t.TempDir(), root, Recover{})
	big := strings.Repeat("x", 1000)
	for range 10 {
		keep(t, j, big, true)
	}
	if j.live.size > 5000 {
		t.Errorf("%d bytes for ten times the same 1000", j.live.size)
	}
	must(t, j.Close())
}

// TestTornTail cuts the journal of a killed process at each byte: everything before the
// cut is there, and the journal can be continued.
func TestTornTail(t *testing.T) {
	contents := []string{"first", "second", "third"}
	home := t.TempDir()
	j := Open(home, root, Recover{})
	for _, s := range contents {
		keep(t, j, s, true)
	}
	segment := kill(t, j)
	whole, err := os.ReadFile(segment)
	must(t, err)
	lengths := map[int]int{}
	for cut := range len(whole) + 1 {
		must(t, os.WriteFile(segment, whole[:cut], 0o600))
		inDoubt := 0
		j := Open(home, root, allDone(&inDoubt))
		got := history(t, j)
		lengths[len(got)]++
		if diff := cmp.Diff(contents[:len(got)], got); len(got) > 0 && diff != "" {
			t.Fatalf("cut at %d of %d: %s", cut, len(whole), diff)
		}
		keep(t, j, "later", true)
		must(t, j.Close())
		if got := history(t, j); got[len(got)-1] != "later" {
			t.Fatalf("cut at %d of %d: the journal does not go on: %v", cut, len(whole), got)
		}
		if inDoubt > 1 {
			t.Fatalf("cut at %d of %d: %d entries in doubt", cut, len(whole), inDoubt)
		}
		logs, err := filepath.Glob(filepath.Join(j.dir, "*"))
		must(t, err)
		for _, path := range logs {
			must(t, os.Remove(path))
		}
	}
	for n := range 4 {
		if lengths[n] == 0 {
			t.Errorf("no cut left %d entries", n)
		}
	}
}

// TestDamage flips each byte in turn: an entry may be lost, but any content that comes
// out is right.
func TestDamage(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	keep(t, j, "first", true)
	keep(t, j, "second", true)
	segment := j.live.path + logExt
	must(t, j.Close())
	whole, err := os.ReadFile(segment)
	must(t, err)
	noticed := 0
	for i := range whole {
		data := slices.Clone(whole)
		data[i] ^= 0x55
		must(t, os.WriteFile(segment, data, 0o600))
		for _, s := range history(t, Open(home, root, Recover{})) {
			switch {
			case strings.Contains(s, "damaged") || strings.Contains(s, "no longer"):
				noticed++
			case s != "first" && s != "second":
				t.Fatalf("byte %d: %q", i, s)
			}
		}
	}
	if noticed == 0 {
		t.Error("no damage of content was noticed")
	}
}

func TestRecoveryWaitsForNobody(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	e := &Entry{Path: "/some/root/f", Made: Made{Temp: "t", Dirs: []string{"/some/root/d"}}}
	must(t, j.Begin(e))
	n := 0
	second := Open(home, root, allDone(&n)) // j lives
	if n != 0 || second.failed != nil {
		t.Errorf("%d entries of a living process were recovered, %v", n, second.failed)
	}
	kill(t, j)
	fault := errors.New("fault")
	third := Open(home, root, Recover{Entry: func(*Entry) (bool, error) { return false, fault }})
	if err := third.Begin(&Entry{}); !errors.Is(err, fault) {
		t.Errorf("Begin after a failed recovery: %v", err)
	}
	if _, err := third.History(nil); !errors.Is(err, fault) {
		t.Errorf("History after a failed recovery: %v", err)
	}
	var got *Entry
	Open(home, root, Recover{Entry: func(e *Entry) (bool, error) { got = e; return true, nil }})
	if diff := cmp.Diff(e, got); diff != "" {
		t.Error(diff)
	}
	Open(home, root, allDone(&n)) // recovered by now
	if n != 0 {
		t.Errorf("%d entries were recovered again", n)
	}
}

// TestCloseLeavesEntriesInDoubt: an entry whose outcome is unknown is recovered by the
// next start, even if this process ends normally.
func TestCloseLeavesEntriesInDoubt(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	keep(t, j, "kept", true)
	e := &Entry{Path: "/f"}
	must(t, j.Begin(e))
	must(t, j.Close())
	n := 0
	if again := Open(home, root, allDone(&n)); n != 1 || again.failed != nil {
		t.Errorf("%d entries were recovered, %v", n, again.failed)
	}
	if Open(home, root, allDone(&n)); n != 1 {
		t.Errorf("%d entries were recovered in all", n)
	}
}

func TestFailedWriteEndsSegment(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, Recover{})
	e := keep(t, j, "kept", true)
	must(t, j.live.file.Close()) // the next write fails
	if err := j.Begin(&Entry{}); err == nil {
		t.Fatal("a write into a closed file went through")
	}
	must(t, j.End(e, true)) // it was returned already
	keep(t, j, "after", true)
	if diff := cmp.Diff([]string{"kept", "after"}, history(t, j)); diff != "" {
		t.Error(diff)
	}
	must(t, j.Close())
	if err := os.Chmod(j.dir, 0o700); err != nil {
		t.Error(err)
	}
}

func TestSegmentsAreBounded(t *testing.T) {
	j := Open(t.TempDir(), root, Recover{})
	must(t, makeDir(j.dir))
	old := func(i int) string { return fmt.Sprintf("%020d-old%s", i, logExt) }
	for i := range maxSegments + 10 { // as many sessions would leave
		must(t, os.WriteFile(filepath.Join(j.dir, old(i)), nil, 0o600))
	}
	for i := range 12 {
		keep(t, j, fmt.Sprint(i)+strings.Repeat("x", maxSegment/4), true)
	}
	list, err := j.segments(logExt, liveExt)
	must(t, err)
	if len(list) > maxSegments || list[0].Name() == old(0) {
		t.Errorf("%d segments, the first is %s", len(list), list[0].Name())
	}
	got := history(t, j)
	if len(got) != 12 || got[0][:3] != "0xx" || got[11][:3] != "11x" {
		t.Errorf("%d entries across the borders of segments", len(got))
	}
	must(t, j.Close())
}

func TestPruneKeepsToItsSize(t *testing.T) {
	j := Open(t.TempDir(), root, Recover{})
	must(t, makeDir(j.dir))
	for i := range 6 {
		path := filepath.Join(j.dir, fmt.Sprintf("%020d%s", i, logExt))
		must(t, os.WriteFile(path, nil, 0o600))
		must(t, os.Truncate(path, maxJournal/4))
	}
	if at, err := j.Lost(); !at.IsZero() || err != nil {
		t.Errorf("lost before anything went: %v, %v", at, err)
	}
	went := filepath.Join(j.dir, fmt.Sprintf("%020d%s", 2, logExt)) // the newest one removed
	when := time.Unix(1e9, 500)                                     // Windows counts in 100 ns
	must(t, os.Chtimes(went, when, when))
	must(t, j.prune())
	if at, err := j.Lost(); !at.Equal(when) || err != nil {
		t.Errorf("lost until %v, %v; want %v", at, err, when)
	}
	list, err := j.segments(logExt)
	if err != nil || len(list) != 3 || list[0].Name() != fmt.Sprintf("%020d%s", 3, logExt) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestStoppedUndo: an undo whose process died is recognized.
func TestStoppedUndo(t *testing.T) {
	for name, tt := range map[string]struct {
		done []bool // of the entries of an undo of two files
		then bool   // something else was done after it
		want Stopped
	}{
		"half":    {[]bool{true, false}, false, Stopped{1, 2}},
		"not yet": {[]bool{false}, false, Stopped{}},
		"whole":   {[]bool{true, true}, false, Stopped{}},
		"earlier": {[]bool{true}, true, Stopped{}},
	} {
		home := t.TempDir()
		j := Open(home, root, Recover{})
		keep(t, j, "before", true)
		for i := range tt.done {
			must(t, j.Begin(&Entry{Path: fmt.Sprint("/f", i), Origin: Origin{Turn: "t", Undoes: []string{"x"}, Of: 2}}))
		}
		if tt.then {
			must(t, j.Begin(&Entry{Path: "/g"}))
		}
		kill(t, j)
		n := 0
		got := Open(home, root, Recover{Entry: func(*Entry) (bool, error) {
			n++
			return n > len(tt.done) || tt.done[n-1], nil
		}})
		if got.Stopped != tt.want || n == 0 {
			t.Errorf("%s: %+v", name, got.Stopped)
		}
		if again := Open(home, root, Recover{}); again.Stopped != (Stopped{}) {
			t.Errorf("%s: said again: %+v", name, again.Stopped)
		}
	}
}

func TestHashText(t *testing.T) {
	h := Hash{1, 2, 0xff}
	text, err := h.MarshalText()
	must(t, err)
	var back Hash
	if err := back.UnmarshalText(text); err != nil || back != h {
		t.Errorf("%s: %v, %v", text, back, err)
	}
	for _, bad := range []string{"", "00", strings.Repeat("x", 64)} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
}

// A process that is killed right after it locked a new segment, or right before it
// releases the lock, leaves only the lock file.
func TestLoneLockFilesGo(t *testing.T) {
	home := t.TempDir()
	j := Open(home, root, allDone(new(int)))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	orphan := filepath.Join(j.dir, "00000000000000000001-ORPHAN"+lockExt)
	held := filepath.Join(j.dir, "00000000000000000002-HELD"+lockExt)
	if err := os.WriteFile(orphan, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := statefile.TryAcquire(held)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, lock.Release()) }()
	again := Open(home, root, allDone(new(int)))
	defer func() { must(t, again.Close()) }()
	if _, err := os.Stat(orphan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock of a dead process stays: %v", err)
	}
	if _, err := os.Stat(held); err != nil {
		t.Errorf("the lock of a living process is gone: %v", err)
	}
}

// TestUndoAfterTheClockWasSetBack: changes keep their order, over several processes.
func TestUndoAfterTheClockWasSetBack(t *testing.T) {
	home := t.TempDir()
	changes := setBack(t, home)
	j := Open(home, root, allDone(new(int)))
	if d := cmp.Diff([]string{"one", "two undone", "three"}, history(t, j)); d != "" {
		t.Error(d)
	}
	other := Open(home, root, allDone(new(int)))
	keep(t, other, "four", true)
	keep(t, j, "five", true)
	keep(t, other, "six", true, changes[2])
	want := []string{"one undone", "two", "three undone", "four", "five", "six"}
	if d := cmp.Diff(want, history(t, j)); d != "" {
		t.Error(d)
	}
	must(t, errors.Join(other.Close(), j.Close()))
}

// TestJournalWithoutSeq: in a journal from before Seq, an undo counts, and so does its undo,
// though it seems older than the change.
func TestJournalWithoutSeq(t *testing.T) {
	home := t.TempDir()
	setBack(t, home)
	j := Open(home, root, allDone(new(int)))
	must(t, os.Remove(filepath.Join(j.dir, seqFile)))
	list, err := j.segments(logExt)
	must(t, err)
	for _, item := range list {
		path := filepath.Join(j.dir, item.Name())
		rs, err := scanFile(path)
		must(t, err)
		for _, e := range rs.entries {
			e.Seq = 0
		}
		must(t, rs.rewrite(strings.TrimSuffix(path, logExt), func(*Entry) bool { return false }))
	}
	if d := cmp.Diff([]string{"two undone", "three", "one"}, history(t, j)); d != "" {
		t.Error(d)
	}
	must(t, j.Close())
}

// setBack makes a change, sets the clock back, undoes the change in another process, and
// undoes that. It returns the IDs.
func setBack(t *testing.T, home string) []string {
	t.Helper()
	first := Open(home, root, allDone(new(int)))
	first.last = time.Now().Add(time.Hour).UnixNano()
	change := keep(t, first, "one", true)
	must(t, first.Close())
	second := Open(home, root, allDone(new(int)))
	undone := keep(t, second, "two", true, change.ID)
	if undone.Time >= change.Time {
		t.Fatal("the clock was not set back")
	}
	redone := keep(t, second, "three", true, undone.ID)
	must(t, second.Close())
	return []string{change.ID, undone.ID, redone.ID}
}
