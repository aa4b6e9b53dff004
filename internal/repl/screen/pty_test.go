//go:build unix

package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
)

// programVar turns the test binary into a program with a Screen, so that tests can end it in
// every way.
const programVar = "SCREEN_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch name := os.Getenv(programVar); name {
	case "":
	case "shell":
		os.Exit(shell())
	case "job":
		os.Exit(job())
	default:
		os.Exit(program(name))
	}
	os.Exit(m.Run())
}

// start runs the program on a new terminal and waits for its first frame.
func start(t *testing.T, name string, opt vt.Options) *ptytest.Terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := ptytest.New(t, opt)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), programVar+"="+name, "TERM=xterm-256color", "SSH_TTY=/dev/tty") // a slow terminal
	p.Start(cmd)
	p.WaitFor(`(?m)^> ready`)
	return p
}

// program draws as its keys request and returns its exit status.
func program(name string) (status int) {
	around := desktop.New(desktop.Options{Title: true, Progress: true, Notify: "osc9", Dir: "/work", Env: []string{"WT_SESSION=1"}})
	s, err := Open(Options{In: os.Stdin, Out: os.Stdout, Env: os.Environ(), Window: around})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	defer func() {
		if r := recover(); r != nil {
			s.Close()
			fmt.Println("panicked:", r)
			status = 2
		}
	}()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		sig := (<-term).(syscall.Signal)
		s.Close()
		os.Exit(128 + int(sig))
	}()
	if count, ok := strings.CutPrefix(name, "print "); ok {
		return printer(s, count)
	}
	s.Send(around.Show(desktop.Working, "", time.Now()))
	prog := tea.NewProgram(&echo{s: s}, tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
		tea.WithColorProfile(s.Profile()))
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for range resized {
			w, h := s.Size()
			prog.Send(tea.WindowSizeMsg{Width: w, Height: h})
		}
	}()
	if _, err = prog.Run(); err != nil {
		return 1
	}
	s.SetTail(nil, nil)
	s.Flush()
	if err := s.Close(); err != nil {
		return 1
	}
	return 0
}

// printer prints lines as fast as possible above a live region of full width.
func printer(s *Screen, count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		return 3
	}
	tail := func(first string) {
		w, _ := s.Size()
		s.SetTail([]string{strings.Repeat("─", w), first, strings.Repeat("=", w)}, &Cursor{X: 2, Y: 1})
		s.Flush()
	}
	tail("> ready")
	for key := []byte{0}; key[0] != 'x'; { // skips the terminal's answers
		if _, err := os.Stdin.Read(key); err != nil {
			return 3
		}
	}
	for i := range n {
		s.Print(fmt.Sprintf("<%d>", i))
		tail(fmt.Sprintf("> %d", i))
	}
	w, h := s.Size()
	s.Resize(w, h)
	s.SetTail([]string{"> done"}, nil)
	s.Flush()
	if err := s.Close(); err != nil {
		return 1
	}
	return 0
}

// echo shows its input.
type echo struct {
	s   *Screen
	got string
}

func (e *echo) Init() tea.Cmd { return nil }

func (e *echo) View() tea.View {
	e.s.SetTail([]string{"> ready", e.got}, &Cursor{X: 2})
	e.s.Flush()
	return tea.View{}
}

func (e *echo) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		e.got = msg.Keystroke()
		switch e.got {
		case "q":
			return e, tea.Quit
		case "p":
			panic("asked to")
		case "alt+p":
			go func() {
				defer e.s.Close()
				panic("asked to, elsewhere")
			}()
		case "v":
			e.s.SetAlt(true)
		case "m":
			e.s.SetAlt(false)
		case "e":
			return e, tea.Exec(&editor{e.s}, func(error) tea.Msg { return nil })
		}
	case tea.PasteMsg:
		e.got = fmt.Sprintf("paste of %d", len(msg.Content))
	case tea.BackgroundColorMsg:
		e.s.Print(fmt.Sprintf("dark: %v", msg.IsDark()))
	case tea.ModeReportMsg:
		e.s.Print(fmt.Sprintf("mode %v: %d", msg.Mode, msg.Value))
	case tea.WindowSizeMsg:
		if msg.Width <= 0 {
			break // Bubble Tea sends one without a size, because it has no renderer
		}
		e.s.Resize(msg.Width, msg.Height)
		e.s.Print(fmt.Sprintf("size %d×%d", msg.Width, msg.Height))
	}
	return e, nil
}

// editor is a program that takes over the terminal.
type editor struct{ s *Screen }

func (*editor) SetStdin(io.Reader)  {}
func (*editor) SetStdout(io.Writer) {}
func (*editor) SetStderr(io.Writer) {}

func (e *editor) Run() error {
	if err := e.s.Suspend(); err != nil {
		return err
	}
	fmt.Print("line? ")
	var line string
	if _, err := fmt.Scanln(&line); err != nil {
		return err
	}
	return e.s.Resume()
}

func TestEveryExitRestoresTheTerminal(t *testing.T) {
	tests := []struct {
		name   string
		exit   func(*ptytest.Terminal)
		status int
	}{
		{"quit", func(p *ptytest.Terminal) { p.Press("q") }, 0},
		{"quit from the alternate screen", func(p *ptytest.Terminal) {
			p.Press("v")
			p.WaitUntil("alternate screen", func(m *vt.Terminal) bool { return m.Modes().AltScreen })
			p.Press("q")
		}, 0},
		{"panic", func(p *ptytest.Terminal) { p.Press("p") }, 2},
		{"panic in a goroutine", func(p *ptytest.Terminal) { p.Press("alt+p") }, 2},
		{"SIGTERM", func(p *ptytest.Terminal) { p.Signal(syscall.SIGTERM) }, 128 + 15},
		{"SIGINT", func(p *ptytest.Terminal) { p.Signal(syscall.SIGINT) }, 128 + 2},
		{"SIGHUP", func(p *ptytest.Terminal) { p.Signal(syscall.SIGHUP) }, 128 + 1},
		{"SIGQUIT", func(p *ptytest.Terminal) { p.Signal(syscall.SIGQUIT) }, 128 + 3},
	}
	times := 2
	if os.Getenv("AGENT_TEST_FULL") != "" {
		times = 1000/len(tests) + 1
	}
	for i := range times * len(tests) {
		tt := tests[i%len(tests)]
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, "echo", vt.Options{Width: 60, Height: 12})
			raw, m := p.Termios(), p.Modes()
			if !m.Focus || m.Titles != 1 || m.Progress != "3" || !m.BracketedPaste {
				t.Fatalf("the terminal was not taken: %+v", m)
			}
			tt.exit(p)
			if status := p.Wait(); status != tt.status {
				t.Errorf("exit status %d, want %d; screen:\n%s", status, tt.status, p.Screen())
			}
			if diff := cmp.Diff(vt.Modes{}, p.Modes()); diff != "" {
				t.Errorf("modes left on:\n%s", diff)
			}
			p.Look(func(m *vt.Terminal) {
				if title := m.Stats().Title; title != "" {
					t.Errorf("the title %q is left", title)
				}
			})
			fresh := ptytest.New(t, vt.Options{}).Termios()
			if got := p.Termios(); got != fresh || raw == fresh {
				t.Errorf("settings %+v, want %+v; raw were %+v", got, fresh, raw)
			}
		})
	}
}

// A killed program leaves the terminal modified. The next one starts from that state and
// restores a working terminal.
func TestTheNextStartRepairsAfterAKill(t *testing.T) {
	p := start(t, "echo", vt.Options{Width: 60, Height: 12})
	p.Signal(syscall.SIGKILL)
	p.Wait()
	left := p.Modes()
	if !left.BracketedPaste || left.KittyKeys != 5 || left.ModifyKeys != 2 {
		t.Fatalf("the kill left %+v", left)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), programVar+"=echo", "TERM=xterm-256color")
	p.Start(cmd)
	p.Press("a")
	p.WaitFor(`(?m)^a$`)
	p.Press("q")
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	fresh := ptytest.New(t, vt.Options{}).Termios()
	got := p.Termios()
	if got.Lflag != fresh.Lflag || got.Oflag != fresh.Oflag || got.Iflag&syscall.ICRNL == 0 {
		t.Errorf("settings %+v, want %+v", got, fresh)
	}
	modes := p.Modes()
	modes.Titles = 0 // nobody restores the title saved before the kill
	if diff := cmp.Diff(vt.Modes{}, modes); diff != "" {
		t.Errorf("modes left on:\n%s", diff)
	}
}

func TestKeysPastesAndAnswersArrive(t *testing.T) {
	for _, opt := range []vt.Options{
		{Width: 60, Height: 20, Background: "rgb:ffff/ffff/ffff"},
		{Width: 60, Height: 20, Background: "rgb:ffff/ffff/ffff", NoKitty: true},
	} {
		p := start(t, "echo", opt)
		p.WaitFor(`dark: false`)
		p.WaitFor(`mode 2026: 2`)
		for _, key := range []string{"shift+enter", "alt+enter", "ctrl+j", "esc", "shift+tab", "ctrl+c", "ctrl+left", "enter", "x"} {
			p.Press(key)
			p.WaitFor(`(?m)^` + regexp.QuoteMeta(key) + `$`)
		}
		p.Paste(strings.Repeat("0123456789\n", 200))
		p.WaitFor(`paste of 2200`)
		p.Resize(50, 18)
		p.WaitFor(`size 50×18`)
	}
}

func TestTenMegabytePaste(t *testing.T) {
	p := start(t, "echo", vt.Options{Width: 60, Height: 20})
	p.Paste(strings.Repeat("0123456789 the quick brown fox jumps over it\n", 10<<20/45))
	p.WaitFor(`paste of 10485`)
	p.Press("q")
	if status := p.Wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

func TestAnotherProgramInBetween(t *testing.T) {
	p := start(t, "echo", vt.Options{Width: 60, Height: 20})
	p.Press("e")
	p.WaitFor(`line\?`)
	if m := p.Modes(); m != (vt.Modes{}) || strings.Contains(p.Screen(), "ready") {
		t.Errorf("the other program gets %+v and\n%s", m, p.Screen())
	}
	p.Type("something\n")
	p.WaitFor(`line\? something\n> ready`)
	p.Press("x")
	p.WaitFor(`(?m)^x$`)
	p.Press("q")
	if status := p.Wait(); status != 0 || p.Modes() != (vt.Modes{}) {
		t.Errorf("exit status %d, modes %+v", status, p.Modes())
	}
}

// Two thousand lines are printed while the user resizes the window: each is in the history
// once, in order. (If the terminal rewraps between reading the size and the write, a copy of
// the live region may remain; never a line.)
func TestLinesWhileResizing(t *testing.T) {
	const lines = 2000
	want := make([]string, lines)
	for i := range want {
		want[i] = fmt.Sprintf("<%d>", i)
	}
	for _, storm := range []int{0, 60} {
		p := start(t, fmt.Sprintf("print %d", lines), vt.Options{Width: 80, Height: 24})
		p.Type("x")
		for i := range storm {
			p.Resize(30+i*37%70, 16+i*7%20)
			p.WaitUntil("a few more lines", func(m *vt.Terminal) bool {
				return len(m.History()) > i*(lines/(storm+10)) || strings.Contains(m.String(), "> done")
			})
		}
		if status := p.Wait(); status != 0 {
			t.Fatalf("exit status %d", status)
		}
		all := p.History()
		got := regexp.MustCompile(`<\d+>`).FindAllString(strings.Join(all, ""), -1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d resizes (-want +got):\n%s", storm, diff)
		}
		if all[len(all)-1] != "> done" || storm == 0 && len(all) != lines+1 {
			t.Errorf("%d resizes: %d rows, the last one %q", storm, len(all), all[len(all)-1])
		}
		t.Logf("%d resizes: %d rows beside the %d lines", storm, len(all)-lines-1, lines)
	}
}

func TestOpenNeedsATerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	tty := ptytest.New(t, vt.Options{}).TTY()
	for _, opt := range []Options{{In: r, Out: tty}, {In: tty, Out: w}} {
		if _, err := Open(opt); err == nil {
			t.Error("a pipe was taken for a terminal")
		}
	}
}

// Another program may have made the terminal non-blocking: the rest of a frame is still
// written.
func TestNonBlockingTerminal(t *testing.T) {
	p := ptytest.New(t, vt.Options{Width: 100, Height: 20})
	fd, err := syscall.Dup(int(p.TTY().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(fd), "tty")
	defer out.Close()
	s, err := Open(Options{In: p.TTY(), Out: out, Env: []string{"TERM=xterm"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Write(make([]byte, 1<<20)); !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("the terminal took %d bytes at once: %v", n, err)
	}
	s.Print(numbered("a line of some length that fills the buffers of the terminal", 20_000)...)
	s.Flush()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	p.Sync()
	if rows := p.History(); len(rows) != 20_000 || !strings.HasSuffix(rows[19_999], " 19999") {
		t.Errorf("%d rows arrived", len(rows))
	}
}
