package cli

import (
	"context"
	"os"
	"os/exec"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/promptline"
	"github.com/bb2d0cf4/agent/internal/cli/commands"
	"github.com/bb2d0cf4/agent/internal/repl"
)

// screenFace connects the screen to the rest. app and names are set before the
// screen runs.
type screenFace struct {
	app   *app.App
	names *promptline.Names
	slash *commands.Set
}

func (s *screenFace) status() repl.Status {
	info := s.app.Info()
	st := repl.Status{Model: info.Name, Branch: s.app.Prompt.Branch()}
	st.Editor, st.Shows = s.app.Link.Footer(), s.app.Link.Surface().Shows()
	return st
}

func (s *screenFace) external(name, text string) (*exec.Cmd, func() (string, error), error) {
	cfg := s.app.Config
	return home.External(cfg.Home, home.EditorCommand(cfg.Interface.Editor), home.Without(os.Environ(), cfg.SecretEnv()), name, text)
}

// modes is the permission mode as the screen sees it.
type modes struct{ s *screenFace }

func (m modes) Current() string { return m.s.app.Policy.Mode().String() }

func (m modes) Next() string { return m.s.app.Policy.Cycle().String() }

// surfaces are the other places of a question. The link is made after the screen.
type surfaces struct{ s *screenFace }

// Claim takes a question for the terminal.
func (f surfaces) Claim(ctx context.Context, id string) (string, bool) {
	return f.s.app.Link.Surface().Claim(ctx, id)
}

// Release shows it everywhere again.
func (f surfaces) Release(ctx context.Context, id, text string) {
	f.s.app.Link.Surface().Release(ctx, id, text)
}

// Show brings it to the editor's screen.
func (f surfaces) Show(ctx context.Context, id string) error {
	return f.s.app.Link.Surface().Show(ctx, id)
}

// pictures are the images of the prompt.
type pictures struct{ s *screenFace }

// Attach is about an image in a file.
func (f pictures) Attach(path string) (string, bool) { return f.s.app.Said.Images.Attach(path) }

// Paste is about the image in the clipboard.
func (f pictures) Paste(ctx context.Context) (string, error) { return f.s.app.Said.Images.Paste(ctx) }
