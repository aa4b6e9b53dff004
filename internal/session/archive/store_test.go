package archive

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"

	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// sample returns a conversation with everything that a message can hold.
func sample() []llm.Message {
	return []llm.Message{
		llm.TextMessage(llm.User, "Fix the <test> & \"quote\" it \u2028 ok\n\tß"),
		{
			Role: llm.Assistant, Extra: []byte(`{"sig":"x"}`),
			Parts: []llm.Part{{Kind: llm.ReasoningPart, Text: "hm"}, {Kind: llm.TextPart, Text: "I read."}},
			Calls: []llm.ToolCall{{ID: "a", Name: "read", Args: `{"p":"<x>"}`, Extra: []byte(`{"t":1,"t":2}`)}, {ID: "b", Name: "x", Args: "{}", Problem: "cut"}},
		},
		{Role: llm.ToolReply, CallID: "a", Parts: []llm.Part{{Kind: llm.TextPart, Text: `{"sum":"00000000","len":2,"rec":{}}`}}},
		{Role: llm.ToolReply, CallID: "b", Parts: []llm.Part{{Kind: llm.TextPart, Text: "no"}}},
		llm.TextMessage(llm.Assistant, "Done."),
	}
}

func newStore(t testing.TB, a *Archive) *Store {
	t.Helper()
	s := a.Create("/src/project", "test/model")
	t.Cleanup(func() { s.Close() })
	return s
}

// storeSample writes the sample as a session and returns its path.
func storeSample(t testing.TB, a *Archive) (id, path string) {
	t.Helper()
	s := newStore(t, a)
	for _, m := range sample() {
		if err := s.Append(history.Entries(m)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.AppendUsage(llm.Usage{Input: 7, CostUSD: 0.5}, false), s.AppendUsage(llm.Usage{Output: 2}, false), s.AppendUsage(llm.Usage{Input: 3, CostUSD: 0.25}, true), s.Close()); err != nil {
		t.Fatal(err)
	}
	return s.ID(), s.path
}

// stored returns the messages in the file of s.
func stored(s *Store) []llm.Message {
	var out []llm.Message
	for _, e := range s.Conversation().Entries {
		out = append(out, e.Item.Message)
	}
	return out
}

func reopen(t testing.TB, a *Archive, id string) *Store {
	t.Helper()
	s, err := a.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStoreKeepsEverything(t *testing.T) {
	a := New(t.TempDir())
	id, path := storeSample(t, a)
	s := reopen(t, a, id)
	want := Conversation{Entries: history.Entries(sample()...), Usage: llm.Usage{Input: 10, Output: 2, CostUSD: 0.75}, Context: 2}
	if diff := cmp.Diff(want, s.Conversation()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	info := s.Info()
	if info.Dir != "/src/project" || info.Model != "test/model" || info.Title != "Fix the <test> & \"quote\" it ok ß" || info.Created.IsZero() {
		t.Errorf("info %+v", info)
	}
	_, got, err := a.Read(id)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("read: %v\n%s", err, diff)
	}
	if runtime.GOOS != "windows" {
		for p, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if st, err := os.Stat(p); err != nil || st.Mode().Perm() != mode {
				t.Errorf("%s: %v, mode %v, want %v", p, err, st.Mode(), mode)
			}
		}
	}
}

func TestNoFileBeforeTheFirstRecord(t *testing.T) {
	home := t.TempDir()
	s := newStore(t, New(home))
	if err := errors.Join(s.Sync(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestTornTail cuts the file at each byte of its second half: intact records stay, the
// rest is reported once, and appending continues.
func TestTornTail(t *testing.T) {
	a := New(t.TempDir())
	id, path := storeSample(t, a)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fired := 0
	for cut := len(whole) / 2; cut < len(whole); cut++ {
		scratch.Write(t, path, string(whole[:cut]))
		s := reopen(t, a, id)
		lines := bytes.Count(whole[:cut+1], []byte("\n")) // the last may lack its ending
		if torn := whole[cut-1] != '\n' && whole[cut] != '\n'; torn {
			fired++
			if len(s.Conversation().Notes) != 1 || !strings.Contains(s.Conversation().Notes[0], "is incomplete") {
				t.Fatalf("cut at %d: notes %q", cut, s.Conversation().Notes)
			}
		}
		if err := errors.Join(s.Append(history.Entries(llm.TextMessage(llm.User, "after the crash"))...), s.Close()); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || bytes.Count(after, []byte("\n")) != lines+1 || !bytes.HasPrefix(after, whole[:bytes.LastIndexByte(whole[:cut], '\n')+1]) {
			t.Fatalf("cut at %d: %v: %d lines before, then\n%s", cut, err, lines, after)
		}
		_, c, err := a.Read(id)
		if err != nil || len(c.Notes) != 0 || c.Messages()[len(c.Messages())-1].Text() != "after the crash" {
			t.Fatalf("cut at %d: %v, notes %q", cut, err, c.Notes)
		}
	}
	if fired < 100 {
		t.Errorf("only %d cuts were torn", fired)
	}
}

func TestUnknownRecordsAreSteppedOver(t *testing.T) {
	a := New(t.TempDir())
	id, path := storeSample(t, a)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"kind":"mood","mood":"sunny"}`, `{"kind":1}`} {
		if _, err := f.Write(appendFrame(nil, []byte(body))); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	s := reopen(t, a, id)
	if diff := cmp.Diff(sample(), stored(s)); diff != "" {
		t.Error(diff)
	}
	if len(s.Conversation().Notes) != 1 {
		t.Errorf("notes %q: the second record is damaged, the first is not", s.Conversation().Notes)
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	a := New(t.TempDir())
	id, path := storeSample(t, a)
	line, err := appendRecord(nil, record{Kind: kindMeta, Meta: &meta{Version: 99, ID: id}})
	if err != nil {
		t.Fatal(err)
	}
	scratch.Write(t, path, string(line))
	if _, err := a.Open(id); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("error %v", err)
	}
	if _, _, err := a.Read(id); err == nil {
		t.Error("read without an error")
	}
}

func TestOneProcessASession(t *testing.T) {
	a := New(t.TempDir())
	id, _ := storeSample(t, a)
	s := reopen(t, a, id)
	for name, do := range map[string]func() error{
		"open":   func() error { _, err := a.Open(id); return err },
		"latest": func() error { _, _, err := a.Latest("/src/project"); return err },
		"remove": func() error { return a.Remove(id) },
	} {
		if err := do(); !errors.Is(err, statefile.ErrLocked) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reopen(t, a, id)
}

// The newest session is in use: the newest free one is opened, and the list shows which
// is open.
func TestLatestIsTheNewestFreeOne(t *testing.T) {
	a := New(t.TempDir())
	older, olderPath := storeSample(t, a)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(olderPath, old, old); err != nil {
		t.Fatal(err)
	}
	newer, _ := storeSample(t, a)
	reopen(t, a, newer)
	s, open, err := a.Latest("/src/project")
	if err != nil || s.ID() != older || open != 1 {
		t.Fatalf("latest %v %d %v, want %s", s, open, err, older)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := a.List("/src/project")
	if err != nil || len(list) != 2 || !list[0].Open || list[1].Open {
		t.Errorf("list %+v, %v", list, err)
	}
}

func TestFindListRemove(t *testing.T) {
	a := New(t.TempDir())
	if _, _, err := a.Latest("/nowhere"); !errors.Is(err, ErrNoSession) {
		t.Errorf("latest of nothing: %v", err)
	}
	if list, err := a.List(""); err != nil || len(list) != 0 {
		t.Errorf("list of nothing: %v, %v", list, err)
	}
	one, onePath := storeSample(t, a)
	two, twoPath := storeSample(t, a)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(onePath, old, old); err != nil {
		t.Fatal(err)
	}
	other := a.Create("/src/[other]", "m")
	if err := errors.Join(other.Append(history.Entries(llm.TextMessage(llm.User, strings.Repeat("long ", 100)))...), other.Close()); err != nil {
		t.Fatal(err)
	}
	list, err := a.List("/src/project")
	if err != nil || len(list) != 2 || list[0].ID != two || list[1].ID != one {
		t.Fatalf("list %+v, %v", list, err)
	}
	want := Info{ID: two, Dir: "/src/project", Model: "test/model", Title: "Fix the <test> & \"quote\" it ok ß"}
	if diff := cmp.Diff(want, list[0], cmpopts.IgnoreFields(Info{}, "Created", "Updated", "Size")); diff != "" || list[0].Size == 0 {
		t.Error(diff, list[0].Size)
	}
	all, err := a.List("")
	if err != nil || len(all) != 3 {
		t.Fatalf("all: %+v, %v", all, err)
	}
	s, _, err := a.Latest("/src/project")
	if err != nil || s.ID() != two {
		t.Fatalf("latest %v, %v", s, err)
	}
	s.Close()
	if s := reopen(t, a, one[:6]); s.ID() != one {
		t.Errorf("opened %s by a beginning of %s", s.ID(), one)
	} else {
		s.Close()
	}
	if title := all[slices.IndexFunc(all, func(i Info) bool { return i.ID == other.ID() })].Title; len([]rune(title)) != 200 || !strings.HasSuffix(title, "…") {
		t.Errorf("title %q", title)
	}
	if err := a.Remove(two); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{twoPath, lockPath(twoPath)} {
		if _, err := os.Stat(p); err == nil {
			t.Errorf("%s is still there", p)
		}
	}
	for _, id := range []string{"", two, "../" + one, "zzzzzzzzzz", "A*"} {
		if _, err := a.Open(id); !errors.Is(err, ErrNoSession) {
			t.Errorf("open %q: %v", id, err)
		}
	}
}

func TestAmbiguousID(t *testing.T) {
	a := New(t.TempDir())
	id, path := storeSample(t, a)
	if err := os.Link(path, filepath.Join(filepath.Dir(path), id[:5]+"22222.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(id[:5]); err == nil || !strings.Contains(err.Error(), "2 ids") {
		t.Errorf("error %v", err)
	}
	reopen(t, a, id)
}

// TestDamageInTheMiddle checks that a damaged record is skipped and reported, even if a
// record follows it without a line ending.
func TestDamageInTheMiddle(t *testing.T) {
	lines := func(t *testing.T, path string) [][]byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.SplitAfter(data, []byte("\n"))
	}
	for name, harm := range map[string]func(line []byte) []byte{
		"flipped bit":    func(l []byte) []byte { l[len(l)/2] ^= 4; return l },
		"fused":          func(l []byte) []byte { return l[:len(l)/2] },
		"zeroes":         func(l []byte) []byte { return make([]byte, len(l)) },
		"wrong length":   func(l []byte) []byte { return bytes.Replace(l, []byte(`"len":`), []byte(`"len":1`), 1) },
		"huge length":    func(l []byte) []byte { return bytes.Replace(l, []byte(`"len":`), []byte(`"len":99999999999999999`), 1) },
		"empty line":     func(l []byte) []byte { return append([]byte("\n\n"), "garbage\n"...) },
		"no length":      func(l []byte) []byte { return []byte(frameStart + "00000000\n") },
		"another format": func(l []byte) []byte { return []byte(`{"kind":"message"}` + "\n") },
	} {
		t.Run(name, func(t *testing.T) {
			a := New(t.TempDir())
			id, path := storeSample(t, a)
			all := lines(t, path)
			all[4] = harm(bytes.Clone(all[4])) // the first result
			scratch.Write(t, path, string(bytes.Join(all, nil)))
			s := reopen(t, a, id)
			want := slices.Delete(sample(), 2, 3)
			if diff := cmp.Diff(want, stored(s)); diff != "" {
				t.Errorf("messages:\n%s", diff)
			}
			if len(s.Conversation().Notes) != 1 || !strings.Contains(s.Conversation().Notes[0], "1 place") {
				t.Errorf("notes %q", s.Conversation().Notes)
			}
		})
	}
}

// TestFailedWritesAreMadeUpFor checks that failed records are written before the next
// ones, and that half a record never stays.
func TestFailedWritesAreMadeUpFor(t *testing.T) {
	a := New(t.TempDir())
	s := newStore(t, a)
	say := func(text string) error { return s.Append(history.Entries(llm.TextMessage(llm.User, text))...) }
	if err := say("first"); err != nil {
		t.Fatal(err)
	}
	file := s.out.file
	closed, err := os.Open(s.path) // cannot be written
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	s.out.file = closed
	if err := say("second"); err == nil {
		t.Fatal("the fault did not fire")
	}
	if _, err := file.WriteString(`{"sum":"half a rec`); err != nil {
		t.Fatal(err)
	}
	s.out.file, s.out.dirty = file, true
	if err := say("third"); err != nil {
		t.Fatal(err)
	}
	_, c, err := a.Read(s.ID())
	if err != nil || len(c.Notes) != 0 || len(c.Messages()) != 3 {
		t.Fatal(err, c.Notes, len(c.Messages()))
	}
}
