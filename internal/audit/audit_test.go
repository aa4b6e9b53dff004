package audit

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// all returns the subjects of the log's entries, and the faults by line.
func all(t *testing.T, l Log) (subjects []string, broken []string) {
	t.Helper()
	err := l.Each(func(e Entry, b *BrokenError) error {
		subjects = append(subjects, e.Subject)
		if b != nil {
			broken = append(broken, b.Error())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return subjects, broken
}

// An entry reads back as written, whatever the names in it.
func TestNamesThatAreNotUTF8(t *testing.T) {
	l, bad := Open(t.TempDir()), "caf\xe9\u2028<\x00\ud7ff"
	e := Entry{Session: bad, Dir: bad, Event: Approved, Kind: bad, Tool: bad, Subject: bad, By: bad}
	for range 2 {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if got, broken := all(t, l); len(got) != 2 || len(broken) > 0 {
		t.Errorf("%q: %q", got, broken)
	}
}

func fill(t *testing.T, l Log, subjects ...string) {
	t.Helper()
	for _, s := range subjects {
		if err := l.Append(t.Context(), Entry{Event: Approved, Kind: "command", Subject: s, By: "terminal"}); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, l Log) string {
	t.Helper()
	data, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, l Log, text string) {
	t.Helper()
	if err := os.WriteFile(l.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	l := Open(t.TempDir())
	if got, broken := all(t, l); len(got)+len(broken) > 0 {
		t.Errorf("no log: %q %q", got, broken)
	}
	fill(t, l, "ls", strings.Repeat("é\x00\xff", 10_000), "")
	got, broken := all(t, l)
	if len(got) != 3 || got[0] != "ls" || len(got[1]) > maxSubject+9 || len(broken) > 0 {
		t.Errorf("%d entries, %q", len(got), broken)
	}
	if info, err := os.Stat(l.file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// Each change of the log is found, at its line.
func TestTampering(t *testing.T) {
	for name, tt := range map[string]struct {
		with func(lines []string) []string
		want string
	}{
		"changed":         {func(l []string) []string { l[1] = strings.Replace(l[1], "two", "too", 1); return l }, "line 2: it was changed"},
		"other time":      {func(l []string) []string { l[0] = strings.Replace(l[0], "Z", "+00:00", 1); return l }, "line 1: it was changed"},
		"a key more":      {func(l []string) []string { l[1] = `{"x":1,` + l[1][1:]; return l }, "line 2: it was changed"},
		"a doubled key":   {func(l []string) []string { l[1] = `{"by":"x",` + l[1][1:]; return l }, "line 2: it was changed"},
		"removed":         {func(l []string) []string { return append(l[:1], l[2:]...) }, "line 2: entries before it"},
		"the first":       {func(l []string) []string { return l[1:] }, "line 1: entries before it"},
		"swapped":         {func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, "line 2: entries before it"},
		"doubled":         {func(l []string) []string { return append(l[:2], l[1:]...) }, "line 3: entries before it"},
		"no JSON":         {func(l []string) []string { l[2] = "{"; return l }, "line 3: it is not an entry"},
		"nothing changed": {func(l []string) []string { return l }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := Open(t.TempDir())
			fill(t, l, "one", "two", "three", "four")
			lines := strings.SplitAfter(strings.TrimSuffix(read(t, l), "\n"), "\n")
			lines[3] += "\n"
			for i := range lines {
				lines[i] = strings.TrimSuffix(lines[i], "\n")
			}
			write(t, l, strings.Join(tt.with(lines), "\n")+"\n")
			_, broken := all(t, l)
			first := strings.Join(broken, "|")
			if !strings.HasPrefix(first, tt.want) || tt.want == "" && first != "" {
				t.Errorf("found %q, want %q", first, tt.want)
			}
		})
	}
}

// A line that a dying process left unfinished is cut off, at each length.
func TestUnfinishedLine(t *testing.T) {
	l := Open(t.TempDir())
	fill(t, l, "one", "two")
	whole := read(t, l)
	first := strings.Index(whole, "\n") + 1
	for n := range len(whole) - first {
		write(t, l, whole[:first+n])
		if got, broken := all(t, l); len(got) != 1 || len(broken) > 0 {
			t.Fatalf("cut after %d bytes: read %q, %q", n, got, broken)
		}
		fill(t, l, "three")
		if got, broken := all(t, l); strings.Join(got, " ") != "one three" || len(broken) > 0 {
			t.Fatalf("cut after %d bytes: %q, %q", n, got, broken)
		}
	}
}

// Entries of all lengths are found at the end of a long log, whole or not.
func TestLongLines(t *testing.T) {
	subjects := []string{"short", strings.Repeat("x", usualLine-600), strings.Repeat("x", maxSubject), strings.Repeat("\x01", maxSubject)}
	for _, last := range subjects {
		for _, torn := range subjects {
			l := Open(t.TempDir())
			fill(t, l, subjects...)
			fill(t, l, last)
			end := len(read(t, l))
			fill(t, l, torn)
			whole := read(t, l)
			for n := end; n < len(whole); n += 1 + (len(whole)-end)/7 {
				write(t, l, whole[:n])
				fill(t, l, "after")
				if got, broken := all(t, l); len(got) != len(subjects)+2 || len(broken) > 0 {
					t.Errorf("%d bytes after an entry of %d: %d entries, %q", n-end, len(last), len(got), broken)
				}
			}
		}
	}
}

// A log whose end is something else is left alone.
func TestForeignLog(t *testing.T) {
	for _, text := range []string{"hello\n", "hello", "\n", strings.Repeat("x", maxLine) + "\n{}x\n"} {
		l := Open(t.TempDir())
		write(t, l, text)
		if err := l.Append(t.Context(), Entry{Event: Approved}); err == nil || read(t, l) != text {
			t.Errorf("%.10q: %v; the file holds %.20q", text, err, read(t, l))
		}
	}
	l := Open(t.TempDir())
	write(t, l, strings.Repeat("x", 2*maxLine))
	if err := l.Each(func(Entry, *BrokenError) error { return nil }); err == nil {
		t.Error("a line without an end was read")
	}
	if err := l.Append(t.Context(), Entry{Event: Approved}); err == nil {
		t.Error("a file without a line was cut off")
	}
}

const asked = "AGENT_AUDIT_TEST_HOME"

// TestAppendProcess is another process of TestAppendersLoseNothing.
func TestAppendProcess(t *testing.T) {
	home := os.Getenv(asked)
	if home == "" {
		return
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // all begin at once
		t.Fatal(err)
	}
	for n := range 50 {
		fill(t, Open(home), fmt.Sprint(n))
	}
}

func TestAppendersLoseNothing(t *testing.T) {
	home := t.TempDir()
	var start []io.Closer
	var all []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAppendProcess$")
		cmd.Env = append(os.Environ(), asked+"="+home)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		start, all = append(start, in), append(all, cmd)
	}
	for _, in := range start {
		_ = in.Close() // Wait reports a process that did not begin
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, cmd.Stdout)
		}
	}
	n := 0
	err := Open(home).Each(func(_ Entry, b *BrokenError) error {
		n++
		if b != nil {
			return b
		}
		return nil
	})
	if err != nil || n != 200 {
		t.Errorf("%d entries, %v", n, err)
	}
}
