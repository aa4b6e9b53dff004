package archive

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Export writes a conversation as Markdown. Tool results are quoted whole; the
// text is as the model and the tools wrote it and is not safe for a terminal.
func Export(w io.Writer, info Info, messages []llm.Message) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n", orElse(info.Title, "Session"))
	fmt.Fprintf(b, "Session `%s`, begun %s in `%s` with %s.\n",
		info.ID, info.Created.Format(time.RFC3339), info.Dir, orElse(info.Model, "an unknown model"))
	for _, m := range messages {
		exportMessage(b, m)
	}
	return b.Flush()
}

func exportMessage(b *bufio.Writer, m llm.Message) {
	switch m.Role {
	case llm.User:
		fmt.Fprintf(b, "\n## You\n\n%s\n", m.Text())
	case llm.ToolReply:
		fmt.Fprintf(b, "\n**Result**\n\n%s\n", fenced("", m.Text()))
	case llm.Assistant:
		if text := m.Text(); text != "" {
			fmt.Fprintf(b, "\n## Model\n\n%s\n", text)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(b, "\n**Call** `%s`\n\n%s\n", c.Name, fenced("json", c.Args))
		}
	}
}

// fenced returns text as a code block whose fence is longer than any run of
// backticks in text.
func fenced(lang, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
