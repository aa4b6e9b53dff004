package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

func newSessions(p Process, f *flags) *cobra.Command {
	var all bool
	list := &cobra.Command{
		Use: "list", Short: "List the sessions of this folder", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return listSessions(p, f, all) },
	}
	list.Flags().BoolVarP(&all, "all", "a", false, "of every folder")
	var asJSON bool
	show := &cobra.Command{
		Use: "show id", Short: "Print a session as Markdown or JSON", Args: exactly(1), ValidArgsFunction: f.sessionIDs(),
		RunE: func(_ *cobra.Command, args []string) error { return showSession(p, args[0], asJSON) },
	}
	show.Flags().BoolVar(&asJSON, "json", false, "as JSON, with everything in the file")
	rm := &cobra.Command{
		Use: "rm id...", Short: "Delete sessions", Args: cobra.ArbitraryArgs, ValidArgsFunction: f.sessionIDs(),
		RunE: func(cmd *cobra.Command, args []string) error { return removeSessions(cmd.Context(), p, args) },
	}
	return parent("sessions", "List, show and delete sessions", list, show, rm)
}

func listSessions(p Process, f *flags, all bool) error {
	dir, err := setup.Folder(f.dir)
	if err != nil {
		return err
	}
	if all {
		dir = ""
	}
	sessions, err := openArchive()
	if err != nil {
		return err
	}
	infos, err := sessions.List(dir)
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		fmt.Fprintln(p.Stderr, "no sessions here; agent sessions list --all shows other folders")
		return nil
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, s := range infos {
		where := ""
		if all {
			where = sanitize.Line(s.Dir) + "\t"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s%s\n", s.ID, s.Updated.Local().Format(time.DateTime), s.Prompts,
			sanitize.Line(cmp.Or(s.Branch, "-")), sanitize.Line(s.Model), where, sanitize.Line(s.Title))
	}
	return w.Flush()
}

func showSession(p Process, id string, asJSON bool) error {
	sessions, err := openArchive()
	if err != nil {
		return err
	}
	info, conv, err := sessions.Read(id)
	if err != nil {
		return commands.SessionError(id, err)
	}
	for _, n := range conv.Notes {
		remark(p, n)
	}
	var b strings.Builder
	write := archive.Export
	if asJSON {
		write = archive.ExportJSON
	}
	if err := write(&b, info, conv); err != nil {
		return err
	}
	return show(p, b.String())
}

// removeSessions deletes sessions with their long outputs, and the changes that they made
// from the undo journal.
func removeSessions(ctx context.Context, p Process, ids []string) error {
	if len(ids) == 0 {
		return usagef("no session given; agent sessions list shows all")
	}
	cfg, err := loadConfig(nil)
	if err != nil {
		return err
	}
	sessions := archive.New(cfg.Home)
	var errs []error
	for _, id := range ids {
		info, _, readErr := sessions.Read(id)
		err := sessions.Remove(id)
		if err == nil && readErr == nil {
			err = errors.Join(
				home.RemoveSpill(home.SpillDir(cfg.Home, info.ID), time.Now()), // the full id, as the file has it
				forgetSession(ctx, p, cfg.Home, info),
			)
		}
		if err != nil {
			errs = append(errs, commands.SessionError(id, err))
			continue
		}
		errs = append(errs, showLine(p, "deleted session "+id))
	}
	return errors.Join(errs...)
}

// forgetSession deletes the changes that a session made from the undo journal of its
// folder.
func forgetSession(ctx context.Context, p Process, home string, s archive.Info) error {
	done, err := workspace.ForgetUndo(ctx, home, s.Dir, func(e *journal.Entry) bool { return e.Session == s.ID })
	if done.Changes > 0 {
		remark(p, "forgotten with session "+s.ID+": "+changesOf(done)+", which can no longer be undone")
	}
	return errors.Join(err, busy(done))
}
