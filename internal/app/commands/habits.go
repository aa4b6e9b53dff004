package commands

import (
	"context"
	"slices"

	"github.com/bb2d0cf4/agent/internal/app/command"
)

// Served has the commands that are not in the list: the prompts of the MCP servers, and names that
// people know from elsewhere. Those are not listed, and a person's own command with such a name comes first.
type Served struct {
	ServerPrompts
	Listed []command.Command // of the program
}

// Find returns a prompt of a server, or the meaning of a name from elsewhere.
func (s Served) Find(name string) (command.Command, bool) {
	if c, ok := s.ServerPrompts.Find(name); ok {
		return c, true
	}
	h, ok := habits[name]
	if !ok {
		return command.Command{}, false
	}
	c := command.Command{Name: name}
	i := slices.IndexFunc(s.Listed, func(c command.Command) bool { return c.Name == h.runs })
	if i < 0 {
		c.Run = func(_ context.Context, args string) (command.Reply, error) {
			if h.asks != "" && args != "" {
				return command.Reply{Text: "Send this prompt, and the model proposes it as an edit:", Insert: h.asks + args}, nil
			}
			return command.Reply{Text: h.says, Insert: h.types}, nil
		}
		return c, true
	}
	c.Idle = s.Listed[i].Idle
	c.Run = func(ctx context.Context, args string) (command.Reply, error) {
		return s.Listed[i].Run(ctx, h.args+args)
	}
	return c, true
}

// habit is the meaning of a name from elsewhere: a command with the beginning of its arguments, or a sentence,
// and a text for the prompt; asks is such a text that ends in the arguments.
type habit struct{ runs, args, says, types, asks string }

// habits are names of other programs' commands.
var habits = map[string]habit{
	"new":    {runs: "clear"},
	"exit":   {says: "/quit or Ctrl+D exits."},
	"jobs":   {runs: "tasks"},
	"agents": {says: "Sub-agents are Markdown files in .agent/agents of a project, or in agents of your own folder (agent help subagents). /tasks shows those that are running."},
	"status": {runs: "doctor"},
	"usage":  {says: "/cost shows the tokens and the cost so far, /context what fills the model's context."},
	"memory": {
		says: "The model reads the AGENTS.md files of the project and of your own folder. /context lists those in use, /init writes one, and # TEXT adds a line.",
		asks: "Add this line to AGENTS.md, and change nothing else: ",
	},
	"review":   {says: "Change this prompt and send it:", types: "Review the uncommitted changes for mistakes; change nothing. "},
	"hooks":    {says: "Hooks are in config.yaml, or in .agent/hooks.json of a project (agent help hooks). /doctor counts those in use."},
	"skills":   {says: "Skills are folders with a SKILL.md in .agent/skills of a project, or in skills of your own folder (agent help skills). /help lists them among your own commands."},
	"login":    {says: "Run `agent config model` in a shell to enter a key, or `agent mcp login NAME` to log in to an MCP server."},
	"logout":   {says: "Run `agent config model` in a shell to change a key, or `agent mcp logout NAME` to log out of an MCP server."},
	"effort":   {runs: "model", args: "effort="},
	"settings": {runs: "config"},
	"todos":    {runs: "todo"},
	"add-dir":  {says: "Start with --add-dir FOLDER to work in a further folder."},
	"vim":      {says: "Run `agent config set interface.input vim` in a shell; it takes effect at the next start."},
}
