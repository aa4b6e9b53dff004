package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/acp"
	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/early"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// newACP returns agent acp, which serves an editor over standard input and output.
func newACP(p Process, f *flags) *cobra.Command {
	var setUp bool
	cmd := &cobra.Command{
		Use: "acp", Short: "Serve an editor by the Agent Client Protocol", Args: noArgs,
		Long: "Serves a program that hosts agents, such as Zed, by the Agent Client Protocol on standard\n" +
			"input and output. docs/editors.md describes how to set it up.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			over := overrides(cmd.Flags(), f)
			if setUp {
				return setUpModel(cmd.Context(), p, f, over)
			}
			if isTerminal(p.Stdin) {
				return usagef("agent acp is for an editor to start, which talks to it over standard input; see docs/editors.md")
			}
			home, err := config.Home()
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			// Without this, a write to a host that was killed would end us before our commands.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			out := p.Stdout
			p.Stdout = p.Stderr // nothing else may write to it
			early.EndRareGC()
			return acp.Serve(ctx, p.Stdin, out, acp.Options{
				Version: p.Version,
				Ready:   func(ctx context.Context) error { return ready(ctx, p, *f, over) },
				Images:  func(ctx context.Context) bool { return takesImages(ctx, p, *f, over) },
				Open:    func(ctx context.Context, o acp.Opening) (*acp.Session, error) { return hosted(ctx, p, *f, over, o) },
				List:    archive.New(home).List,
				Delete:  func(id string) error { return deleteExactly(archive.New(home), id) },
			})
		},
	}
	cmd.Flags().BoolVar(&setUp, acp.SetUpFlag, false, "ask for a model and its key on the terminal, and leave")
	return cmd
}

// setUpModel asks the questions of a first start that are left, or else for another model.
func setUpModel(ctx context.Context, p Process, f *flags, over config.Overrides) error {
	set, err := loadSetup(ctx, p, f, over, false)
	if err != nil {
		return err
	}
	if !talks(p) || set.ready() == nil {
		return chooseModel(ctx, p, set.Config)
	}
	if set, err = completeSetup(ctx, p, f, over, set); err != nil {
		return err
	}
	remarks(p, set.notes)
	return set.ready()
}

// ready returns why no model can be used.
func ready(ctx context.Context, p Process, f flags, over config.Overrides) error {
	set, err := loadSetup(ctx, p, &f, over, false)
	if err != nil {
		return err
	}
	return set.ready()
}

// ready returns why the model cannot be used. If answers to the questions of a first start
// would help, that is the protocol's error for it.
func (s *setup) ready() error {
	m, err := provider.Choose(s.Config)
	if err == nil {
		err = provider.MissingKey(s.Config, m)
	} else if unasked := (*allowedservers.UnaskedError)(nil); !errors.Is(err, provider.ErrNoModel) && !errors.As(err, &unasked) {
		return usageError{err}
	}
	if err != nil {
		return acp.Unready(err)
	}
	return nil
}

// hosted opens a session for a host. The folder's settings and instructions count if the
// user trusts them: the host cannot be asked about that.
func hosted(ctx context.Context, p Process, f flags, over config.Overrides, want acp.Opening) (*acp.Session, error) {
	f.dir, f.resume, f.prompted = want.Dir, want.ID, true
	set, err := loadSetup(ctx, p, &f, over, false)
	if err != nil {
		return nil, err
	}
	if err := set.ready(); err != nil {
		return nil, err
	}
	set.IDE.Enabled = false // the host is the editor
	o, err := newOpening(ctx, &f, set)
	if err != nil {
		return nil, err
	}
	o.servers, o.host, o.commands = want.Servers, want.Host, want.Commands
	o.addDirs = slices.Concat(o.addDirs, want.AddDirs)
	a, err := o.session(p)
	if err != nil {
		return nil, err
	}
	if now := a.Root.Dir(); want.ID != "" && now != a.Current().Info().Dir {
		return nil, errors.Join(errors.New("the session belongs to the folder "+a.Current().Info().Dir), a.Close())
	}
	if want.ID == "" { // the host may ask a later process for it, before any prompt
		if err := a.Current().Begin(); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	own, notes := set.ownCommands()
	h := &hostedSession{App: a, own: own, notes: slices.Concat(o.notes, notes, []string{leftOut(a)})}
	return h.session(ctx), nil
}

// deleteExactly deletes the session with this id: an id that only begins so is another.
func deleteExactly(sessions *archive.Archive, id string) error {
	all, err := sessions.List("")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(i archive.Info) bool { return i.ID == id }) {
		return fmt.Errorf("%w: %q", archive.ErrNoSession, id)
	}
	return sessions.Remove(id)
}

// takesImages reports whether the configured model is known to take images.
func takesImages(ctx context.Context, p Process, f flags, over config.Overrides) bool {
	set, err := loadSetup(ctx, p, &f, over, false)
	if err != nil {
		return false
	}
	m, _, err := choose(ctx, set.Config)
	if err != nil {
		return false
	}
	model, err := provider.New(set.Config, m)
	return err == nil && model.Info().Images
}
