package shell_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

func TestMain(m *testing.M) {
	if play(os.Args[1:]) {
		return
	}
	goleak.VerifyTestMain(m)
}

// run runs a line for a POSIX shell like runLine.
func run(t *testing.T, opts shell.Options) shell.Result {
	t.Helper()
	if !shell.In(opts.Dir).Posix {
		t.Skip("there is no shell for its line")
	}
	return runLine(t, opts)
}

// runLine runs a line in a fresh folder and fails the test if it cannot be started.
func runLine(t *testing.T, opts shell.Options) shell.Result {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	j := shell.NewJobs()
	defer closeJobs(t, j)
	res, err := j.Run(t.Context(), opts)
	if err != nil {
		t.Fatalf("%s: %v", opts.Line, err)
	}
	return res
}

func closeJobs(t *testing.T, j *shell.Jobs) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	tests := map[string]struct {
		line string
		code int
		want string
	}{
		"nothing":            {"true", 0, ""},
		"status":             {"echo hi; exit 3", 3, "hi\n"},
		"both streams":       {"echo a; echo b >&2; echo c", 0, "a\nb\nc\n"},
		"bash":               {`[[ abc == a* ]] && arr=(x y) && echo ${arr[1]}`, 0, "y\n"},
		"no input":           {"cat; echo end", 0, "end\n"},
		"no terminal":        {"( : </dev/tty ) 2>/dev/null || echo none", 0, "none\n"},
		"not found":          {"no-such-program-x 2>/dev/null", 127, ""},
		"killed by itself":   {"kill -KILL $$", 128 + 9, ""},
		"last line unended":  {"printf 'no newline'", 0, "no newline"},
		"UTF-8":              {`printf 'äöü → 🙂'`, 0, "äöü → 🙂"},
		"one byte not UTF-8": {`printf 'caf\351, and enough text around it'`, 0, "caf\uFFFD, and enough text around it"},
		"escapes are kept":   {`printf '\033[31mred\033[0m'`, 0, "\x1b[31mred\x1b[0m"},
		"separated by NULs":  {`printf 'some/file/name.go\0other/file/name.go\0'`, 0, "some/file/name.go\x00other/file/name.go\x00"},
		"binary":             {`printf '\177ELF\001\001\000\000\000\000'`, 0, "[binary output, 10 bytes, not shown]"},
		"finishes writing":   {"echo x > >(cat; echo y)", 0, "x\ny\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			res := run(t, shell.Options{Line: tt.line})
			if res.ExitCode != tt.code || res.Output != tt.want {
				t.Errorf("exit %d, output %q; want %d, %q", res.ExitCode, res.Output, tt.code, tt.want)
			}
			if res.TimedOut || res.Cancelled || len(res.Notes) > 0 || res.Spill != "" {
				t.Errorf("unexpected: %+v", res)
			}
		})
	}
}

func TestRunUsesTheFolder(t *testing.T) {
	dir := scratch.Dir(t, nil)
	if res := run(t, shell.Options{Line: "pwd -P", Dir: dir}); res.Output != dir+"\n" {
		t.Errorf("ran in %q, want %q", res.Output, dir)
	}
}

func TestRunThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	scratch.Write(t, file, "")
	tests := map[string]struct {
		opts shell.Options
		says string
	}{
		"no folder":         {shell.Options{Line: "true", Dir: filepath.Join(dir, "gone")}, "folder cannot be used"},
		"a file for folder": {shell.Options{Line: "true", Dir: file}, "is a file"},
		"NUL":               {shell.Options{Line: "echo a\x00b", Dir: dir}, "NUL"},
		"too long":          {shell.Options{Line: "echo " + strings.Repeat("x", 128<<10), Dir: dir}, "put it into a file"},
	}
	j := shell.NewJobs()
	defer closeJobs(t, j)
	for name, tt := range tests {
		tt.opts.Output = func(string) { t.Error("output of a command that cannot start") }
		if _, err := j.Run(t.Context(), tt.opts); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

func TestLongestLine(t *testing.T) {
	line := "echo ok #"
	line += strings.Repeat("x", 128<<10-1-len(line))
	if res := run(t, shell.Options{Line: line}); res.Output != "ok\n" {
		t.Errorf("%+v", res)
	}
}

func TestTimeout(t *testing.T) {
	res := run(t, shell.Options{Line: "echo before; sleep 1000; echo after", Timeout: 100 * time.Millisecond})
	if !res.TimedOut || res.Cancelled || res.ExitCode != 128+15 || res.Output != "before\n" {
		t.Errorf("%+v", res)
	}
}

func TestCancel(t *testing.T) {
	line, end := "echo before; sleep 1000", "\n"
	if !shell.In("").Posix {
		line, end = "echo before&ping -n 1000 127.0.0.1 >nul", "\r\n"
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j := shell.NewJobs()
	defer closeJobs(t, j)
	res, err := j.Run(ctx, shell.Options{
		Line: line, Dir: t.TempDir(), Output: func(string) { cancel() },
	})
	if err != nil || !res.Cancelled || res.TimedOut || res.Output != "before"+end {
		t.Errorf("%+v, %v", res, err)
	}
	res, err = j.Run(ctx, shell.Options{Line: "echo > ran", Dir: t.TempDir()})
	if err != nil || !res.Cancelled || res.ExitCode != -1 || res.Took != 0 {
		t.Errorf("cancelled before it began: %+v, %v", res, err)
	}
}

// TestFlood: too much output takes no memory, and is drained as it comes.
func TestFlood(t *testing.T) {
	const size = 200 << 20
	dir := t.TempDir()
	before := allocated() // a search for processes costs much beside many
	run(t, shell.Options{Line: "echo", SpillDir: dir})
	search := allocated() - before
	before = allocated()
	res := run(t, shell.Options{Line: "yes 'a line of some text' | head -c 209715200; echo; echo last", SpillDir: dir})
	if grown := allocated() - before; grown > search+8<<20 {
		t.Errorf("%d bytes of output made us allocate %d, none %d", size, grown, search)
	}
	if n := len([]rune(res.Output)); n > shell.DefaultLimit+300 || n < shell.DefaultLimit {
		t.Errorf("%d characters were kept", n)
	}
	if !strings.HasPrefix(res.Output, "a line of") || !strings.HasSuffix(res.Output, "\nlast\n") {
		t.Error("beginning or end is missing")
	}
	if !strings.Contains(res.Output, "left out here; its beginning is in "+res.Spill) || res.Omitted < size-4*shell.DefaultLimit {
		t.Errorf("omitted %d, spilled to %q", res.Omitted, res.Spill)
	}
	info, err := os.Stat(res.Spill)
	if err != nil || info.Size() != 64<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("spilled %v, %v", info, err)
	}
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "67,108,864") {
		t.Errorf("notes %q", res.Notes)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestTimeoutDuringAFlood(t *testing.T) {
	chunks := 0
	res := run(t, shell.Options{
		Line: "yes", Timeout: 300 * time.Millisecond, SpillDir: t.TempDir(),
		Output: func(chunk string) {
			if chunks++; len(chunk) > 9<<10 {
				t.Errorf("a chunk of %d bytes", len(chunk))
			}
		},
	})
	if !res.TimedOut || res.Omitted == 0 || chunks == 0 {
		t.Errorf("timed out %v, omitted %d, %d chunks", res.TimedOut, res.Omitted, chunks)
	}
}

func TestLinesAreCounted(t *testing.T) {
	for line, want := range map[string]int{"true": 0, "echo": 1, "printf a": 1, "printf 'a\\nb'": 2, "echo a; echo b": 2, "seq 300000": 300_000} {
		if got := run(t, shell.Options{Line: line, SpillDir: t.TempDir()}).Lines; got != want {
			t.Errorf("%s: %d lines, want %d", line, got, want)
		}
	}
}

func TestOutputThatFitsLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	// 29,999 characters of three bytes exceed the bytes kept at first.
	res := run(t, shell.Options{Line: `for i in {1..29999}; do printf '→'; done`, SpillDir: dir})
	if res.Omitted != 0 || res.Output != strings.Repeat("→", 29999) || res.Spill != "" {
		t.Errorf("omitted %d, %d bytes, spill %q", res.Omitted, len(res.Output), res.Spill)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left %v, %v", files, err)
	}
}

func TestSpillThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	scratch.Write(t, file, "")
	res := run(t, shell.Options{Line: "head -c 100000 /dev/zero | tr '\\0' x", SpillDir: file})
	if res.ExitCode != 0 || res.Spill != "" || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "could not be kept") {
		t.Errorf("exit %d, spill %q, notes %q", res.ExitCode, res.Spill, res.Notes)
	}
	if !strings.Contains(res.Output, "bytes left out here …]") {
		t.Error("the gap is not marked")
	}
}
