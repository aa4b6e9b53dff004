package home

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func entries(t *testing.T, h History) []string {
	t.Helper()
	all, err := h.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range all {
		texts = append(texts, e.Text)
	}
	return texts
}

func TestHistoryKeepsPrompts(t *testing.T) {
	h := History{File: filepath.Join(t.TempDir(), "home", "history"), Dir: "/p"}
	if got := entries(t, h); got != nil {
		t.Errorf("%q before the first prompt", got)
	}
	prompts := []string{"one", "two\nlines", `quotes " and \`, "ünï"}
	for _, p := range append(prompts, "", strings.Repeat("x", historyEntry+1)) {
		if err := h.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(prompts, entries(t, h)); d != "" {
		t.Error(d)
	}
	if st, err := os.Stat(h.File); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
}

func TestHistorySurvivesACutLine(t *testing.T) {
	h := History{File: filepath.Join(t.TempDir(), "history"), Dir: "/p"}
	scratch.Write(t, h.File, "{\"text\":\"one\"}\n{\"text\":\"cut of")
	if err := h.Add("two"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one", "two"}, entries(t, h)); d != "" {
		t.Error(d)
	}
}

func TestHistoryKnowsTheFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	scratch.Write(t, file, "\"text\"\n{\"text\":5}\n")
	for _, dir := range []string{"/a", "/b"} {
		if err := (History{File: file, Dir: dir}).Add("in " + dir); err != nil {
			t.Fatal(err)
		}
	}
	all, err := History{File: file}.Entries()
	want := []Entry{{Text: "in /a", Dir: "/a"}, {Text: "in /b", Dir: "/b"}}
	if d := cmp.Diff(want, all); d != "" || err != nil {
		t.Error(d, err)
	}
}

// Prompts of other folders do not crowd out those of this one.
func TestHistoryIsBounded(t *testing.T) {
	h := History{File: filepath.Join(t.TempDir(), "history"), Dir: "/p"}
	var b strings.Builder
	b.WriteString(`{"text":"mine","dir":"/p"}` + "\n")
	for i := range 3000 {
		fmt.Fprintf(&b, `{"text":"%d %s","dir":"/q"}`+"\n", i, strings.Repeat("x", 400))
	}
	scratch.Write(t, h.File, b.String())
	all := entries(t, h)
	if len(all) != historyEntries+1 || all[0] != "mine" || !strings.HasPrefix(all[len(all)-1], "2999 ") {
		t.Errorf("%d entries, first %.10s", len(all), all[0])
	}
	if err := h.Add("new"); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(h.File)
	if err != nil || st.Size() > 100 {
		t.Errorf("no new file was begun: %v, %v", st, err)
	}
	if d := cmp.Diff(append(all, "new")[1:], entries(t, h)[1:]); d != "" {
		t.Error(d)
	}
}

// Sessions that add while the file is being replaced lose nothing.
func TestHistoryOfSeveralSessions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	scratch.Write(t, file, string(bytes.Repeat([]byte("x"), historySize)))
	const sessions, each = 8, 20 // less than a file holds
	var work sync.WaitGroup
	// Windows appends in one step, but Wine asks for the end of the file and then writes there: on it, two
	// may write to one place. Those that replace the file run beside it all the same.
	var turn sync.Mutex
	for w := range sessions {
		work.Go(func() {
			h := History{File: file, Dir: "/p"}
			for i := range each {
				if runtime.GOOS == "windows" {
					turn.Lock()
				}
				err := h.Add(fmt.Sprintf("%d of %d %s", i, w, strings.Repeat("x", 5000)))
				if runtime.GOOS == "windows" {
					turn.Unlock()
				}
				if err != nil {
					t.Error(err)
				}
				if _, err := h.Entries(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if _, err := os.Stat(file + ".1"); err != nil {
		t.Fatal("the file was never replaced: ", err)
	}
	seen := map[string]bool{}
	for _, e := range entries(t, History{File: file, Dir: "/p"}) {
		seen[e] = true
	}
	if len(seen) != sessions*each {
		t.Errorf("%d of %d are kept", len(seen), sessions*each)
	}
}

func TestHistoryReportsAnUnreadableFile(t *testing.T) {
	h := History{File: t.TempDir()}
	if _, err := h.Entries(); err == nil {
		t.Error("no error")
	}
}
