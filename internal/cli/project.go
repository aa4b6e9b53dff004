package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/cli/provider"
	"github.com/bb2d0cf4/agent/internal/cli/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
)

// setup is the configuration of a session, and what it is to be told of.
type setup struct {
	config.Config
	commands map[string][]byte // of the project, by their files, as they were trusted
	asked    bool              // whether it is trusted
	suggest  string            // a first prompt
	notes    []string
}

// introduce asks for what a session cannot do without: a model, and its key. Where
// nobody can be asked, or nothing is missing, set stays as it is.
func introduce(ctx context.Context, p Process, f *flags, over config.Overrides, set setup) (setup, error) {
	if !talks(p) {
		return set, nil
	}
	o := firstrun.Options{Terminal: ask(p, set.Config), Config: set.Config, Screens: 3}
	if set.asked {
		o.Screens--
	}
	m, known := set.Lookup(set.Model)
	var notes []string
	var err error
	switch {
	case set.Model == "":
		notes, err = firstrun.Model(ctx, o)
	case known == nil && provider.MissingKey(set.Config, m) != nil:
		notes, err = firstrun.Key(ctx, o, m)
	default:
		return set, nil // what else is wrong is said where the model is made
	}
	if err != nil {
		return set, err
	}
	again, err := settle(ctx, p, f, over, false)
	again.notes = append(again.notes, notes...)
	if set.Model == "" {
		again.suggest = firstrun.Suggestion
	}
	return again, err
}

// settle loads the configuration for a folder, with that of the project if a person
// trusts it. Where asks is true they can be asked; else what was not trusted before is
// not used.
func settle(ctx context.Context, p Process, f *flags, over config.Overrides, asks bool) (setup, error) {
	cfg, err := loadConfig(over)
	if err != nil {
		return setup{}, err
	}
	s := setup{Config: cfg}
	dir, err := workDir(f.dir)
	if err != nil {
		return s, err
	}
	found, err := trust.Look(dir, cfg.Home)
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("nothing of the project's .agent folder is used: %v", err))
		return s, nil
	}
	if found.Empty() {
		return s, nil
	}
	trusted, err := trusts(ctx, p, &s, found, asks)
	if err != nil || !trusted {
		return s, err
	}
	s.commands = found.Texts()
	for _, l := range found.Left {
		s.notes = append(s.notes, "left out of the project's commands: "+l)
	}
	if found.Config == nil {
		return s, nil
	}
	with, left, err := config.LoadProject(over, config.Project{File: filepath.Join(dir, trust.ConfigFile), Data: found.Config})
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("the project's configuration is not used: %v", err))
		return s, nil
	}
	s.Config = with
	for _, l := range left {
		s.notes = append(s.notes, "left out of the project's configuration: "+l)
	}
	return s, nil
}

// trusts says whether what was found may be used, and asks where it is not known.
func trusts(ctx context.Context, p Process, s *setup, found trust.Found, asks bool) (bool, error) {
	store := trust.Open(s.Home)
	answer, err := store.Use(ctx, found)
	switch {
	case err != nil:
		return false, err
	case answer == trust.Trusted:
		return true, nil
	case answer == trust.Refused:
		return false, nil
	case asks:
		s.asked = true
		return firstrun.Trust(ctx, ask(p, s.Config), store, found, answer == trust.Changed)
	case answer == trust.Changed:
		s.notes = append(s.notes, "the project's files in .agent have changed since you trusted them, and are not used: agent trust add shows and allows them")
	default:
		s.notes = append(s.notes, "the project's files in .agent are not used: agent trust add shows and allows them")
	}
	return false, nil
}

// ask is the terminal as far as it is needed for a question.
func ask(p Process, cfg config.Config) dialog.Terminal {
	return dialog.Terminal{
		In: p.Stdin, Out: p.Stdout, Env: os.Environ(), Theme: cfg.Interface.Theme, Flat: isDumb(p) || cfg.Interface.ScreenReader,
	}
}

// newTrust shows and changes which folders are trusted.
func newTrust(p Process, f *flags) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List what you have answered", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := trustStore()
			if err != nil {
				return err
			}
			all, err := s.List()
			for _, e := range all {
				err = errors.Join(err, showLine(p, e.String()))
			}
			return err
		},
	}
	add := &cobra.Command{
		Use: "add [folder]", Short: "Trust a folder as it is now, and those below", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return addTrust(cmd.Context(), p, folder(f, args)) },
	}
	rm := &cobra.Command{
		Use: "rm [folder]", Short: "Forget the answer about a folder, and what followed from it below", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return removeTrust(cmd.Context(), p, folder(f, args)) },
	}
	return parent("trust", "Which folders may set up the agent with files of their own", list, add, rm)
}

func folder(f *flags, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return f.dir
}

func trustStore() (trust.Store, error) {
	home, err := config.Home()
	return trust.Open(home), err
}

func addTrust(ctx context.Context, p Process, name string) error {
	dir, err := workDir(name)
	if err != nil {
		return err
	}
	s, err := trustStore()
	if err != nil {
		return err
	}
	home, err := config.Home()
	if err != nil {
		return err
	}
	found, err := trust.Look(dir, home)
	if err != nil {
		return err
	}
	if err := s.Set(ctx, trust.Entry{Dir: dir, Trusted: true, Hash: found.Hash}); err != nil {
		return err
	}
	text := "trusted: " + dir + ", and the folders below it\n"
	if !found.Empty() {
		text += strings.Join(firstrun.Describe(found), "\n") + "\n"
	}
	return show(p, text)
}

// removeTrust forgets a folder, which may be gone, and says what is trusted below and
// above it from then on.
func removeTrust(ctx context.Context, p Process, name string) error {
	dir, err := workDir(name)
	if err != nil {
		if dir, err = filepath.Abs(name); err != nil {
			return err
		}
	}
	s, err := trustStore()
	if err != nil {
		return err
	}
	r, err := s.Remove(ctx, dir)
	if err != nil {
		return err
	}
	if !r.Was {
		return usagef("there is no answer about %s; agent trust list shows them", dir)
	}
	for _, l := range r.Lines(dir) {
		err = errors.Join(err, showLine(p, l))
	}
	return err
}
