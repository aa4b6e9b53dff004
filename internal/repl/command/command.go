// Package command says what a slash command is: what it is called, when it may
// run and what it may come to. It guarantees that a command touches neither the
// screen nor the session while it runs: it returns a Reply, which the screen
// carries out. It knows no command of its own.
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
	Args  string // what follows it, for the reader; empty for a command without arguments
	Help  string // one line
	Group Group
	Idle  bool // it waits for the end of a turn, and prompts wait for its own
	// Run does it, beside the prompt: it may be slow, and ends early when ctx does.
	// args is what followed the name, without blanks around it. A command that
	// belongs to the screen has none.
	Run func(ctx context.Context, args string) (Reply, error)
}

// Group is the heading under which the help lists a command.
type Group string

// The groups, in the order of the help.
const (
	Sessions Group = "Sessions"
	Changes  Group = "Changes"
	Model    Group = "Model and context"
	Program  Group = "Program"
	Yours    Group = "Your own"
	Projects Group = "Of this project"
)

// Groups are the groups, in the order of the help.
var Groups = []Group{Sessions, Changes, Model, Program, Yours, Projects}

// Session is the conversation that the screen drives. Its methods are called by
// one goroutine at a time.
type Session interface {
	// Run answers a prompt; its progress arrives as events.
	Run(ctx context.Context, prompt string) error
	// Items returns the conversation so far, for drawing a resumed session.
	Items() []history.Item
}

// Reply is what a command came to. Fields that are zero do nothing; the others
// are carried out in the order in which they stand here. Texts need not be
// sanitised.
type Reply struct {
	Session Session     // replaces the session; its end is shown
	Theme   string      // of the screen from now on
	Text    string      // shown
	Diff    string      // a unified diff, shown
	Page    *pager.Page // covers the screen until the person leaves it
	Pick    *Pick
	Edit    *Edit
	Copy    string // for the clipboard, by way of the terminal (OSC 52)
	Insert  string // put into the prompt, before what is there
	Prompt  string // said to the model as if typed
}

// Pick lets the person choose one of Items.
type Pick struct {
	Title  string // "Choose a session"
	Items  []Choice
	Choose func(ctx context.Context, id string) (Reply, error)
	// Texts returns what the filter looks into beside what is shown, a text an item. It
	// is called once and may take its time; nil: there is no more.
	Texts func(ctx context.Context) []string
}

// Choice is an entry of a picker.
type Choice struct {
	ID, Title, Detail string
	Theme             string   // shown while the entry is selected; empty for none
	Cells             []string // columns at the right, of the same number in all entries
	// Preview returns what is shown below the list while the entry is selected. It
	// is called once, by the screen, and returns at once.
	Preview func() string
}

// Edit opens a text in the person's own editor. Then is called with what was
// saved, which may be the same text.
type Edit struct {
	Name string // of the file, for the editor's highlighting: "summary.md"
	Text string
	Then func(ctx context.Context, text string) (Reply, error)
}

// Cost says what a session has used.
func Cost(u llm.Usage) string {
	s := fmt.Sprintf("%s tokens in (%s cached), %s out", theme.Count(u.Input), theme.Count(u.Cached), theme.Count(u.Output))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	if u.Estimated {
		s += " (estimated: the provider reports no usage)"
	}
	return s
}

// Split takes apart a line at the prompt. ok is false for a prompt, which may
// begin with a path ("/etc/hosts").
func Split(line string) (name, args string, ok bool) {
	name, slash := strings.CutPrefix(line, "/")
	name, args, _ = strings.Cut(name, " ")
	if !slash || strings.ContainsAny(name, "/.\n") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}

// Usage is a command as the help shows it: "/undo [turn]".
func (c Command) Usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

// Sort puts commands into the order of the help: by group.
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

// Markdown lists commands for the documentation, by group.
func Markdown(list []Command) string {
	var b strings.Builder
	for _, g := range Groups {
		head := fmt.Sprintf("### %s\n\n| Command | Does |\n|---|---|\n", g)
		tail := ""
		for _, c := range list {
			if c.Group == g {
				fmt.Fprintf(&b, "%s| `%s` | %s |\n", head, strings.ReplaceAll(c.Usage(), "|", `\|`), c.Help)
				head, tail = "", "\n"
			}
		}
		b.WriteString(tail)
	}
	return b.String()
}
