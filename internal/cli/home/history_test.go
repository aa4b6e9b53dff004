package home

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func entries(t *testing.T, h History) []string {
	t.Helper()
	all, err := h.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHistoryKeepsPrompts(t *testing.T) {
	h := History{filepath.Join(t.TempDir(), "home", "history")}
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
	if st, err := os.Stat(h.File); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

func TestHistorySurvivesACutLine(t *testing.T) {
	h := History{filepath.Join(t.TempDir(), "history")}
	if err := os.WriteFile(h.File, []byte("\"one\"\n\"cut of"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Add("two"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one", "two"}, entries(t, h)); d != "" {
		t.Error(d)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h := History{filepath.Join(t.TempDir(), "history")}
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "%q\n", fmt.Sprintf("%d %s", i, strings.Repeat("x", 400)))
	}
	if err := os.WriteFile(h.File, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all := entries(t, h)
	if len(all) != historyEntries || !strings.HasPrefix(all[len(all)-1], "2999 ") {
		t.Errorf("%d entries", len(all))
	}
	st, err := os.Stat(h.File)
	if err != nil || st.Size() > historySize {
		t.Errorf("%d bytes, %v", st.Size(), err)
	}
	if d := cmp.Diff(all, entries(t, h)); d != "" {
		t.Error(d)
	}
}

func TestHistoryReportsAnUnreadableFile(t *testing.T) {
	h := History{t.TempDir()}
	if _, err := h.Entries(); err == nil {
		t.Error("no error")
	}
}
