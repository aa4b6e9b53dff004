package idelink

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Usage is the reply to a /ide that makes no sense.
const Usage = "usage: /ide [status], /ide connect [number or port], /ide disconnect"

// errOff is the reply to /ide if editors are switched off.
var errOff = errors.New("editors are switched off: --no-ide was given, or ide.enabled is false")

// Command runs /ide with args and returns its reply. A text from an editor cannot start
// a line of its own in it.
func (l *Link) Command(ctx context.Context, args string) (string, error) {
	if l.off {
		return "", errOff
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "", "status":
		return Describe(l.Status(), l.Candidates(ctx)), nil
	case "disconnect":
		if err := l.Disconnect(ctx); err != nil {
			return "", err
		}
		return "Disconnected. /ide connect connects again.", nil
	case "connect":
		return l.connect(ctx, rest)
	}
	return Usage, nil
}

func (l *Link) connect(ctx context.Context, which string) (string, error) {
	found := l.Candidates(ctx)
	path := ""
	if which != "" {
		c, err := pick(found, which)
		if err != nil {
			return "", err
		}
		path = c.Path
	}
	if err := l.Connect(ctx, path); err != nil {
		return "", fmt.Errorf("%w\n%s", err, List(found, ""))
	}
	return Describe(l.Status(), nil), nil
}

// pick returns the candidate with the given number in the list, port or lock file.
func pick(found []lock.Candidate, which string) (lock.Candidate, error) {
	n, err := strconv.Atoi(which)
	for i, c := range found {
		if err == nil && (n == i+1 || n == c.Port) || c.Path == which {
			if !c.Usable {
				return c, fmt.Errorf("%s cannot be connected: %s", Title(c), c.Why)
			}
			return c, nil
		}
	}
	return lock.Candidate{}, fmt.Errorf("there is no editor %s; /ide lists them by number and port", which)
}

// Choice is an editor to connect to.
type Choice struct{ ID, Title, Detail string }

// Choices returns the editors that can be connected to.
func (l *Link) Choices(ctx context.Context) []Choice {
	if l.off {
		return nil
	}
	var out []Choice
	for _, c := range l.Candidates(ctx) {
		if c.Usable {
			out = append(out, Choice{ID: c.Path, Title: Title(c), Detail: folders(c)})
		}
	}
	return out
}

// Describe describes the link and lists the editors found.
func Describe(s ide.Status, found []lock.Candidate) string {
	var b strings.Builder
	switch s.State {
	case ide.Connected:
		linked(&b, s)
	case ide.Connecting:
		b.WriteString("Connecting …\n")
	case ide.Looking, ide.Off:
		b.WriteString("No editor connected")
		if s.Why != "" {
			b.WriteString(": " + sanitize.Line(s.Why))
		}
		b.WriteString(".\n")
	}
	b.WriteString(List(found, s.Editor.Path))
	return b.String()
}

// linked describes an open link.
func linked(b *strings.Builder, s ide.Status) {
	fmt.Fprintf(b, "Linked to %s since %s\n", Title(s.Editor), s.Since.Local().Format(time.TimeOnly))
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-10s %s\n", name, sanitize.Line(value))
		}
	}
	row("folder", folders(s.Editor))
	row("extension", strings.TrimSpace(s.Info.Plugin+" "+s.Info.Version))
	row("tools", strings.Join(slices.Sorted(slices.Values(s.Info.Tools)), ", "))
	row("note", strings.Join(s.Editor.Notes, "; "))
}

// List lists editors by number, with the reason why each is not used; linked is the
// lock file of the connected one.
func List(found []lock.Candidate, linked string) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Editors:\n")
	for i, c := range found {
		why := c.Why
		switch {
		case c.Path == linked && linked != "":
			why = "linked"
		case why == "":
			why = "would be chosen"
		}
		fmt.Fprintf(&b, "  %d  %s · %s · %s\n", i+1, Title(c), folders(c), sanitize.Line(why))
	}
	return b.String()
}

// Title names an editor.
func Title(c lock.Candidate) string {
	name := c.File.Name
	if name == "" {
		name = "unnamed editor"
	}
	return fmt.Sprintf("%s (port %d)", sanitize.Line(name), c.Port)
}

// folders names the folders that an editor has open.
func folders(c lock.Candidate) string {
	if c.Folder != "" {
		return sanitize.Line(c.Folder)
	}
	if len(c.File.Folders) == 0 {
		return "no folder"
	}
	return sanitize.Line(strings.Join(c.File.Folders, string(filepath.ListSeparator)+" "))
}

// Best returns a function that names the editor that a session in dir would use; if
// linked is false, text is the reason why it would use none.
func Best(dir string) func(ctx context.Context, cfg config.Config) (text string, linked bool) {
	return func(ctx context.Context, cfg config.Config) (string, bool) {
		abs, err := filepath.Abs(dir)
		switch {
		case err != nil:
			return err.Error(), false
		case !cfg.IDE.Enabled || !cfg.IDE.AutoConnect:
			return "switched off in the configuration", false
		}
		found := lock.Find(ctx, Search(cfg, abs))
		if c, ok := lock.Choice(found); ok {
			return Title(c) + ", " + folders(c), true
		}
		if len(found) > 0 {
			return fmt.Sprintf("found %d, but none links to this folder automatically; see /ide", len(found)), false
		}
		return "no editor was found", false
	}
}
