package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/idelink"
	"github.com/bb2d0cf4/agent/internal/cli/commands"

	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/usercommands"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/regular"
	"github.com/bb2d0cf4/agent/internal/repl"
)

// maxStdin is the size in bytes of the largest standard input that is appended
// to a prompt.
const maxStdin = 8 << 20

// start opens a session, or answers one prompt.
func start(ctx context.Context, p Process, f *flags, over config.Overrides, args []string) error {
	prompt, err := f.check(args)
	if err != nil {
		return err
	}
	cfg, err := settle(ctx, p, f, over, !f.prompted && talks(p))
	if err != nil {
		return err
	}
	if !f.prompted {
		if cfg, err = introduce(ctx, p, f, over, cfg); err != nil {
			return err
		}
		cfg.notes = f.noted(cfg.notes)
		return interact(ctx, p, f, cfg, prompt)
	}
	cfg.notes = f.noted(cfg.notes)
	for _, note := range cfg.notes {
		remark(p, note)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	if prompt, err = expand(ctx, p, f, cfg, prompt); err != nil {
		return err
	}
	if prompt, err = withStdin(ctx, p, prompt); err != nil {
		return err
	}
	return answer(ctx, p, f, cfg.Config, prompt)
}

// expand puts the text of a command that people have written in the place of its name.
func expand(ctx context.Context, p Process, f *flags, set setup, prompt string) (string, error) {
	if !strings.HasPrefix(prompt, "/") {
		return prompt, nil
	}
	o := opening{flags: f, cfg: set.Config, projects: set.commands}
	slash := newSlash(p, &o)
	for _, note := range o.notes {
		remark(p, note)
	}
	text, err := usercommands.InPlace(ctx, prompt, o.own, append(repl.OwnCommands(), slash.List()...))
	if err != nil {
		return "", usageError{err}
	}
	return text, nil
}

// loadConfig makes a mistake in the configuration one of usage.
func loadConfig(over config.Overrides) (config.Config, error) {
	cfg, err := config.Load(over)
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

// answer runs one prompt without asking anybody.
func answer(ctx context.Context, p Process, f *flags, cfg config.Config, prompt string) error {
	model, notes, err := choose(ctx, cfg)
	if err != nil {
		return err
	}
	for _, note := range notes {
		remark(p, note)
	}
	st, err := openStore(cfg, f, model.Ref)
	if err != nil {
		return err
	}
	if st.Note != "" {
		remark(p, st.Note)
	}
	face := headless.New(headless.Options{
		Format: headless.Format(f.format), SessionID: st.Store.ID(),
		Stdout: p.Stdout, Stderr: p.Stderr, StdoutTTY: isTerminal(p.Stdout), StderrTTY: isTerminal(p.Stderr),
	})
	with := app.Face{Emit: face.Emit, Watchdog: watchdog(p)}
	if f.ide {
		with.Link = &idelink.Options{Version: p.Version, Alone: true}
	}
	a, err := wire(cfg, f, st, model, with)
	if err != nil {
		return errors.Join(err, st.Store.Close())
	}
	if note := commands.Stopped(a.Root); note != "" {
		remark(p, note)
	}
	unlink := a.Link.Start(ctx)
	if warning := a.Link.Wait(ctx); warning != "" {
		remark(p, warning)
	}
	code := face.Run(ctx, a, prompt)
	a.Leave(unlink)
	if err := a.Close(); err != nil {
		return err
	}
	return status(code)
}

// patience is how long standard input may stay silent before the user is told
// that it is waited for: whoever starts programs may leave it open by mistake.
const patience = 3 * time.Second

// withStdin appends what is piped in to the prompt. Waiting for it ends with ctx.
func withStdin(ctx context.Context, p Process, prompt string) (string, error) {
	if p.Stdin == nil || isTerminal(p.Stdin) {
		return needPrompt(prompt)
	}
	if _, err := p.Stdin.Stat(); err != nil {
		return needPrompt(prompt) // a closed standard input is an empty one
	}
	type input struct {
		data []byte
		err  error
	}
	got := make(chan input, 1)
	go func() { // a read that blocks for ever is left behind when the program ends
		defer crash.Guard()
		data, err := regular.ReadAll(p.Stdin, maxStdin)
		got <- input{data, err}
	}()
	silent := time.AfterFunc(patience, crash.Guarded(func() { remark(p, "waiting for standard input to end; </dev/null does without") }))
	defer silent.Stop()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case i := <-got:
		if errors.Is(i.err, regular.ErrTooLarge) {
			return "", usagef("standard input is larger than %d MiB; name the file in the prompt instead", maxStdin>>20)
		}
		if i.err != nil {
			return "", fmt.Errorf("standard input could not be read to its end: %w", i.err)
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(i.data), "\uFFFD"))
		return needPrompt(strings.TrimSpace(prompt + "\n\n" + text))
	}
}

func needPrompt(prompt string) (string, error) {
	if strings.TrimSpace(prompt) == "" {
		return "", usagef("the prompt is empty: give it after -p, or on standard input")
	}
	return prompt, nil
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// workDir is the folder to work in, absolute, symlinks resolved.
func workDir(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", usagef("the folder %s cannot be used: %w", dir, err)
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return "", usagef("%s is not a folder", dir)
	}
	return abs, nil
}

// choose picks the model; not to know which is a mistake of usage. The notes say what
// the user should know of it before it is asked anything.
func choose(ctx context.Context, cfg config.Config) (m config.Model, notes []string, err error) {
	if m, err = provider.Choose(cfg); err != nil {
		return m, nil, usageError{err}
	}
	m, notes = provider.Inspect(ctx, cfg, m)
	return m, notes, nil
}
