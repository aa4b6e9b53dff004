package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/app/home"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Messages returns the messages of the conversation so far.
func (a *App) Messages() []llm.Message { return a.Loop.Messages() }

// Items returns the conversation so far. It does not change later.
func (a *App) Items() []history.Item { return a.Loop.Items() }

// Describe describes a call in one short line and with all of its text, at any time.
func (a *App) Describe(c llm.ToolCall) (line, whole string) { return a.Loop.Describe(c) }

// Current returns the session in use.
func (a *App) Current() *archive.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.store
}

// Use continues another session, without the grants of the one before. No turn may be
// running. It owns store, which it closes if it fails.
func (a *App) Use(store *archive.Store) error {
	if err := a.Loop.Use(store); err != nil {
		return errors.Join(fmt.Errorf("leave the session: %w", err), store.Close())
	}
	source := a.source()
	if source == "startup" {
		source = "clear"
	}
	a.hooked.end(source) // of the session before
	a.Context.Renew()
	a.recallStart(store)
	a.Remarks.Take() // they belong to the session before
	a.lines.Take()
	a.recall()
	a.mu.Lock()
	a.now.store, a.now.system = store, ""
	a.recallEfforts(store.Conversation())
	a.mu.Unlock()
	a.Policy.Forget()
	err := a.Root.Outside().Forget()
	a.allowOwn()
	a.Editor.Use(store.ID())
	a.hooked.begin(source)
	return err
}

// source returns the way in which the session in use began, as hooks know it.
func (a *App) source() string {
	if len(a.Loop.Items()) > 0 {
		return "resume"
	}
	return "startup"
}

// system returns the system prompt, and saves its description of the session's beginning.
func (a *App) system(ctx context.Context) string {
	prompt := a.Context.System(ctx)
	a.mu.Lock()
	a.now.system = prompt
	a.mu.Unlock()
	if now := archive.Start(a.Context.Start()); now != a.start {
		a.start = now
		_ = a.Current().Start(now) // the store writes it with the next record, which reports an error
	}
	return prompt
}

// recallStart lets the system prompt describe the beginning of a saved session, so that
// providers find its conversation in their caches.
func (a *App) recallStart(store *archive.Store) {
	a.start = store.Conversation().Start
	if a.start != (archive.Start{}) {
		a.Context.Resume(modelcontext.Start(a.start))
	}
}

// recall adds the user's own changes since the newest message of the session to the
// next prompt.
func (a *App) recall() {
	for _, did := range a.Loop.UnsentDeeds() {
		a.Remarks.Add("Since then, without you: " + did)
	}
}

// keep writes text that a compaction left out to a file that the model can read.
func (a *App) keep(session, text string) (path string, err error) {
	return a.keepAs(session, "whole.md", text)
}

func (a *App) keepAs(session, name, text string) (path string, err error) {
	path = filepath.Join(home.SpillDir(a.Config.Home, session), name)
	return path, statefile.Write(path, []byte(text))
}

// spillDir returns the folder for the long outputs of the session in use.
func (a *App) spillDir() string { return home.SpillDir(a.Config.Home, a.Current().ID()) }

// allowOwn lets the model read the long outputs of the session in use, and the folders of
// the user's skills.
func (a *App) allowOwn() {
	if abs, _, _ := a.Root.Resolve(a.spillDir()); abs != "" {
		a.Root.Outside().AllowOwn(abs)
	}
	for _, s := range a.skills {
		if !s.Project {
			a.Root.Outside().AllowOwn(s.Dir)
		}
	}
}
