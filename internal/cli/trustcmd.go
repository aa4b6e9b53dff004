package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/cli/firstrun"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// newTrust returns agent trust, which lists and changes the trusted folders and the
// allowed servers.
func newTrust(p Process, f *flags) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List your answers", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := config.Home()
			if err != nil {
				return err
			}
			folders, err1 := trust.Open(home).List()
			addresses, err2 := allowedservers.Open(home).List()
			err = errors.Join(err1, err2)
			if err == nil && len(folders)+len(addresses) == 0 {
				remark(p, "no answers are stored; agent trust add --help shows how to give one")
			}
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
		Use: "add [folder | address]", Short: "Trust a folder's present content and the folders below, or allow a server or a proxy", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			with := trustAdd{p: p, yes: yes}
			if len(args) == 1 && isAddress(args[0]) {
				return with.address(cmd.Context(), overrides(cmd.Flags(), f), args[0])
			}
			return with.folder(cmd.Context(), f.folder(args))
		},
	}
	add.Flags().BoolVar(&yes, "yes", false, "do not ask; for use without a terminal")
	rm := &cobra.Command{
		Use: "rm [folder | address]", Short: "Forget the answer about a folder, with those that follow from it, or about an address", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isAddress(args[0]) {
				return removeAddress(cmd.Context(), p, args[0])
			}
			return removeTrust(cmd.Context(), p, f.folder(args))
		},
	}
	return parent("trust", "Trusted folders and allowed servers", list, add, rm)
}

func isAddress(arg string) bool { return strings.Contains(arg, "://") }

// trustAdd allows something after showing it, if the user confirms on the terminal or
// gave --yes.
type trustAdd struct {
	p   Process
	yes bool
}

// folder trusts a folder.
func (a trustAdd) folder(ctx context.Context, name string) error {
	dir, err := setup.Folder(name)
	if err != nil {
		return err
	}
	home, err := config.Home()
	if err != nil {
		return err
	}
	found, err := setup.Look(dir, home)
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
	if err := trust.Open(home).Trust(ctx, found); err != nil {
		return err
	}
	return showLine(a.p, "trusted: "+dir)
}

// address allows the program of another user at the address of an MCP server, the server of
// the configured model, or the proxy before that.
func (a trustAdd) address(ctx context.Context, over config.Overrides, address string) error {
	cfg, err := loadConfig(over)
	if err != nil {
		return err
	}
	if q, ok := allowedservers.OfMCP(cfg, address); ok {
		return a.allow(ctx, cfg, q)
	}
	if cfg.Model == "" {
		return usagef("no model is configured: name it with --model PROVIDER/NAME")
	}
	m, err := cfg.Lookup(cfg.Model)
	if err != nil {
		return usagef("the model, whose key may go there, is unknown: %w", err)
	}
	questions, err := allowedservers.Open(cfg.Home).Unasked(m)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if q.Is(address) {
			return a.allow(ctx, cfg, q)
		}
	}
	return usagef("%s is already allowed for %s (agent trust list)", address, m.Ref)
}

// allow asks a question and stores a yes.
func (a trustAdd) allow(ctx context.Context, cfg config.Config, q allowedservers.Question) error {
	if err := a.ask(ctx, q.Title, q.Text); err != nil {
		return err
	}
	if err := allowedservers.Open(cfg.Home).Allow(ctx, q.Entry); err != nil {
		return err
	}
	return showLine(a.p, "allowed: "+q.Address)
}

// ask shows text and returns nil for a yes.
func (a trustAdd) ask(ctx context.Context, title string, text []string) error {
	switch {
	case a.yes:
		return show(a.p, strings.Join(text, "\n")+"\n")
	case !talks(a.p):
		if err := show(a.p, strings.Join(text, "\n")+"\n"); err != nil {
			return err
		}
		return usagef("nothing was changed: no terminal to ask. If this is right, run it again with --yes")
	}
	cfg, err := loadConfig(nil)
	if err != nil {
		return err
	}
	return firstrun.Confirm(ctx, dialogTerminal(a.p, cfg), title, text)
}

// removeAddress forgets a server or a proxy.
func removeAddress(ctx context.Context, p Process, address string) error {
	home, err := config.Home()
	if err != nil {
		return err
	}
	was, err := allowedservers.Open(home).Remove(ctx, address)
	switch {
	case err != nil:
		return err
	case !was:
		return usagef("%s is not in the list (agent trust list)", address)
	}
	return showLine(p, "no longer allowed: "+address)
}

// removeTrust forgets a folder, which need not exist, and prints which folders below and
// above it are trusted now.
func removeTrust(ctx context.Context, p Process, name string) error {
	dir, err := setup.Folder(name)
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
		return usagef("%s is not in the list (agent trust list)", dir)
	}
	for _, l := range r.Lines(dir) {
		err = errors.Join(err, showLine(p, l))
	}
	return err
}
