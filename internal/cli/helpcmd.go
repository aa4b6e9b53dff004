package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bb2d0cf4/agent/docs"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// newHelp shows the pages of the documentation, and the help of commands.
func newHelp(p Process, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [topic]", Short: "Show a page of the documentation, or list them",
		Args: cobra.ArbitraryArgs, ValidArgs: topics(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return printLines(p, topicList(width(p)))
			}
			cmd, rest, err := root.Find(args)
			command := err == nil && cmd != root
			text, ok := docs.Page(args[0])
			switch {
			case ok && len(args) == 1:
				if command {
					text += "\n`agent " + args[0] + " --help` shows the options of the command.\n"
				}
				return printLines(p, markdown.Page(text, markdown.Options{Width: width(p), NoColor: plainOutput(p)}))
			case command && len(rest) == 0:
				return cmd.Help()
			case command:
				return noCommand(cmd, rest[0])
			}
			return usagef("no page and no command %q%s; agent help lists the pages, agent --help the commands",
				strings.Join(args, " "), meant(nearest.Name(args[0], append(topics(), names(root)...))))
		},
	}
}

func topics() (all []string) {
	for _, t := range docs.Topics {
		all = append(all, t.Name)
	}
	return all
}

// topicList lists the pages.
func topicList(width int) []string {
	rows := make([][2]string, len(docs.Topics))
	for i, t := range docs.Topics {
		rows[i] = [2]string{t.Name, t.About}
	}
	lines := append([]string{"agent help TOPIC shows a page of the documentation:", ""}, theme.Columns(rows, "  ", width)...)
	return append(lines, "", "agent --help lists the commands and options.")
}

// maxWidth is the width of a page in a wide terminal.
const maxWidth = 100

// width returns the width of the output.
func width(p Process) int {
	if w, _, err := term.GetSize(int(p.Stdout.Fd())); err == nil && w > 0 {
		return min(w, maxWidth)
	}
	return 80
}

// plainOutput reports whether the output has no colors.
func plainOutput(p Process) bool {
	kind := os.Getenv("TERM")
	return !isTerminal(p.Stdout) || os.Getenv("NO_COLOR") != "" || kind == "" || kind == "dumb"
}

func printLines(p Process, lines []string) error {
	_, err := fmt.Fprintln(p.Stdout, strings.Join(lines, "\n"))
	return err
}
