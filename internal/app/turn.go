package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/attachments"
	"github.com/bb2d0cf4/agent/internal/app/clipboard"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/languages"
	"github.com/bb2d0cf4/agent/internal/check"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// serversTime is how long a prompt waits for MCP servers that start.
const serversTime = 10 * time.Second

// Run answers a prompt, once the editor is linked and the MCP servers have started, or
// failed to, unless a hook blocks it.
func (a *App) Run(ctx context.Context, prompt string) error {
	wait, cancel := context.WithTimeout(ctx, serversTime)
	defer cancel()
	a.Editor.Settle(wait)
	a.Servers.Settle(wait)
	a.hooked.settled(ctx)
	a.hooked.run.Arm()
	if err := a.hooked.prompt(ctx, prompt); err != nil {
		stop := session.StopFailed
		if ctx.Err() != nil {
			stop = session.StopCancelled
		}
		a.emit(session.TurnStarted{Prompt: prompt})
		a.emit(session.TurnEnded{Err: err, Stop: stop})
		return err
	}
	return a.Loop.Run(ctx, prompt)
}

// message turns a prompt into a message for the model: first the user's own changes
// since the last prompt, then the prompt, then the images, the resources of MCP servers, the files and the
// parts of the editor's state that it names.
func (a *App) message(ctx context.Context, prompt string) llm.Message {
	m := llm.Message{Role: llm.User}
	a.guidance.tell(a.Context.Instructions())
	if remarks := a.Remarks.Take(); remarks != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: remarks, Aside: true})
	}
	if news := a.Context.News(); news != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: "[" + news + "]\n\n", Aside: true})
	}
	if news := a.modeNews.take(); news != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: news + "\n\n", Aside: true})
	}
	if texts := a.hooked.take(); texts != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: texts, Aside: true})
	}
	if ran := a.lines.Take(); ran != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: ran, Aside: true})
	}
	m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: strings.ToValidUTF8(prompt, "\uFFFD")})
	m.Parts = append(m.Parts, a.answer.begin()...)
	m.Parts = append(m.Parts, a.Images.Parts(prompt)...)
	m.Parts = append(m.Parts, a.Resources.Parts(ctx, prompt)...)
	m.Parts = append(m.Parts, attachments.Files{Exists: a.isFile, Tell: a.Images.Tell}.Parts(ctx, a.Resources.Typed(prompt), a.tools)...)
	more := a.Editor.Expand(ctx, prompt, a.tools)
	if news := a.Context.EditorNews(ctx); news != "" {
		more += "\n\n" + news
	}
	if more != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: strings.ToValidUTF8(more, "\uFFFD"), Aside: true})
	}
	return m
}

// isFile reports whether path is a regular file, also outside of the workspace.
func (a *App) isFile(path string) bool {
	abs, _, err := a.Root.Resolve(path)
	if err != nil && !errors.Is(err, workspace.ErrOutside) {
		return false
	}
	info, err := os.Stat(abs)
	return err == nil && info.Mode().IsRegular()
}

// newCheck returns the runner of checks, which run with env. If the folder is untrusted, it
// runs nothing.
func (a *App) newCheck(env []string, untrusted bool) *check.Runner {
	command := a.Config.Check
	if untrusted {
		command = check.Off
	}
	o := check.Options{
		Command: command, First: a.Config.CheckFirst, Roots: a.Root.Roots(), Env: a.Config.Programs().Environ(env), Jobs: a.jobs, Sandbox: a.checkSandbox,
	}
	if a.languages != nil {
		o.Servers = a.languages
	}
	return check.New(o)
}

// reports are those of a linked editor or, without one, of the language servers that run.
type reports struct {
	*ide.View
	servers *langserver.Servers
}

func (r reports) Report(ctx context.Context, path string, wait time.Duration) (found []editor.Diagnostic, known bool, err error) {
	found, known, err = r.View.Report(ctx, path, wait)
	if errors.Is(err, editor.ErrNone) && r.servers.Tries(path) != "" {
		found, known = r.servers.Report(ctx, path, wait)
		return found, known, nil
	}
	return found, known, err
}

// newLanguages returns the language servers of the machine; nil if the model asks none.
func (a *App) newLanguages(env []string, untrusted bool) *langserver.Servers {
	if a.Config.LanguageServers.Mode == "off" {
		return nil
	}
	o := languages.Options(a.Config, a.Root.Roots())
	o.Untrusted, o.Env, o.Start, o.Editor = untrusted, env, a.startServer, a.Editor.View
	o.Confined = func(ctx context.Context) bool { return a.trials != nil && a.trials.Missing(ctx) == "" }
	return langserver.New(o)
}

// startServer starts a language server in a room, where this system can and trials are wanted.
func (a *App) startServer(ctx context.Context, cmd *exec.Cmd, confined bool) (ended func(), err error) {
	if !confined && a.Config.Trial != "required" {
		return a.jobs.StartProgram(cmd)
	}
	in, err := a.trials.room(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return a.jobs.StartProgramIn(cmd, in)
}

// emit shows an event on the face; the editor shows whether the model is working.
func (a *App) emit(ev session.Event) {
	if _, ok := ev.(session.Filled); ok { // the messages that described the surroundings may be gone
		a.Context.Retell()
		a.modeNews.forget()
	}
	a.Editor.Saw(ev)
	a.face.Emit(ev)
}

// queued returns the prompts that were typed during the turn, without those that a hook
// blocks.
func (a *App) queued(ctx context.Context) (list []string) {
	for _, prompt := range a.face.Queued() {
		if err := a.hooked.prompt(ctx, prompt); err != nil {
			a.emit(session.Notice{Text: "A queued message is left out: " + err.Error()})
			continue
		}
		list = append(list, prompt)
	}
	return list
}

// Clipboard returns the programs of the clipboard, which run in env.
func (a *App) Clipboard(env []string) clipboard.Programs {
	return clipboard.Programs{Search: a.Config.Programs(), Env: env}
}

// newImages returns the images that the user attaches; env is the environment of the
// program that reads the clipboard.
func (a *App) newImages(env []string) *attachments.Images {
	return &attachments.Images{
		Dir:  a.Root.Dir(),
		Tell: func(note string) { a.emit(session.Notice{Text: note}) },
		Clip: func(ctx context.Context, limit int) ([]byte, error) { return a.Clipboard(env).Image(ctx, limit) },
		Takes: func() (string, bool) {
			info := a.Info()
			return info.Name, info.Images
		},
	}
}

// newLines returns the runner of the user's own command lines, with env.
func (a *App) newLines(env []string) *attachments.Lines {
	return &attachments.Lines{
		Jobs: a.jobs, Emit: a.emit,
		Options: func() shell.Options { return shell.Options{Dir: a.Root.Dir(), Env: env, SpillDir: a.spillDir()} },
		Ran: func(line, result string) {
			a.Loop.RecordDeed(history.Deed{What: "Run " + line, Result: result + ", run by the user"})
		},
		Watch: a.watch,
	}
}

// watch records the changes while a line of the user runs.
func (a *App) watch(ctx context.Context, line string) (ended func(*tools.Result), moved func()) {
	run, err := a.effects.Start(ctx, effects.Command{
		Line: line, Origin: workspace.Origin{Session: a.Current().ID(), Tool: session.Typed},
	})
	return func(res *tools.Result) {
		report := run.End(ctx)
		if err != nil {
			report.Err = err
		}
		res.Effects(report)
	}, run.Moved
}

// Shell runs a command line that the user typed. No turn may be running.
func (a *App) Shell(ctx context.Context, line string) error { return a.lines.Run(ctx, line) }

// External returns the command that opens a text in the user's own editor, without our keys in its
// environment, and the function that then returns the saved text.
func (a *App) External(name, text string) (*exec.Cmd, func() (string, error), error) {
	cfg := a.Config
	return home.External(cfg.Home, cfg.Programs(), home.EditorCommand(cfg.Interface.Editor), home.Without(os.Environ(), cfg.SecretEnv()), name, text)
}
