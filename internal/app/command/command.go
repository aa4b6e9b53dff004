// Package command defines slash commands. It guarantees that a command touches neither the
// screen nor the session while it runs: it returns a Reply, which the screen carries out. It
// knows no specific command.
package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Command is a slash command.
type Command struct {
	Name  string // without the slash
	Args  string // arguments for the help; empty if it takes none
	Help  string // one line
	Group Group
	Idle  bool // waits for the end of a turn, and prompts wait for it
	Slow  bool // may take long beside a turn: the key that stops things stops it first
	// Run executes the command in the background: it may be slow, and must return early when
	// ctx ends. args has no surrounding blanks. Commands of the screen itself have no Run.
	Run func(ctx context.Context, args string) (Reply, error)
}

// Group is a heading of the help.
type Group string

// The groups, in the order of the help.
const (
	Sessions Group = "Sessions"
	Changes  Group = "Changes"
	Model    Group = "Model and context"
	Program  Group = "Program"
	Yours    Group = "Your own"
	Projects Group = "This project's"
	Servers  Group = "Prompts of MCP servers"
)

// Groups lists the groups in the order of the help.
var Groups = []Group{Sessions, Changes, Model, Program, Yours, Projects, Servers}

// Source has commands that come and go, such as the prompts of MCP servers. Its methods are
// safe for concurrent use, and return at once.
type Source interface {
	List() []Command
	// Find returns the command with a name. It may know more than it lists.
	Find(name string) (c Command, ok bool)
}

// All returns list and the commands of src, which may be nil, sorted as in the help.
func All(list []Command, src Source) []Command {
	if src == nil {
		return list
	}
	return Sort(append(list[:len(list):len(list)], src.List()...))
}

// Session is the conversation behind the screen. Its methods are not called concurrently.
type Session interface {
	// Run answers a prompt; it emits events as it progresses.
	Run(ctx context.Context, prompt string) error
	// Items returns the conversation so far, to print a resumed session.
	Items() []history.Item
	// Describe describes a call in one short line and with all of its text, at any time.
	Describe(llm.ToolCall) (line, whole string)
}

// Reply is the result of a command. Zero fields do nothing; the others are carried out in
// order. Texts need not be sanitized.
type Reply struct {
	Session Session     // replaces the session and prints its end
	Theme   string      // becomes the theme of the screen
	Text    string      // printed
	Marked  bool        // Text is Markdown
	Diff    string      // a unified diff, printed
	Page    *pager.Page // covers the screen until the person leaves it
	Pick    *Pick
	Edit    *Edit
	Copy    string // copied to the clipboard by the terminal (OSC 52)
	Insert  string // inserted at the start of the prompt
	Prompt  string // sent to the model as if typed
}

// Pick lets the person choose one of Items.
type Pick struct {
	Title  string // "Choose a session"
	Items  []Choice
	Choose func(ctx context.Context, id string) (Reply, error)
	// Texts returns more text to filter by, one per item. It is called once and may be slow;
	// nil for none.
	Texts func(ctx context.Context) []string
}

// Choice is an entry of a picker.
type Choice struct {
	ID, Title, Detail string
	Theme             string   // previewed while the entry is selected; empty for none
	Cells             []string // columns on the right, the same number in every entry
	// Preview returns the text below the list while the entry is selected. It is called once,
	// and must return at once.
	Preview func() string
}

// Edit opens a text in the person's editor. It calls Then with the saved text, even if
// unchanged.
type Edit struct {
	Name string // of the file, for the editor's highlighting: "summary.md"
	Text string
	Then func(ctx context.Context, text string) (Reply, error)
}

// Typed parses a line typed at the prompt, as Split does; "# text" is "/memory text", unless it is a
// heading above further lines.
func Typed(line string) (name, args string, ok bool) {
	if text, found := strings.CutPrefix(line, "# "); found && !strings.Contains(line, "\n") {
		return "memory", strings.TrimSpace(text), true
	}
	return Split(line)
}

// Split parses a line of the prompt. ok is false for a prompt, which may begin with a path
// ("/etc/hosts").
func Split(line string) (name, args string, ok bool) {
	name, slash := strings.CutPrefix(line, "/")
	name, args, _ = strings.Cut(name, " ")
	if !slash || strings.ContainsAny(name, "/.\n") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}

// Usage returns the command as in the help: "/undo [turn]".
func (c Command) Usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

// Sort sorts commands by group, as in the help.
func Sort(list []Command) []Command {
	slices.SortStableFunc(list, func(a, b Command) int {
		return cmp.Compare(slices.Index(Groups, a.Group), slices.Index(Groups, b.Group))
	})
	return list
}

// Help lists commands by group, in lines of at most width columns.
func Help(list []Command, width int) string {
	var b strings.Builder
	for _, g := range Groups {
		var rows [][2]string
		for _, c := range list {
			if c.Group == g {
				rows = append(rows, [2]string{c.Usage(), c.Help})
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "%s\n%s\n", g, strings.Join(theme.Columns(rows, "  ", width), "\n"))
		}
	}
	return b.String()
}
