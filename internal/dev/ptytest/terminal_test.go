//go:build unix

package ptytest

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

func shell(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

func TestAProgramOnATerminal(t *testing.T) {
	p := New(t, vt.Options{Width: 40, Height: 10})
	before := p.Termios()
	p.Start(shell(`stty size; printf 'name? '; read name; echo "hello $name"; stty raw -echo; exit 3`))
	p.WaitFor(`10 40\nname\?$`)
	p.Type("world\n")
	if status := p.Wait(); status != 3 {
		t.Errorf("exit status %d", status)
	}
	if diff := cmp.Diff([]string{"10 40", "name? world", "hello world"}, p.History()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(p.Bytes()), "hello world\r\n") {
		t.Errorf("record %q", p.Bytes())
	}
	if before == p.Termios() {
		t.Error("raw mode was not seen")
	}
}

func TestSignalsAndSizes(t *testing.T) {
	p := New(t, vt.Options{})
	p.Start(shell(`trap 'stty size' WINCH; echo ready; while :; do read x; done`))
	p.WaitFor("ready")
	p.Resize(50, 12)
	p.WaitFor("12 50")
	p.Signal(syscall.SIGKILL)
	if status := p.Wait(); status != 128+9 {
		t.Errorf("exit status %d", status)
	}
}

func TestAnswersReachTheProgram(t *testing.T) {
	p := New(t, vt.Options{})
	p.Start(shell(`stty raw -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -c | head -1`))
	p.WaitFor(`033\s+\[\s+1\s+;\s+1\s+R`)
}

// Input is accepted while nothing reads it, and leftover processes are killed.
func TestNothingBlocks(t *testing.T) {
	p := New(t, vt.Options{})
	p.Start(shell(`stty raw -echo; echo ready; sleep 1000`))
	p.WaitFor("ready")
	p.Type(strings.Repeat("x", 1<<20))
	p.Sync()
}

// A text that was on the screen before a key is no sign that the program has taken the key.
func TestAWaitIsForTheScreenAfterTheKeys(t *testing.T) {
	p := New(t, vt.Options{})
	p.Start(shell(`stty raw -echo; printf 'choose: '; dd bs=1 count=1 2>/dev/null; printf 'chosen'; dd bs=1 count=1 2>/dev/null`))
	p.WaitFor("choose")
	p.SignalGroup(syscall.SIGSTOP) // too busy to read
	p.Type("x")
	time.AfterFunc(100*time.Millisecond, func() { p.SignalGroup(syscall.SIGCONT) })
	p.WaitFor("choose")
	if !p.allRead() { // its echo may be late on a busy machine
		t.Errorf("the key was not taken, on the screen:\n%s", p.Screen())
	}
}

func TestKeys(t *testing.T) {
	plain, other, kitty := vt.Modes{}, vt.Modes{ModifyKeys: 2}, vt.Modes{KittyKeys: 1, ModifyKeys: 2}
	tests := []struct {
		key  string
		m    vt.Modes
		want string
	}{
		{"a", plain, "a"},
		{"a", kitty, "a"},
		{"A", kitty, "A"},
		{"+", plain, "+"},
		{"enter", kitty, "\r"},
		{"tab", kitty, "\t"},
		{"ctrl+c", plain, "\x03"},
		{"ctrl+c", kitty, "\x1b[99;5u"},
		{"ctrl+c", other, "\x1b[27;5;99~"},
		{"alt+b", plain, "\x1bb"},
		{"alt+b", kitty, "\x1b[98;3u"},
		{"alt+enter", plain, "\x1b\r"},
		{"shift+enter", plain, "\r"},
		{"shift+enter", kitty, "\x1b[13;2u"},
		{"shift+enter", other, "\x1b[27;2;13~"},
		{"shift+backspace", kitty, "\x1b[127;2u"},
		{"ctrl+shift+-", kitty, "\x1b[45;6u"},
		{"shift+ctrl+-", kitty, "\x1b[45;6u"},
		{"esc", plain, "\x1b"},
		{"esc", kitty, "\x1b[27;1u"},
		{"shift+tab", kitty, "\x1b[Z"},
		{"up", plain, "\x1b[A"},
		{"ctrl+left", plain, "\x1b[1;5D"},
		{"pgup", plain, "\x1b[5~"},
		{"shift+delete", plain, "\x1b[3;2~"},
		{"nokey", plain, ""},
	}
	for _, tt := range tests {
		if got := encode(tt.key, tt.m); got != tt.want {
			t.Errorf("%s with %+v: %q, want %q", tt.key, tt.m, got, tt.want)
		}
	}
}

func TestPasteIsBracketedWhereAskedFor(t *testing.T) {
	p := New(t, vt.Options{})
	p.Start(shell(`stty raw -echo; printf '\033[?2004hready'; dd bs=1 count=15 2>/dev/null | od -c | head -1`))
	p.WaitFor("ready")
	p.Paste("a\nb")
	p.WaitFor(`033\s+\[\s+2\s+0\s+0\s+~\s+a\s+\\r\s+b\s+033\s+\[\s+2\s+0\s+1\s+~`)
}
