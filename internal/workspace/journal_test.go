package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// journalOf writes n changes of one file ("0" to "n") and returns its folder,
// home and the journal's only segment. The journal is as a kill would leave it,
// if killed is set.
func journalOf(t *testing.T, n int, killed bool) (dir, home, segment string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	r, err := Open(dir, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		c, err := r.Propose("f", func(File) (string, error) { return fmt.Sprint(i + 1), nil })
		if err == nil {
			_, err = r.Commit(t.Context(), c, Origin{Turn: "t"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	live := r.journal.live.path
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if killed {
		if err := os.Rename(live+logExt, live+liveExt); err != nil {
			t.Fatal(err)
		}
		return dir, home, live + liveExt
	}
	return dir, home, live + logExt
}

func undoLast(t *testing.T, dir, home string) error {
	t.Helper()
	r, err := Open(dir, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plan, err := r.UndoPlan(t.Context(), LastChange)
	if err != nil {
		return err
	}
	return r.Undo(t.Context(), plan)
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTornTail cuts the journal of a killed process at each byte. It must open,
// and undo gives the content before, or says that there is nothing to undo.
func TestTornTail(t *testing.T) {
	_, _, path := journalOf(t, 2, true)
	whole := contentOf(t, path)
	undone, refused := 0, 0
	for cut := range len(whole) {
		dir, home, path := journalOf(t, 2, true)
		if err := os.Truncate(path, int64(cut)); err != nil {
			t.Fatal(err)
		}
		err := undoLast(t, dir, home)
		got := contentOf(t, filepath.Join(dir, "f"))
		switch {
		case err == nil && got == "1":
			undone++
		case (errors.Is(err, ErrNothingToUndo) || errors.Is(err, ErrStale)) && got == "2":
			refused++
		default:
			t.Fatalf("cut at %d of %d: %v, f holds %q", cut, len(whole), err, got)
		}
	}
	if undone == 0 || refused == 0 {
		t.Errorf("%d undone, %d refused: the cuts test nothing", undone, refused)
	}
}

// TestDamagedJournal flips each byte in turn. Undo may be refused, but whatever
// it writes is what was there before.
func TestDamagedJournal(t *testing.T) {
	_, _, path := journalOf(t, 2, false)
	size := len(contentOf(t, path))
	refused := 0
	for i := 0; i < size; i += 3 {
		dir, home, path := journalOf(t, 2, false)
		data := []byte(contentOf(t, path))
		data[i] ^= 0x55
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		err := undoLast(t, dir, home)
		got := contentOf(t, filepath.Join(dir, "f"))
		if err != nil {
			refused++
		}
		if err != nil && got != "2" || err == nil && got != "1" {
			t.Fatalf("byte %d: %v, f holds %q", i, err, got)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

func TestRecoveryRemovesOnlyWhatIsOurs(t *testing.T) {
	dir, home, path := journalOf(t, 1, true)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	after := Hash{1}
	for _, temp := range []string{".agent-OURS.tmp", ".agent-DIR.tmp", "precious", "../precious"} {
		data, err := encodeJSON(entryRecord, entry{ID: temp, Path: filepath.Join(dir, "f"), After: &after, Temp: temp})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	keep := []string{"precious", ".agent-THEIRS.tmp", "f"}
	for _, name := range append(keep, ".agent-OURS.tmp") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("1"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".agent-DIR.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, name := range append(keep, ".agent-DIR.tmp") {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".agent-OURS.tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(r.journal.dir, "*"+liveExt)); len(left) > 0 {
		t.Errorf("unfinished: %v", left)
	}
}

// TestLiveSegmentIsLeftAlone opens a workspace while another one is in the middle
// of a commit: its temp file must not be taken for litter.
func TestLiveSegmentIsLeftAlone(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	first, err := Open(dir, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	opened := false
	first.at = func(s step) error {
		if s != stepCheck {
			return nil
		}
		opened = true
		second, err := Open(dir, Options{Home: home})
		if err != nil {
			return err
		}
		if _, err := second.UndoPlan(context.WithoutCancel(t.Context()), LastChange); !errors.Is(err, ErrNothingToUndo) {
			t.Errorf("a change that is not done can be undone: %v", err)
		}
		return second.Close()
	}
	c, err := first.Propose("f", func(File) (string, error) { return "x", nil })
	if err == nil {
		_, err = first.Commit(t.Context(), c, Origin{})
	}
	if err != nil || !opened {
		t.Fatalf("%v, opened %v", err, opened)
	}
}

func TestSegmentsAreBounded(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	r, err := Open(dir, Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.journal.makeDir(); err != nil {
		t.Fatal(err)
	}
	for i := range maxSegments + 10 { // as many sessions would leave
		path := filepath.Join(r.journal.dir, fmt.Sprintf("%020d-old%s", i, logExt))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	big := strings.Repeat("x", maxSegment/4)
	for i := range 12 {
		c, err := r.Propose("f", func(File) (string, error) { return fmt.Sprint(i) + big, nil })
		if err == nil {
			_, err = r.Commit(t.Context(), c, Origin{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.journal.segments(logExt, liveExt)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > maxSegments || list[0].Name() == fmt.Sprintf("%020d-old%s", 0, logExt) {
		t.Errorf("%d segments, the first is %s", len(list), list[0].Name())
	}
	for i := 11; i > 0; i-- { // across the borders of segments
		plan, err := r.UndoPlan(t.Context(), LastChange)
		if err == nil {
			err = r.Undo(t.Context(), plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, filepath.Join(dir, "f")); got != fmt.Sprint(i-1)+big {
			t.Fatalf("undo %d gives %.5s…", i, got)
		}
	}
}

func TestPruneKeepsToItsSize(t *testing.T) {
	j := newJournal(t.TempDir(), "/some/root")
	if err := j.makeDir(); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		path := filepath.Join(j.dir, fmt.Sprintf("%020d%s", i, logExt))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, maxJournal/4); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.prune(); err != nil {
		t.Fatal(err)
	}
	list, err := j.segments(logExt)
	if err != nil || len(list) != 3 || list[0].Name() != fmt.Sprintf("%020d%s", 3, logExt) {
		t.Errorf("%v, %v", list, err)
	}
}

func TestHashText(t *testing.T) {
	h := Hash{1, 2, 0xff}
	text, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
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
