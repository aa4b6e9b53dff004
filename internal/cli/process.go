package cli

import (
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// Process is the environment of the command line.
type Process struct {
	Args                  []string // without the program's name
	Stdin, Stdout, Stderr *os.File
	Version               string
	// Self is the file of this program and Name its zeroth argument, so that it can
	// start itself again as its watchdog. If Self is empty there is no watchdog.
	Self, Name string
}

// exitError ends the program with a status and without a message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake of the caller: in the arguments, the environment or
// the configuration.
type usageError = setup.UsageError

func usagef(format string, args ...any) error {
	return usageError{Err: fmt.Errorf(format, args...)}
}

// status returns the error of a command that ends with the exit status code.
func status(code int) error {
	if code == headless.ExitDone {
		return nil
	}
	return exitError(code)
}

// show prints text: sanitized on a terminal, unchanged to a file or a pipe.
func show(p Process, text string) error {
	if isTerminal(p.Stdout) {
		text = sanitize.Text(text)
	}
	_, err := p.Stdout.WriteString(text)
	return err
}

// showLine prints one line of a list, sanitized wherever it goes: a line break in a name
// cannot begin a line of its own.
func showLine(p Process, line string) error {
	_, err := fmt.Fprintln(p.Stdout, sanitize.Line(line))
	return err
}

// showLines prints the lines of a list.
func showLines(p Process, lines []string) error {
	for _, line := range lines {
		if err := showLine(p, line); err != nil {
			return err
		}
	}
	return nil
}

// remark prints a line on standard error. It may contain text from a server or a file.
func remark(p Process, line string) {
	fmt.Fprintf(p.Stderr, "agent: %s\n", sanitize.Line(line))
}

// remarks prints lines on standard error.
func remarks(p Process, lines []string) {
	for _, line := range lines {
		remark(p, line)
	}
}

// loadConfig loads the configuration; a mistake in it is one of usage.
func loadConfig(over config.Overrides) (config.Config, error) {
	cfg, err := config.Load(over)
	if err != nil {
		return cfg, usageError{Err: err}
	}
	return cfg, nil
}

func openArchive() (*archive.Archive, error) {
	cfg, err := loadConfig(nil)
	if err != nil {
		return nil, err
	}
	return archive.New(cfg.Home), nil
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// isDumb reports whether the terminal can only print lines, or is missing.
func isDumb(p Process) bool {
	kind := os.Getenv("TERM")
	return !talks(p) || kind == "dumb" || kind == ""
}

// talks reports whether there is a terminal, and so a person to ask.
func talks(p Process) bool { return isTerminal(p.Stdin) && isTerminal(p.Stdout) }

// watchdog returns the command line that starts this program as its own watchdog; nil
// if it cannot be started.
func watchdog(p Process) []string {
	if p.Self == "" {
		return nil
	}
	return []string{p.Self, p.Name, early.WatchdogArg}
}

// open builds a session.
func (p Process) open(o app.Options) (*app.App, error) {
	o.Version, o.Watchdog = p.Version, watchdog(p)
	return app.New(o)
}
