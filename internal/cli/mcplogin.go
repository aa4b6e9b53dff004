package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

// loginTime is how long a login waits for the browser.
const loginTime = 10 * time.Minute

// logIn logs in to a server.
func logIn(cmd *cobra.Command, p Process, f *flags, name string) error {
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	set, s, err := addressed(cmd, p, f, name)
	if err != nil {
		return err
	}
	headers, err := config.Expand(s.Headers)
	if err != nil {
		return err
	}
	opt := mcp.Options{Version: p.Version, Logins: app.Logins{Store: keystore.Open(set.Home)}}
	err = mcp.Login(ctx, opt, mcp.Server{Name: name, URL: s.URL, Headers: headers}, func(address string) {
		_ = showLine(p, "Open this address in a browser on this machine; Ctrl+C gives up:") // the next line matters
		_ = showLine(p, address)
	})
	switch {
	case ctx.Err() != nil:
		return errors.New("no login: the browser did not come back")
	case err != nil:
		return err
	}
	return showLine(p, "logged in to "+name)
}

// logOut deletes the tokens of a server.
func logOut(cmd *cobra.Command, p Process, f *flags, name string) error {
	set, s, err := addressed(cmd, p, f, name)
	if err != nil {
		return err
	}
	was, err := app.Logins{Store: keystore.Open(set.Home)}.Forget(cmd.Context(), s.URL)
	if err == nil && !was {
		return usagef("no login to %s is kept", name)
	}
	return err
}

// addressed returns the server that is configured, or named by the project and allowed, and
// has an address.
func addressed(cmd *cobra.Command, p Process, f *flags, name string) (set setup, s config.MCPServer, err error) {
	set, err = loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
	if err != nil {
		return set, s, err
	}
	s, ok := set.MCP[name]
	if !ok {
		s, ok = set.projectServers[name]
	}
	switch {
	case !ok:
		return set, s, usagef("no MCP server %q is configured; agent mcp list shows all", name)
	case s.URL == "":
		return set, s, usagef("the MCP server %s is a program, which needs no login here", name)
	}
	return set, s, nil
}
