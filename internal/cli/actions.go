package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/cli/fileindex"
	"github.com/bb2d0cf4/agent/internal/cli/home"
	"github.com/bb2d0cf4/agent/internal/cli/printed"
	"github.com/bb2d0cf4/agent/internal/cli/settings"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// screenFace connects the screen to the rest. app and files are set before the
// screen runs.
type screenFace struct {
	app     *app
	files   *fileindex.Index
	changes *printed.Changes
}

func (s *screenFace) status() repl.Status {
	info := s.app.info()
	st := repl.Status{Model: info.Name, Branch: s.app.prompt.Branch(), ContextWindow: info.ContextWindow}
	st.Editor = s.app.link.Footer()
	return st
}

func (s *screenFace) external(name, text string) (*exec.Cmd, func() (string, error), error) {
	cfg := s.app.cfg
	return home.External(cfg.Home, home.EditorCommand(cfg.Interface.Editor), withoutSecrets(os.Environ(), cfg.SecretEnv()), name, text)
}

// modes is the permission mode as the screen sees it.
type modes struct{ s *screenFace }

func (m modes) Current() string { return m.s.app.policy.Mode().String() }

func (m modes) Next() string { return m.s.app.policy.Cycle().String() }

func (m modes) Set(name string) error {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return err
	}
	return m.s.app.policy.SetMode(mode)
}

// actions are what the slash commands do. ctx ends with the program.
func (s *screenFace) actions() repl.Actions {
	return repl.Actions{
		Undo: s.undo, Diff: s.diff,
		Export:   s.export,
		Context:  s.context,
		Config:   func(context.Context, string) (string, error) { return settings.Describe(s.app.cfg), nil },
		Models:   s.models,
		SetModel: func(name string) error { return s.app.setModel(name) },
		IDE:      func(ctx context.Context, args string) (string, error) { return s.app.link.Command(ctx, args) }, Editors: s.editors,
		Sessions: s.sessions, Resume: s.resume, Clear: s.clear,
	}
}

// undo takes back the last change or, with "turn", those of the last turn. Each
// file is shown first, and the answer is the verdict: in every mode.
func (s *screenFace) undo(ctx context.Context, args string) (string, error) {
	if args != "" && args != "turn" {
		return "", errors.New("/undo takes back the last change, /undo turn those of the last turn")
	}
	plan, err := undo.Find(ctx, s.app.root, undo.Scope{What: scopeOf(args == "turn")})
	if err == nil {
		err = plan.Err()
	}
	if err != nil {
		return "", undoError(err)
	}
	for i, c := range plan.Changes {
		v, err := s.app.asked.Ask(ctx, confirm.Request{
			Tool: "undo", Change: &c, Force: true, Batch: confirm.Batch{Index: i, Total: len(plan.Changes)},
		})
		if err != nil {
			return "", err
		}
		if v.Decision != confirm.Approve || v.Text != nil && *v.Text != c.After {
			return "nothing was undone", nil
		}
	}
	if err := plan.Do(ctx); err != nil {
		return "", err
	}
	return "undone: " + strings.Join(planNames(plan), ", "), nil
}

func (s *screenFace) diff(context.Context, string) (string, error) {
	if text := s.changes.Text(); text != "" {
		return text, nil
	}
	return "this session has changed nothing yet", nil
}

// export writes the conversation into the project. The user named the file, so
// nobody is asked about a new one; what is there already is replaced only after
// it was shown. Like every change it can be undone.
func (s *screenFace) export(ctx context.Context, path string) (string, error) {
	info, conv, err := s.app.archive.Read(s.app.current().ID())
	if errors.Is(err, session.ErrNoSession) {
		return "there is nothing to export yet", nil
	}
	if err != nil {
		return "", err
	}
	if path == "" {
		path = "session-" + info.ID + ".md"
	}
	var b strings.Builder
	if err := session.Export(&b, info, conv.Messages()); err != nil {
		return "", err
	}
	return s.app.writeExport(ctx, path, b.String(), workspace.Origin{Session: info.ID, Turn: "export", Tool: undo.ExportTool})
}

func (a *app) writeExport(ctx context.Context, path, text string, by workspace.Origin) (string, error) {
	change, err := a.root.Propose(path, func(workspace.File) (string, error) { return text, nil })
	if err != nil {
		return "", err
	}
	if change.Exists {
		v, err := a.asked.Ask(ctx, confirm.Request{Tool: by.Tool, Change: &change, Force: true})
		if err != nil {
			return "", err
		}
		if v.Decision != confirm.Approve {
			return "nothing was written", nil
		}
		if v.Text != nil {
			change = workspace.NewContent(change, *v.Text)
		}
	}
	file, err := a.root.Commit(ctx, change, by)
	if err != nil {
		return "", err
	}
	return "written to " + file.Name, nil
}

func (s *screenFace) models(ctx context.Context) ([]repl.Choice, error) {
	names, err := s.app.models(ctx)
	var all []repl.Choice
	for _, n := range names {
		all = append(all, repl.Choice{ID: n, Title: n})
	}
	return all, err
}

func (s *screenFace) sessions() ([]repl.Choice, error) {
	infos, err := s.app.archive.List(s.app.dir)
	var all []repl.Choice
	for _, i := range infos {
		all = append(all, repl.Choice{ID: i.ID, Title: i.Title, Detail: i.Updated.Local().Format(time.DateTime)})
	}
	return all, err
}

func (s *screenFace) resume(_ context.Context, id string) (repl.Session, error) {
	store, err := s.app.archive.Open(id)
	if err != nil {
		return nil, sessionError(id, err)
	}
	return s.use(store)
}

func (s *screenFace) clear() (repl.Session, error) {
	return s.use(s.app.archive.Create(s.app.dir, s.app.info().Name))
}

func (s *screenFace) use(store *session.Store) (repl.Session, error) {
	if err := s.app.use(store); err != nil {
		return nil, err
	}
	s.changes.Reset()
	return conversation{s.app}, nil
}

// withoutSecrets returns env less the variables that hold keys.
func withoutSecrets(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
