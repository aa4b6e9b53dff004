package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/servers"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// newTrust shows and changes which folders are trusted.
func newTrust(p Process, f *flags) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List what you have answered", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := config.Home()
			if err != nil {
				return err
			}
			folders, err1 := trust.Open(home).List()
			addresses, err2 := servers.Open(home).List()
			err = errors.Join(err1, err2)
			for _, e := range folders {
				err = errors.Join(err, showLine(p, e.String()))
			}
			for _, e := range addresses {
				err = errors.Join(err, showLine(p, e.String()))
			}
			return err
		},
	}
	var yes bool
	add := &cobra.Command{
		Use: "add [folder | address]", Short: "Trust a folder as it is now and those below, or allow a server or a proxy", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			with := adding{p: p, yes: yes}
			if len(args) == 1 && isAddress(args[0]) {
				return with.address(cmd.Context(), overrides(cmd.Flags(), f), args[0])
			}
			return with.folder(cmd.Context(), f.folder(args))
		},
	}
	add.Flags().BoolVar(&yes, "yes", false, "do not ask, for where there is no terminal")
	rm := &cobra.Command{
		Use: "rm [folder | address]", Short: "Forget the answer about a folder and what followed from it below, or about an address", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isAddress(args[0]) {
				return removeAddress(cmd.Context(), args[0])
			}
			return removeTrust(cmd.Context(), p, f.folder(args))
		},
	}
	return parent("trust", "Which folders may set up the agent, and which servers may be used", list, add, rm)
}

func isAddress(arg string) bool { return strings.Contains(arg, "://") }

// adding allows something that it has shown before: a person says yes to it on a
// terminal, or has said so with --yes.
type adding struct {
	p   Process
	yes bool
}

// folder trusts a folder.
func (a adding) folder(ctx context.Context, name string) error {
	dir, err := workDir(name)
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
	text := []string{sanitize.Name(dir) + ", and the folders below it"}
	if !found.Empty() {
		text = append(text, firstrun.Describe(found)...)
	}
	if err := a.ask(ctx, "Trust this folder?", text); err != nil {
		return err
	}
	if err := trust.Open(home).Set(ctx, trust.Entry{Dir: dir, Trusted: true, Hash: found.Hash}); err != nil {
		return err
	}
	return showLine(a.p, "trusted: "+dir)
}

// address allows the server of the configured model, or the proxy on the way to it.
func (a adding) address(ctx context.Context, over config.Overrides, address string) error {
	cfg, err := loadConfig(over)
	if err != nil {
		return err
	}
	m, err := cfg.Lookup(cfg.Model)
	if err != nil {
		return usagef("which key may go there is not known: %w", err)
	}
	store := servers.Open(cfg.Home)
	questions, err := store.Unasked(m)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if !q.Is(address) {
			continue
		}
		if err := a.ask(ctx, q.Title, q.Text); err != nil {
			return err
		}
		if err := store.Allow(ctx, q.Entry); err != nil {
			return err
		}
		return showLine(a.p, "allowed: "+q.Address)
	}
	return usagef("%s has nothing to ask about %s; agent trust list shows what is allowed", m.Ref, address)
}

// ask shows what is to be allowed, and returns nil for a yes.
func (a adding) ask(ctx context.Context, title string, text []string) error {
	switch {
	case a.yes:
		return show(a.p, strings.Join(text, "\n")+"\n")
	case !talks(a.p):
		if err := show(a.p, strings.Join(text, "\n")+"\n"); err != nil {
			return err
		}
		return usagef("nothing was allowed, as there is no terminal to ask on: look at the above, then add --yes")
	}
	cfg, err := loadConfig(nil)
	if err != nil {
		return err
	}
	return firstrun.Confirm(ctx, ask(a.p, cfg), title, text)
}

// removeAddress forgets a server or a proxy.
func removeAddress(ctx context.Context, address string) error {
	home, err := config.Home()
	if err != nil {
		return err
	}
	was, err := servers.Open(home).Remove(ctx, address)
	if err == nil && !was {
		return usagef("%s was not allowed; agent trust list shows what is", address)
	}
	return err
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
	home, err := config.Home()
	if err != nil {
		return err
	}
	r, err := trust.Open(home).Remove(ctx, dir)
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
