// Package doctor checks whether everything that the agent needs is there and works. It
// guarantees that it changes nothing, and that each finding that is not good explains
// the consequence and the remedy.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/skills"
	"github.com/bb2d0cf4/agent/internal/app/sources"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// grade is the result of a check.
type grade string

const (
	good   grade = "ok"
	weak   grade = "note"   // works, with restrictions
	broken grade = "broken" // something necessary does not work
)

// finding is the result of one check. A finding that is not good has its consequence
// and the remedy.
type finding struct {
	grade grade
	text  string
	means string
	fix   string
}

func fine(text string) finding { return finding{grade: good, text: text} }

// Options are what Run needs besides the configuration.
type Options struct {
	Version       string
	Stdin, Stdout *os.File
	Out           io.Writer // where the findings are written
	Width         int       // to wrap at; 0 means that of Stdout if it is a terminal
	Dir           string    // the working folder
	Env           []string  // the environment
	Sources       []sources.Source
	JSON          bool // write one JSON object
	// Link returns the editor that a session would use, or why it would use none.
	Link func(ctx context.Context, cfg config.Config) (text string, linked bool)
}

// Run writes one line for each finding and source to opt.Out. It returns false if
// something is broken. cfgErr is the error of loading cfg, if any.
func Run(ctx context.Context, opt Options, cfg config.Config, cfgErr error) (healthy bool) {
	healthy = true
	all := report{Findings: []reported{}, Sources: append([]sources.Source{}, opt.Sources...)}
	if opt.Width == 0 && term.IsTerminal(int(opt.Stdout.Fd())) {
		opt.Width, _, _ = term.GetSize(int(opt.Stdout.Fd())) // 0 if unknown
		if opt.Out != io.Writer(opt.Stdout) {
			opt.Width = max(0, opt.Width-2) // a session indents its output
		}
	}
	for _, c := range []struct {
		name string
		run  func() []finding
	}{
		{"version", one(func() finding { return fine(opt.Version + " " + runtime.GOOS + "/" + runtime.GOARCH) })},
		{"system", func() []finding { return checkSystem(runtime.GOOS) }},
		{"config", one(func() finding { return checkConfig(cfg, cfgErr) })},
		{"home", one(func() finding { return checkHome(cfg.Home) })},
		{"shortcuts", one(func() finding { return checkKeys(cfg.Home) })},
		{"API keys", one(func() finding { return checkSecrets(cfg.Home) })},
		{"project", one(func() finding { return checkProject(opt.Dir, cfg.Home) })},
		{"skills", func() []finding { return checkSkills(opt, cfg.Home) }},
		{"hooks", func() []finding { return checkHooks(opt.Dir, cfg) }},
		{"model", func() []finding { return checkModel(ctx, cfg, cfgErr) }},
		{"dialects", func() []finding { return checkDialects(cfg.Home) }},
		{"terminal", one(func() finding { return checkTerminal(opt) })},
		{"shell", one(func() finding { return checkShell(cfg, shell.In(opt.Dir)) })},
		{"variables", func() []finding { return append(checkVariables(opt.Env), checkEnvironment(opt.Env, cfg)) }},
		{"sandbox", one(func() finding { return checkSandbox(ctx, cfg) })},
		{"trial", one(func() finding { return checkTrial(ctx, cfg) })},
		{"languages", func() []finding { return checkLanguages(ctx, opt, cfg) }},
		{"search", one(func() finding {
			return checkProgram(cfg, "rg", "the slower built-in search is used", "install ripgrep")
		})},
		{"editor", one(func() finding { return checkEditor(cfg) })},
		{"IDE link", one(func() finding { return checkLink(ctx, opt, cfg) })},
	} {
		for _, got := range c.run() {
			healthy = healthy && got.grade != broken
			if opt.JSON {
				all.Findings = append(all.Findings, reported{c.name, got.grade, got.text, got.means, got.fix})
			} else {
				opt.show(c.name, got)
			}
		}
	}
	if opt.JSON {
		all.Healthy = healthy
		return all.write(opt.Out) == nil && healthy
	}
	for _, s := range opt.Sources {
		opt.show("source", fine(fmt.Sprintf("%s %s, %d bytes, %s", s.Kind, s.Name, s.Bytes, s.From)))
	}
	return healthy
}

// report is the output as JSON.
type report struct {
	Healthy  bool             `json:"healthy"`
	Findings []reported       `json:"findings"`
	Sources  []sources.Source `json:"sources"`
}

// reported is a finding as JSON.
type reported struct {
	Check string `json:"check"`
	Grade grade  `json:"grade"`
	Text  string `json:"text"`
	Means string `json:"means,omitzero"`
	Fix   string `json:"fix,omitzero"`
}

func (r report) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

func one(check func() finding) func() []finding {
	return func() []finding { return []finding{check()} }
}

// narrow is the width below which a finding's name gets a line of its own.
const narrow = 60

// gradeWidth and nameWidth are the columns before the text of a finding.
const gradeWidth, nameWidth = 8, 10

// show writes a finding.
func (o Options) show(name string, f finding) {
	columns, head := []int{gradeWidth, nameWidth}, []string{string(f.grade), name}
	if o.Width > 0 && o.Width < narrow {
		fmt.Fprintln(o.Out, string(f.grade)+" "+name)
		columns, head = []int{2}, []string{""}
	}
	rest := make([]string, len(head))
	o.row(columns, append(head, sanitize.Line(f.text)))
	o.row(columns, append(rest, sanitize.Line(f.means)))
	o.row(append(columns, 2), append(rest, "→", sanitize.Line(f.fix)))
}

// row writes texts side by side, unless the last is missing.
func (o Options) row(columns []int, texts []string) {
	if texts[len(texts)-1] != "" {
		fmt.Fprintln(o.Out, strings.Join(theme.Row(columns, texts, max(0, o.Width-1)), "\n"))
	}
}

// checkLink reports the editor in which edits are reviewed.
func checkLink(ctx context.Context, opt Options, cfg config.Config) finding {
	text, linked := opt.Link(ctx, cfg)
	if linked {
		return fine(text)
	}
	return finding{weak, text, "edits are reviewed in the terminal only", "agent ide doctor checks each step"}
}

func checkConfig(cfg config.Config, err error) finding {
	if err != nil {
		return finding{broken, err.Error(), "the agent cannot start", "correct the file, or: agent config set KEY VALUE"}
	}
	if len(cfg.Notes) > 0 {
		return finding{weak, strings.Join(cfg.Notes, "; "), "the old name will get another meaning", "use the new name"}
	}
	if _, err := os.Stat(cfg.File); errors.Is(err, fs.ErrNotExist) {
		return fine("defaults (no " + cfg.File + ")")
	}
	return fine(cfg.File)
}

// checkKeys checks the user's own key bindings.
func checkKeys(home string) finding {
	file := filepath.Join(home, keys.File)
	if _, err := keys.Load(file); err != nil {
		return finding{weak, strings.ReplaceAll(err.Error(), "\n", "; "), "that part of your keys is not used", "correct the file; /keys lists the actions"}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fine("defaults (no " + file + ")")
	}
	return fine(file)
}

// checkSecrets checks that others cannot read the file of stored keys.
func checkSecrets(home string) finding {
	file := filepath.Join(home, keystore.File)
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("no keys stored")
	case err != nil:
		return finding{broken, err.Error(), "stored keys cannot be used", "delete " + file + " and enter the keys again: agent config model"}
	case runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0:
		return finding{broken, fmt.Sprintf("%s can be read by others (mode %o)", file, st.Mode().Perm()), "other users of this machine may have read your keys", "chmod 600 " + file + ", then replace the keys"}
	}
	keys, logins, err := keystore.Open(home).Count()
	if err != nil {
		return finding{broken, err.Error(), "stored keys cannot be used", "agent config model asks for them again"}
	}
	stored := fmt.Sprintf("%d stored in %s", keys, file)
	if logins > 0 {
		stored += fmt.Sprintf(", with %d logins to MCP servers", logins)
	}
	return fine(stored)
}

// checkProject reports whether a project's own files for the agent are used.
func checkProject(dir, home string) finding {
	found, err := trust.Look(dir, home)
	if err != nil {
		return finding{weak, err.Error(), "the project's .agent folder is ignored", "correct or remove it"}
	}
	if found.Empty() {
		return fine("no project settings")
	}
	answer, err := trust.Open(home).Of(found)
	const allow = "read them, then: agent trust add"
	switch {
	case err != nil:
		return finding{broken, err.Error(), "the project's .agent folder is ignored", "agent trust add"}
	case answer == trust.Trusted:
		return fine("its files in .agent are trusted")
	case answer == trust.Changed:
		return finding{weak, "its files in .agent have changed since you trusted them", "they are not used", allow}
	}
	return finding{weak, "its files in .agent are not trusted", "they are not used", allow}
}

// checkSkills names the skills, and those that cannot be used. It finds nothing without
// any.
func checkSkills(opt Options, home string) (all []finding) {
	list, notes := skills.OfUser(home)
	theirs, more := skills.OfProject(opt.Dir, home)
	list, left := skills.First(append(list, theirs...))
	var used, unused []string
	for _, s := range list {
		if slices.ContainsFunc(opt.Sources, func(o sources.Source) bool {
			return o.Kind == sources.Skill && o.Name == s.FileName() && o.From == sources.Unused
		}) {
			unused = append(unused, s.Name)
		} else {
			used = append(used, s.Name)
		}
	}
	if len(used) > 0 {
		all = append(all, fine(strings.Join(used, ", ")))
	}
	if len(unused) > 0 {
		all = append(all, finding{weak, strings.Join(unused, ", ") + " of the project, not trusted", "neither the model nor you can use them", "read them, then: agent trust add"})
	}
	for _, note := range slices.Concat(notes, more, left) {
		all = append(all, finding{weak, note, "neither the model nor you can use that file", "agent help skills describes the format"})
	}
	return all
}

// checkHooks counts the hooks. It finds nothing without any.
func checkHooks(dir string, cfg config.Config) (all []finding) {
	if n := len(cfg.Hooks); n > 0 {
		all = append(all, fine(fmt.Sprintf("%d in %s", n, cfg.File)))
	}
	theirs, notes := hooks.OfProject(dir, cfg.Home)
	if n := len(theirs.Hooks); n > 0 {
		text := fmt.Sprintf("%d in %s", n, theirs.Name)
		trusted, err := trust.Open(cfg.Home).Approved(theirs.Path(), theirs.Hash)
		switch {
		case err != nil:
			all = append(all, finding{weak, text + ": " + err.Error(), "they are not run", "agent trust add"})
		case trusted:
			all = append(all, fine(text+", trusted"))
		default:
			all = append(all, finding{weak, text + ", their present text not trusted", "they are not run", "read them, then: agent trust add"})
		}
	}
	for _, note := range slices.Concat(notes, hooks.Unmatched(cfg.Hooks), hooks.Unmatched(theirs.Hooks)) {
		all = append(all, finding{weak, note, "it is not run", "agent help hooks describes the format"})
	}
	return all
}

// checkHome checks that the agent's home is private and writable.
func checkHome(dir string) finding {
	const lost = "no session, undo history or key can be saved"
	if dir == "" {
		var err error
		if dir, err = config.Home(); err != nil {
			return finding{broken, err.Error(), lost, "set AGENT_HOME to a folder that you own"}
		}
	}
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fine(dir + " will be created")
	}
	if err != nil || !st.IsDir() {
		return finding{broken, dir + " is not a usable folder", lost, "set AGENT_HOME to another folder"}
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return finding{broken, fmt.Sprintf("%s can be read by others (mode %o)", dir, st.Mode().Perm()), "they can read your conversations and parts of your files", "chmod 700 " + dir}
	}
	probe := filepath.Join(dir, ".probe")
	if err := errors.Join(statefile.Write(probe, nil), statefile.Remove(probe)); err != nil {
		return finding{broken, fmt.Sprintf("%s cannot be written: %v", dir, err), lost, "set AGENT_HOME to another folder"}
	}
	return fine(dir)
}

func checkTerminal(p Options) finding {
	if !term.IsTerminal(int(p.Stdin.Fd())) || !term.IsTerminal(int(p.Stdout.Fd())) {
		return finding{weak, "standard input or output is not a terminal", "the agent cannot ask you: with -p everything that asks is denied", "use agent -p with --permission-mode accept-edits"}
	}
	setKind, setSize := terminalFixes(runtime.GOOS)
	kind := os.Getenv("TERM")
	if kind == "" || kind == "dumb" {
		return finding{weak, "TERM=" + kind, "plain lines are used: no colours, no panels", setKind}
	}
	w, h, err := term.GetSize(int(p.Stdout.Fd()))
	if err != nil {
		return finding{weak, kind + ", size unknown", "80 columns are assumed", setSize}
	}
	return fine(fmt.Sprintf("%s, %d×%d", kind, w, h))
}

func checkShell(cfg config.Config, sh shell.Interpreter) finding {
	if !sh.Posix {
		return finding{weak, sh.Path, "each command asks, as no rule covers a line for it", "install Git for Windows, which has bash"}
	}
	if runtime.GOOS == "windows" {
		return fine(sh.Path)
	}
	return checkProgram(cfg, "bash", "commands run with sh, which has fewer features", "install bash")
}

func checkProgram(cfg config.Config, name, means, fix string) finding {
	path, err := cfg.Programs().Find(name)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return finding{weak, name + " not found", means, fix}
	case err != nil:
		return finding{weak, err.Error(), means, fix}
	}
	return fine(path)
}

func checkEditor(cfg config.Config) finding {
	argv := home.EditorCommand(cfg.Interface.Editor)
	return checkProgram(cfg, argv[0], "neither a proposal (e) nor a prompt (Ctrl+G) can be edited", "set EDITOR, or: agent config set editor NAME")
}
