package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// loginTime is how long a login waits for the browser.
const loginTime = 10 * time.Minute

// maxClientSecret bounds the secret of a client on standard input, in bytes.
const maxClientSecret = 4 << 10

// logIn logs in to a server. withSecret asks for the secret of the client first.
func logIn(cmd *cobra.Command, p Process, f *flags, name string, withSecret bool) error {
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	ctx, cancel := timelimit.Context(ctx, loginTime)
	defer cancel()
	set, s, err := addressed(cmd, p, f, name)
	if err != nil {
		return err
	}
	headers, err := config.Expand(s.Headers)
	if err != nil {
		return err
	}
	opt := mcp.Options{Version: p.Version, Logins: app.Logins{Store: keystore.Open(set.Home)}, Dialed: allowedservers.Open(set.Home).Check}
	client := mcp.Client{ID: s.ClientID, Port: s.CallbackPort}
	if withSecret {
		if client.Secret, err = clientSecret(ctx, p, set.Config, name, s); err != nil {
			return err
		}
	}
	err = mcp.Login(ctx, opt, mcp.Server{Name: name, URL: s.URL, Headers: headers}, client, func(address, why string) {
		if why != "" {
			_ = showLine(p, "The server asks for another login: "+why)
		}
		_ = showLine(p, "Open this address in a browser on this machine; Ctrl+C gives up:") // the next line matters
		_ = showLine(p, address)
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("login failed: %w", timelimit.Explain(ctx, errors.New("no answer from the browser")))
	case err != nil:
		return err
	}
	return showLine(p, "logged in to "+name)
}

// clientSecret asks for the secret of a server's client, or reads it from standard input.
func clientSecret(ctx context.Context, p Process, cfg config.Config, name string, s config.MCPServer) (string, error) {
	if s.ClientID == "" {
		return "", usagef("a client's secret needs its id: set mcp.%s.client_id first", name)
	}
	var secret string
	if isTerminal(p.Stdin) {
		a, err := dialog.Ask(ctx, dialogTerminal(p, cfg), dialog.Page{
			Title: "Paste the secret of the OAuth client " + s.ClientID, Fields: []dialog.Field{{Label: "Secret", Secret: true}},
			Text: []string{"It is kept with the tokens, in the system's keyring or else in a file that only you can read."},
		})
		if err != nil {
			return "", err
		}
		secret = a.Values[0]
	} else {
		data, err := regularfile.ReadAll(p.Stdin, maxClientSecret)
		if err != nil {
			return "", fmt.Errorf("read the client's secret from standard input: %w", err)
		}
		secret = string(data)
	}
	if secret = strings.TrimSpace(secret); secret == "" {
		return "", usagef("the client's secret is empty")
	}
	return secret, nil
}

// logOut deletes the tokens of a server.
func logOut(cmd *cobra.Command, p Process, f *flags, name string) error {
	set, s, err := addressed(cmd, p, f, name)
	if err != nil {
		return err
	}
	was, err := app.Logins{Store: keystore.Open(set.Home)}.Forget(cmd.Context(), s.URL)
	switch {
	case err != nil:
		return err
	case !was:
		return usagef("no login to %s is kept", name)
	}
	return showLine(p, "logged out of "+name+": its tokens are deleted")
}

// addressed returns the server that is configured, or named by the project and allowed, and
// has an address.
func addressed(cmd *cobra.Command, p Process, f *flags, name string) (set setup.Setup, s config.MCPServer, err error) {
	set, err = loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
	if err != nil {
		return set, s, err
	}
	s, ok := set.MCP[name]
	if !ok {
		s, ok = set.ProjectServers[name]
	}
	switch {
	case !ok:
		return set, s, usagef("no MCP server %q is configured; agent mcp list shows all", name)
	case s.URL == "":
		return set, s, usagef("the MCP server %s is a program, which needs no login here", name)
	}
	return set, s, nil
}
