package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// newMCP returns agent mcp, which lists and changes the MCP servers.
func newMCP(p Process, f *flags) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "Start the servers and show what they offer", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listServers(cmd, p, f) },
	}
	var add settings.Server
	var yes bool
	adding := &cobra.Command{
		Use: "add name [--env NAME=VALUE] [-- program arguments] | [--url address --header NAME=VALUE]", Short: "Add a server to the configuration",
		Args: atLeast(1),
		Example: "  agent mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n" +
			"  agent mcp add github --url https://api.githubcopilot.com/mcp/ --header 'Authorization=Bearer ${GITHUB_TOKEN}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			add.Name, add.Command = args[0], args[1:]
			return saveServer(cmd.Context(), p, add, yes)
		},
	}
	adding.Flags().StringArrayVar(&add.Env, "env", nil, "a `variable` of the program's environment; ${NAME} is one of yours")
	adding.Flags().StringVar(&add.URL, "url", "", "the server's `address`")
	adding.Flags().StringArrayVar(&add.Headers, "header", nil, "a `header` of each request; ${NAME} is a variable of yours")
	adding.Flags().StringVar(&add.ClientID, "client-id", "", "the `id` of a client that the server's login knows, if it registers none")
	adding.Flags().StringVar(&add.CallbackPort, "callback-port", "", "the `port` of that client's redirect address on this machine")
	adding.Flags().BoolVar(&yes, "yes", false, "replace a server of that name without asking")
	remove := &cobra.Command{
		Use: "rm name", Short: "Remove a server from the configuration, or forget your answer about one of this project", Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return removeServer(cmd.Context(), p, f, args[0]) },
	}
	withSecret := false
	login := &cobra.Command{
		Use: "login name", Short: "Log in to a server in a browser (OAuth), and keep the tokens", Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return logIn(cmd, p, f, args[0], withSecret) },
	}
	login.Flags().BoolVar(&withSecret, "client-secret", false, "ask for the secret of the client, or read it from standard input")
	logout := &cobra.Command{
		Use: "logout name", Short: "Delete the tokens of a server", Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return logOut(cmd, p, f, args[0]) },
	}
	return parent("mcp", "MCP servers, whose tools the model may call", list, adding, remove, login, logout)
}

// saveServer writes a server to the configuration. To replace one, it asks unless yes is set.
func saveServer(ctx context.Context, p Process, server settings.Server, yes bool) error {
	pairs, err := server.Pairs()
	if err != nil {
		return asUsage(err)
	}
	cfg, err := loadConfig(nil)
	if err != nil {
		return err
	}
	file, err := settings.File()
	if err != nil {
		return err
	}
	old, known := cfg.MCP[server.Name]
	if !known {
		if err := settings.SetAll(ctx, pairs); err != nil {
			return asUsage(err)
		}
		return showLine(p, "added the MCP server "+server.Name+" to "+file+"; agent mcp list tries it")
	}
	if !yes {
		remark(p, "the MCP server "+server.Name+" is already configured: "+summaryOf(old))
		if ok, err := confirmed(ctx, p, "Replace it? [y/N] "); err != nil || !ok {
			return err
		}
	}
	if err := settings.ReplaceServer(ctx, server.Name, pairs); err != nil {
		return asUsage(err)
	}
	return showLine(p, "replaced the MCP server "+server.Name+" in "+file+"; agent mcp list tries it")
}

// listServers starts all servers and shows their states.
func listServers(cmd *cobra.Command, p Process, f *flags) error {
	set, err := loadSetup(cmd.Context(), p, f, overrides(cmd.Flags(), f), false)
	if err != nil {
		return err
	}
	dir, err := setup.Folder(f.dir)
	if err != nil {
		return err
	}
	project, _, err := set.FindServers(dir)
	if err != nil {
		remark(p, fmt.Sprintf("the project's %s is not used: %v", trust.ServersFile, err))
	}
	if len(set.MCP)+len(project) == 0 {
		return show(p, "No MCP server is configured; agent mcp add --help shows how.\n")
	}
	servers := app.NewServers(app.ServerOptions{
		Config: set.Config, Dir: dir, Untrusted: set.Untrusted, Project: set.ProjectServers, Version: p.Version, Tell: func(string) {},
	})
	servers.Start(cmd.Context(), nil)
	defer servers.Close()
	servers.Settle(cmd.Context())
	states := map[string]mcp.Status{}
	for _, s := range servers.Status() {
		states[s.Name] = s
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(set.MCP)) {
		state := "not started"
		if s, ok := states[name]; ok {
			state = s.String()
		}
		if set.MCP[name].Disabled {
			state = "disabled"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, sanitize.Line(state), sanitize.Line(summaryOf(set.MCP[name])))
	}
	for _, one := range project {
		fmt.Fprintf(w, "%s\t%s\t%s, of this project\n", one.Name, sanitize.Line(serverState(one, states)), sanitize.Line(summaryOf(one.Entry)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return show(p, b.String())
}

// summaryOf names the program or the address of a server.
func summaryOf(s config.MCPServer) string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(s.Command, " ")
}

// removeServer removes a server from the configuration, or else the answer about one of the
// project.
func removeServer(ctx context.Context, p Process, f *flags, name string) error {
	missing := settings.RemoveServer(ctx, name)
	home, err := config.Home()
	if err != nil {
		return err
	}
	if missing == nil {
		return showLine(p, "removed the MCP server "+name+" from "+config.File(home))
	}
	dir, err := setup.Folder(f.dir)
	if err != nil {
		return err
	}
	was, err := trust.Open(home).ForgetServer(ctx, dir, name)
	switch {
	case err != nil:
		return err
	case !was:
		return asUsage(missing)
	}
	return showLine(p, "forgot your answer about the MCP server "+name+" of this project; agent asks again at the next start")
}

// serverState describes a server for a list. states are those of the servers that were started.
func serverState(p setup.ProjectServer, states map[string]mcp.Status) string {
	if started, ok := states[p.Name]; ok {
		return started.String()
	}
	switch p.Answer {
	case trust.Refused:
		return "refused; agent mcp rm " + p.Name + " forgets that"
	case trust.Changed:
		return "not started: it has changed since you answered; agent asks when it starts here"
	}
	return "not started: agent asks when it starts here"
}
