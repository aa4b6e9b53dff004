package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// sessions are the commands about sessions.
type sessions struct{ *Set }

func (s sessions) list() []command.Command {
	return []command.Command{
		{Name: "sessions", Help: "list the sessions of this folder", Group: command.Sessions, Run: s.show},
		{Name: "resume", Args: "[id]", Help: "continue another session", Group: command.Sessions, Idle: true, Run: s.resume},
		{Name: "clear", Help: "start a new session", Group: command.Sessions, Idle: true, Run: s.renew},
		{Name: "fork", Args: "[title]", Help: "continue in a copy of this session", Group: command.Sessions, Idle: true, Run: s.fork},
		{Name: "rename", Args: "title", Help: "give this session a title", Group: command.Sessions, Idle: true, Run: s.rename},
		{Name: "export", Args: "[file.md|.json|.html]", Help: "write the conversation as Markdown, JSON or one HTML page", Group: command.Sessions, Run: s.export},
	}
}

// choices returns the sessions of this folder except the one in use.
func (s sessions) choices() ([]command.Choice, error) {
	infos, err := s.App.Archive.List(s.App.Dir)
	var all []command.Choice
	for _, i := range infos {
		if i.ID == s.App.Current().ID() {
			continue
		}
		prompts := ""
		switch i.Prompts {
		case 0: // none, or unknown
		case 1:
			prompts = "1 prompt"
		default:
			prompts = strconv.Itoa(i.Prompts) + " prompts"
		}
		all = append(all, command.Choice{
			ID: i.ID, Title: orUntitled(i.Title), Cells: []string{ago(time.Since(i.Updated), i.Updated), prompts, i.Branch, inUse(i)},
			Preview: func() string { return s.preview(i.ID) },
		})
	}
	return all, err
}

// inUse marks a session that another process has open.
func inUse(i archive.Info) string {
	if i.Open {
		return "open elsewhere"
	}
	return ""
}

// preview returns the end of a session, a line for each message.
func (s sessions) preview(id string) string {
	messages, err := s.App.Archive.Preview(id)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, m := range messages[max(0, len(messages)-previewed):] {
		who := "model: "
		if m.Role == llm.User {
			who = "you: "
			if m.UserText() == "" {
				continue
			}
		}
		b.WriteString(who + archive.Clip(m.UserText(), 200) + "\n")
	}
	return b.String()
}

// previewed is how many messages a preview shows.
const previewed = 6

func orUntitled(title string) string {
	if title == "" {
		return "(no title)"
	}
	return title
}

func (s sessions) show(context.Context, string) (command.Reply, error) {
	infos, err := s.App.Archive.List(s.App.Dir)
	if err != nil {
		return command.Reply{}, err
	}
	if len(infos) == 0 {
		return command.Reply{Text: "There are no sessions of this folder yet."}, nil
	}
	var rows [][]string
	for _, i := range infos {
		mark := " "
		if i.ID == s.App.Current().ID() {
			mark = "*" // the one in use
		}
		rows = append(rows, []string{mark + " " + i.ID, ago(time.Since(i.Updated), i.Updated), clip.Line(orUntitled(i.Title))})
	}
	return command.Reply{Text: strings.Join(theme.Table(rows), "\n")}, nil
}

// fork continues in a copy of this session.
func (s sessions) fork(_ context.Context, title string) (command.Reply, error) {
	old := s.App.Current()
	if err := old.Sync(); err != nil {
		return command.Reply{}, err
	}
	store, err := s.App.Archive.Fork(old.ID(), title)
	if errors.Is(err, archive.ErrNoSession) {
		return command.Reply{}, errors.New("there is nothing to fork yet: this session is empty")
	}
	if err != nil {
		return command.Reply{}, err
	}
	if err := s.App.Use(store); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: fmt.Sprintf("This is now a fork, session %s. /resume %s returns to the original, which is unchanged. "+
		"Files are not copied; /undo reverses changes of the fork.", store.ID(), old.ID())}, nil
}

// rename gives the session a title.
func (s sessions) rename(_ context.Context, title string) (command.Reply, error) {
	if strings.TrimSpace(title) == "" {
		return command.Reply{}, errors.New("/rename TITLE gives this session a title")
	}
	store := s.App.Current()
	if err := store.Rename(title); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: "Session renamed: " + store.Info().Title}, nil
}

// resume continues another session, by id or by choice.
func (s sessions) resume(ctx context.Context, id string) (command.Reply, error) {
	if id != "" {
		return s.open(ctx, id)
	}
	items, err := s.choices()
	if err != nil {
		return command.Reply{}, err
	}
	if len(items) == 0 {
		return command.Reply{}, errors.New("there is no other session of this folder to choose")
	}
	texts := func(ctx context.Context) []string { return s.texts(ctx, items) }
	return command.Reply{Pick: &command.Pick{Title: "Choose a session", Items: items, Choose: s.open, Texts: texts}}, nil
}

// texts returns the texts of the sessions to choose from, for the filter. If they cannot
// be read, it finds titles only.
func (s sessions) texts(ctx context.Context, items []command.Choice) []string {
	texts, err := s.App.Archive.Texts(ctx, s.App.Dir)
	if err != nil {
		return nil
	}
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = texts[it.ID]
	}
	return out
}

func (s sessions) open(_ context.Context, id string) (command.Reply, error) {
	store, err := s.App.Archive.Open(id)
	if err != nil {
		return command.Reply{}, SessionError(id, err)
	}
	return s.use(store, "")
}

func (s sessions) renew(context.Context, string) (command.Reply, error) {
	store := s.App.Archive.Create(s.App.Dir, s.App.Info().Name)
	return s.use(store, "Started a new session. /resume returns to the previous one.")
}

func (s sessions) use(store *archive.Store, text string) (command.Reply, error) {
	if err := s.App.Use(store); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Session: s.App, Text: text}, nil
}

// export writes the conversation to a file in the project. The user named it, so a new
// file is written without asking; an existing one is replaced only after the change was
// shown. Like every change it can be undone.
func (s sessions) export(ctx context.Context, path string) (command.Reply, error) {
	info, conv, err := s.App.Archive.Read(s.App.Current().ID())
	if errors.Is(err, archive.ErrNoSession) {
		return command.Reply{Text: "there is nothing to export yet"}, nil
	}
	if err != nil {
		return command.Reply{}, err
	}
	if path == "" {
		path = "session-" + info.ID + ".md"
	}
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{"", ".md", ".markdown", ".txt", ".json", ".html", ".htm"}, ext) {
		return command.Reply{}, fmt.Errorf("/export writes Markdown, JSON or HTML, not %s: name the file .md, .json or .html", ext)
	}
	var b strings.Builder
	format := archive.Export
	switch ext {
	case ".json":
		format = archive.ExportJSON
	case ".html", ".htm":
		format = archive.ExportHTML
	}
	if err := format(&b, info, conv); err != nil {
		return command.Reply{}, err
	}
	return s.write(ctx, path, b.String(), workspace.Origin{Session: info.ID, Turn: "export", Tool: undo.ExportTool})
}

func (s sessions) write(ctx context.Context, path, text string, by workspace.Origin) (command.Reply, error) {
	change, err := s.App.Root.Propose(path, func(workspace.File) (string, error) { return text, nil })
	if err != nil {
		return command.Reply{}, err
	}
	if change.Exists {
		v, err := s.App.Questions.AskPerson(ctx, confirm.Request{Tool: by.Tool, Subject: confirm.Edit(change), Force: true})
		if err != nil {
			return command.Reply{}, err
		}
		if v.Decision != confirm.Approve {
			return command.Reply{Text: "nothing was written"}, nil
		}
		change = confirm.Edit(change).Final(v)[0]
	}
	if _, err := s.App.Root.Commit(ctx, workspace.AllOrNone, by, change); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: "written to " + change.Name}, nil
}

// SessionError explains an error of opening the session id.
func SessionError(id string, err error) error {
	if errors.Is(err, archive.ErrNoSession) {
		return fmt.Errorf("no session %s; agent sessions list shows all", id)
	}
	return err
}
