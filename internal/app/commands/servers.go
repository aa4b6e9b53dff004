package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/trust"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// maxDescription is the number of bytes of a tool's description that are shown.
const maxDescription = 200

// servers holds the command about MCP servers.
type servers struct{ *Set }

func (s servers) list() []command.Command {
	return []command.Command{{
		Name: "mcp", Args: "[server | reconnect server | rm server]", Help: "show the MCP servers and their tools, restart one, or forget one of the project's",
		Group: command.Model, Run: s.run,
	}}
}

// run shows all servers, shows one with its tools, or connects one again.
func (s servers) run(ctx context.Context, args string) (command.Reply, error) {
	if args == "reconnect" || args == "rm" {
		return command.Reply{}, fmt.Errorf("which MCP server? Type /mcp %s SERVER; /mcp lists them", args)
	}
	if name, ok := strings.CutPrefix(args, "reconnect "); ok {
		name = strings.TrimSpace(name)
		if err := s.App.Servers.Reconnect(ctx, name); err != nil {
			return command.Reply{}, err
		}
		return command.Reply{Text: name + " is connected."}, nil
	}
	if name, ok := strings.CutPrefix(args, "rm "); ok {
		return s.remove(ctx, strings.TrimSpace(name))
	}
	all := s.App.Servers.Status()
	if args != "" {
		i := slices.IndexFunc(all, func(st mcp.Status) bool { return st.Name == args })
		if i < 0 {
			return command.Reply{}, fmt.Errorf("no MCP server %q is configured", args)
		}
		return command.Reply{Text: s.describe(all[i])}, nil
	}
	if len(all) == 0 {
		return command.Reply{Text: "No MCP server is configured. To add one, run agent mcp add in a shell."}, nil
	}
	var rows [][]string
	for _, st := range all {
		rows = append(rows, []string{clip.Line(st.Name), clip.Line(st.String())})
	}
	return command.Reply{Text: strings.Join(theme.Table(rows), "\n") + "\n\n/mcp SERVER lists its tools; /mcp reconnect SERVER starts it again."}, nil
}

// remove ends a server of the project, and forgets the person's answer about it.
func (s servers) remove(ctx context.Context, name string) (command.Reply, error) {
	was, err := trust.Open(s.App.Config.Home).ForgetServer(ctx, s.App.Root.Dir(), name)
	if err != nil {
		return command.Reply{}, err
	}
	if !was {
		return command.Reply{}, fmt.Errorf("you have not allowed or refused an MCP server %q of this project; to remove one of your own, run agent mcp rm in a shell", name)
	}
	if err := s.App.Servers.Stop(ctx, name); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: name + " has stopped; the next start asks again."}, nil
}

// describe lists a server's tools and names its log.
func (s servers) describe(st mcp.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", st.Name, st)
	if st.Log != "" {
		fmt.Fprintf(&b, "It prints errors to %s\n", st.Log)
	}
	for _, t := range s.App.Servers.Tools() {
		if t.Server == st.Name {
			first, _, _ := strings.Cut(t.Spec.Description, "\n")
			fmt.Fprintf(&b, "\n%s: %s", t.Spec.Name, archive.Clip(first, maxDescription))
		}
	}
	return b.String()
}
