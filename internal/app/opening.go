package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Choice tells which session to begin with, and the additions of a person for this run.
type Choice struct {
	Dir     string   // see setup.Folder
	AddDirs []string // likewise
	Session string   // the id of a saved session; "" for another
	Latest  bool     // the newest session of the folder that is not in use
	Offer   bool     // without a saved session: note one that ended in the middle of a turn
	Rules   []setup.Written
}

// Prepare chooses the model and the session to begin with. The notes are those of set, then
// those about these choices. The result owns the session's file.
func Prepare(ctx context.Context, set setup.Setup, c Choice) (Options, error) {
	o := Options{Setup: set}
	for _, name := range c.AddDirs {
		dir, err := setup.Folder(name)
		if err != nil {
			return o, err
		}
		o.AddDirs = append(o.AddDirs, dir)
	}
	model, err := provider.Choose(set.Config)
	if err != nil {
		return o, setup.UsageError{Err: err}
	}
	model, notes := provider.Inspect(ctx, set.Config, model)
	place, note, err := OpenPlace(set.Config, c, model.Ref)
	if err != nil {
		return o, err
	}
	o.Model, o.Place = model, place
	if o.Rules, err = set.PermissionRules(place.Dir, c.Rules); err != nil {
		return o, errors.Join(err, place.Store.Close())
	}
	o.Notes = append(o.Notes, notes...)
	if note != "" {
		o.Notes = append(o.Notes, note)
	}
	return o, nil
}

// OpenPlace finds the session to continue, or makes a new one. The note, which may be
// empty, tells the user about the choice.
func OpenPlace(cfg config.Config, c Choice, model string) (pl Place, note string, err error) {
	dir, err := setup.Folder(c.Dir)
	if err != nil {
		return Place{}, "", err
	}
	pl = Place{Dir: dir, Archive: archive.New(cfg.Home)}
	switch {
	case c.Latest:
		var open int
		if pl.Store, open, err = pl.Archive.Latest(dir); err == nil && open > 0 {
			note = fmt.Sprintf("%s: continuing the newest one that is not.", opened(open))
		}
		if errors.Is(err, archive.ErrNoSession) {
			err = fmt.Errorf("no session in %s to continue; start one with agent", dir)
		}
	case c.Session != "":
		pl.Store, err = pl.Archive.Open(c.Session)
		if errors.Is(err, archive.ErrNoSession) {
			err = fmt.Errorf("no session %s; agent sessions list shows all", c.Session)
		}
	default:
		pl.Store = pl.Archive.Create(dir, model)
		if c.Offer {
			note = unfinished(pl.Archive, dir)
		}
	}
	return pl, note, err
}

// unfinished offers to continue the newest session of the folder if it ended in the
// middle of a turn; else it returns "".
func unfinished(sessions *archive.Archive, dir string) string {
	left := sessions.FindUnfinished(dir)
	if left == nil {
		return ""
	}
	when := "in the middle of a turn"
	if left.Call != nil && left.Undecided {
		when = "before you answered " + quoted(*left.Call)
	} else if left.Call != nil {
		when = "before " + quoted(*left.Call) + " was done"
	}
	return "The last session here ended " + when + ": agent -c continues it."
}

// quoted names a call as its question did.
func quoted(c llm.ToolCall) string {
	title, _ := tools.NewSet(tools.Deps{}).Title(c.Name, json.RawMessage(c.Args))
	return "“" + sanitize.Line(archive.Clip(title, 80)) + "”"
}

// opened describes the n newest sessions, which are in use.
func opened(n int) string {
	if n == 1 {
		return "The newest session is open in another process"
	}
	return fmt.Sprintf("The %d newest sessions are open in other processes", n)
}
