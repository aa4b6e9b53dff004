// Package doctor looks whether what the agent needs is there and works. It
// guarantees that it changes nothing, and that each finding which is not good
// comes with what it means and what to do about it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// grade is the outcome of a check.
type grade string

const (
	good   grade = "ok"
	weak   grade = "note"   // works, with less
	broken grade = "broken" // something needed does not work
)

// finding is the outcome of one check: what is there, and if that is not good, what it
// means and what to do.
type finding struct {
	grade grade
	text  string
	means string
	fix   string
}

func fine(text string) finding { return finding{grade: good, text: text} }

// Options says what is looked at beside the configuration.
type Options struct {
	Version       string
	Stdin, Stdout *os.File  // of the program
	Out           io.Writer // of the findings
	Width         int       // that they are wrapped to; 0: that of Stdout, if it is a terminal
	Dir           string    // the folder to work in
	// Link says which editor a session would use, or why it would use none.
	Link func(ctx context.Context, cfg config.Config) (text string, linked bool)
}

// Run writes a line for each finding to opt.Out. It returns false if
// something is broken. cfgErr is why cfg could not be loaded, if so.
func Run(ctx context.Context, opt Options, cfg config.Config, cfgErr error) (healthy bool) {
	healthy = true
	if opt.Width == 0 && term.IsTerminal(int(opt.Stdout.Fd())) {
		opt.Width, _, _ = term.GetSize(int(opt.Stdout.Fd())) // 0: it does not tell
		if opt.Out != io.Writer(opt.Stdout) {
			opt.Width = max(0, opt.Width-2) // a session shows what it prints indented
		}
	}
	for _, c := range []struct {
		name string
		run  func() []finding
	}{
		{"version", one(func() finding { return fine(opt.Version + " " + runtime.GOOS + "/" + runtime.GOARCH) })},
		{"config", one(func() finding { return checkConfig(cfg, cfgErr) })},
		{"home", one(func() finding { return checkHome(cfg.Home) })},
		{"shortcuts", one(func() finding { return checkKeys(cfg.Home) })},
		{"API keys", one(func() finding { return checkSecrets(cfg.Home) })},
		{"project", one(func() finding { return checkProject(opt.Dir, cfg.Home) })},
		{"model", func() []finding { return checkModel(ctx, cfg, cfgErr) }},
		{"terminal", one(func() finding { return checkTerminal(opt) })},
		{"shell", one(func() finding {
			return checkProgram("bash", "commands are run with sh, which knows less", "install bash")
		})},
		{"search", one(func() finding {
			return checkProgram("rg", "the built-in search is used, which is slower", "install ripgrep")
		})},
		{"editor", one(func() finding { return checkEditor(cfg) })},
		{"IDE link", one(func() finding { return checkLink(ctx, opt, cfg) })},
	} {
		for _, got := range c.run() {
			opt.show(c.name, got)
			healthy = healthy && got.grade != broken
		}
	}
	return healthy
}

func one(check func() finding) func() []finding {
	return func() []finding { return []finding{check()} }
}

// narrow is the width of a terminal below which a finding has a line of its own for
// what it is about.
const narrow = 60

// show writes a finding.
func (o Options) show(name string, f finding) {
	head := fmt.Sprintf("%-7s %-9s ", f.grade, name)
	rest := strings.Repeat(" ", len(head))
	if o.Width > 0 && o.Width < narrow {
		fmt.Fprintln(o.Out, string(f.grade)+" "+name)
		head, rest = "  ", "  "
	}
	o.wrap(head, rest, f.text)
	o.wrap(rest, rest, f.means)
	o.wrap(rest+"→ ", rest+"  ", f.fix)
}

// wrap writes a text behind first, and its further lines behind rest.
func (o Options) wrap(first, rest, text string) {
	if text = sanitize.Line(text); text == "" {
		return
	}
	lines := []string{text}
	if o.Width > 0 {
		lines = theme.Wrap(text, "", max(10, o.Width-1-utf8.RuneCountInString(rest)))
	}
	for i, l := range lines {
		if i > 0 {
			first = rest
		}
		fmt.Fprintln(o.Out, first+l)
	}
}

// checkLink says which editor edits are reviewed in.
func checkLink(ctx context.Context, opt Options, cfg config.Config) finding {
	text, linked := opt.Link(ctx, cfg)
	if linked {
		return fine(text)
	}
	return finding{weak, text, "edits are reviewed in the terminal alone", "agent ide doctor looks at each step"}
}

func checkConfig(cfg config.Config, err error) finding {
	if err != nil {
		return finding{broken, err.Error(), "nothing runs until it can be read", "correct the file, or: agent config set KEY VALUE"}
	}
	if len(cfg.Notes) > 0 {
		return finding{weak, strings.Join(cfg.Notes, "\n"), "the old name will mean something else one day", "rename it"}
	}
	if _, err := os.Stat(cfg.File); errors.Is(err, fs.ErrNotExist) {
		return fine("defaults; there is no " + cfg.File)
	}
	return fine(cfg.File)
}

// checkKeys looks whether the user's own keys can be read.
func checkKeys(home string) finding {
	file := filepath.Join(home, keys.File)
	if _, err := keys.Load(file); err != nil {
		return finding{weak, err.Error(), "that part of your keys is not used", "correct the file; /keys and docs/commands.md name the actions"}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fine("as documented; there is no " + file)
	}
	return fine(file)
}

// checkSecrets looks where the keys lie that were pasted, and whether others can read
// them.
func checkSecrets(home string) finding {
	file := filepath.Join(home, keystore.File)
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("no key was pasted")
	case err != nil:
		return finding{broken, err.Error(), "keys that were pasted cannot be used", "delete " + file + " and enter the keys again: agent config model"}
	case runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0:
		return finding{broken, fmt.Sprintf("%s can be read by others (mode %o)", file, st.Mode().Perm()), "whoever uses this machine may have your keys", "chmod 600 " + file + ", and make new keys"}
	}
	n, err := keystore.Open(home).Count()
	if err != nil {
		return finding{broken, err.Error(), "keys that were pasted cannot be used", "agent config model asks for them again"}
	}
	return fine(fmt.Sprintf("%d pasted, kept by %s", n, file))
}

// checkProject looks whether the files of a project that would set up the agent are
// used.
func checkProject(dir, home string) finding {
	found, err := trust.Look(dir, home)
	if err != nil {
		return finding{weak, err.Error(), "nothing of the project's .agent folder is used", "correct it, or take it away"}
	}
	if found.Empty() {
		return fine("sets nothing up")
	}
	answer, err := trust.Open(home).Of(found)
	const allow = "read them, then: agent trust add"
	switch {
	case err != nil:
		return finding{broken, err.Error(), "nothing of the project's .agent folder is used", "agent trust add"}
	case answer == trust.Trusted:
		return fine("its files in .agent are trusted")
	case answer == trust.Changed:
		return finding{weak, "its files in .agent have changed since you trusted them", "they are not used", allow}
	}
	return finding{weak, "its files in .agent are not trusted", "they are not used", allow}
}

// checkHome looks whether the agent's own folder is private and can be written.
func checkHome(dir string) finding {
	const lost = "no session, undo or key can be kept"
	if dir == "" {
		var err error
		if dir, err = config.Home(); err != nil {
			return finding{broken, err.Error(), lost, "set AGENT_HOME to a folder of yours"}
		}
	}
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fine(dir + " will be made")
	}
	if err != nil || !st.IsDir() {
		return finding{broken, dir + " is not a folder that can be used", lost, "set AGENT_HOME to another one"}
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return finding{broken, fmt.Sprintf("%s can be read by others (mode %o)", dir, st.Mode().Perm()), "they may read your conversations, and what your files held", "chmod 700 " + dir}
	}
	probe := filepath.Join(dir, ".probe")
	if err := errors.Join(statefile.Write(probe, nil), statefile.Remove(probe)); err != nil {
		return finding{broken, fmt.Sprintf("%s cannot be written: %v", dir, err), lost, "set AGENT_HOME to another folder"}
	}
	return fine(dir)
}

func checkTerminal(p Options) finding {
	if !term.IsTerminal(int(p.Stdin.Fd())) || !term.IsTerminal(int(p.Stdout.Fd())) {
		return finding{weak, "standard input or output is no terminal", "nobody can be asked, so that agent -p denies what needs a yes", "--permission-mode says what is done without one"}
	}
	kind := os.Getenv("TERM")
	if kind == "" || kind == "dumb" {
		return finding{weak, "TERM=" + kind, "plain lines are used: no colours, no panels", "set TERM to what your terminal is"}
	}
	w, h, err := term.GetSize(int(p.Stdout.Fd()))
	if err != nil {
		return finding{weak, kind + ": it does not tell its size", "80 columns are assumed", "stty cols 100 rows 30"}
	}
	return fine(fmt.Sprintf("%s, %d×%d", kind, w, h))
}

func checkProgram(name, means, fix string) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding{weak, name + " cannot be found", means, fix}
	}
	return fine(path)
}

func checkEditor(cfg config.Config) finding {
	argv := home.EditorCommand(cfg.Interface.Editor)
	return checkProgram(argv[0], "neither a proposal (e) nor a prompt (Ctrl+G) can be edited", "set EDITOR, or: agent config set editor NAME")
}
