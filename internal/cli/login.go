package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/chatgpt"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// newLogin returns the command that signs in instead of using a key.
func newLogin(p Process, f *flags) *cobra.Command {
	var anew, paste bool
	cmd := &cobra.Command{
		Use: "login [PROVIDER]", Short: "Sign in with ChatGPT, whose plan then pays instead of a key", Args: cobra.MaximumNArgs(1), ValidArgs: []string{"openai"},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, m, err := signable(cmd, f, args)
			if err != nil {
				return err
			}
			if len(m.Endpoint.APIKeyCommand) > 0 {
				return usagef("providers.%s.api_key_command prints a key, which a sign-in would replace: remove it first", m.Provider)
			}
			if err := allowedservers.Open(cfg.Home).Permit(m); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			ctx, cancel := timelimit.Context(ctx, loginTime)
			defer cancel()
			a, err := provider.SignIns(cfg).SignIn(ctx, m.Endpoint.Login, m.Endpoint.BaseURL, p.person(cfg, anew, paste))
			switch {
			case ctx.Err() != nil:
				return fmt.Errorf("the sign-in was given up: %w", timelimit.Explain(ctx, errors.New("no answer from the browser")))
			case err != nil:
				return err
			}
			return showLines(p, []string{
				"signed in as " + a.Email + ": your ChatGPT plan pays for " + m.Provider + "'s models, and no key is used",
				"what it uses, and a weekly limit for it: " + chatgpt.Usage,
			})
		},
	}
	cmd.Flags().BoolVar(&anew, "new", false, "with another account, or under a new name")
	cmd.Flags().BoolVar(&paste, "paste", false, "the browser is on another machine: paste the address of its last page")
	return cmd
}

// person leads a person on the terminal through a sign-in.
func (p Process) person(cfg config.Config, anew, paste bool) chatgpt.Person {
	person := chatgpt.Person{New: anew, Show: func(page string) {
		where := "on this machine; Ctrl+C gives up"
		if paste {
			where = "anywhere. Its last page will not load: copy that page's address"
		}
		_ = showLine(p, "Open this address in a browser "+where+":") // the next line matters
		_ = showLine(p, page)
	}}
	if paste {
		person.Paste = func(ctx context.Context) (string, error) { return p.pasted(ctx, cfg) }
	}
	return person
}

// pasted returns the address that the person pastes, or the first line of standard input.
func (p Process) pasted(ctx context.Context, cfg config.Config) (string, error) {
	if isTerminal(p.Stdin) {
		a, err := dialog.Ask(ctx, dialogTerminal(p, cfg), dialog.Page{
			Title: "Paste the address of the last page", Fields: []dialog.Field{{Label: "Address", Secret: true}},
			Text: []string{"It begins with http://127.0.0.1 and is worth nothing without this program."},
		})
		if err != nil {
			return "", err
		}
		return a.Values[0], nil
	}
	lines := bufio.NewScanner(p.Stdin)
	if !lines.Scan() {
		return "", errors.Join(errors.New("standard input has no address"), lines.Err())
	}
	return lines.Text(), nil
}

// newLogout returns the command that ends a sign-in.
func newLogout(p Process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "logout [PROVIDER]", Short: "End the sign-in with ChatGPT", Args: cobra.MaximumNArgs(1), ValidArgs: []string{"openai"},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, m, err := signable(cmd, f, args)
			if err != nil {
				return err
			}
			was, told, err := provider.SignIns(cfg).SignOut(cmd.Context(), m.Endpoint.BaseURL)
			switch {
			case err != nil:
				return err
			case !was:
				return usagef("there is no sign-in for %s", m.Provider)
			case !told:
				return showLine(p, "signed out: the tokens are deleted here, but OpenAI has not confirmed it. End it in ChatGPT's settings too: "+chatgpt.Usage)
			}
			return showLine(p, "signed out: the tokens are deleted, here and at OpenAI")
		},
	}
}

// signable returns a provider at which a person can sign in.
func signable(cmd *cobra.Command, f *flags, args []string) (cfg config.Config, m config.Model, err error) {
	if cfg, err = loadConfig(overrides(cmd.Flags(), f)); err != nil {
		return cfg, m, err
	}
	name := "openai"
	if len(args) > 0 {
		name = args[0]
	}
	if m, err = cfg.Lookup(name + "/x"); err != nil {
		return cfg, m, usageError{Err: err}
	}
	if m.Endpoint.Login == "" || m.Wire() != config.WireResponses {
		return cfg, m, usagef("there is no sign-in for %s at %s; it needs a key: agent config model", name, m.Endpoint.BaseURL)
	}
	return cfg, m, nil
}
