package archive

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Export writes a conversation as Markdown: all messages that were not rewound,
// including compacted ones. It quotes tool results completely. The text is as the model
// and the tools wrote it and is not safe for a terminal.
func Export(w io.Writer, info Info, conv Conversation) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n", cmp.Or(info.Title, "Session"))
	fmt.Fprintf(b, "Session `%s`, begun %s in `%s` with %s.\n",
		info.ID, info.Created.Format(time.RFC3339), info.Dir, cmp.Or(info.Model, "an unknown model"))
	chat, _, _ := history.Rebuild(conv.Entries)
	after := summaries(conv)
	for _, it := range chat.Items() {
		exportTask(b, it.Task)
		exportMessage(b, it.Message)
		for _, d := range it.DeedsAfter {
			fmt.Fprintf(b, "\n**Without the model**\n\n%s\n", history.Fenced("", d.What+"\n"+d.Result))
		}
		if summary, ok := after[it.N]; ok {
			fmt.Fprintf(b, "\n---\n\n**Compacted**: from here on the model was told, of what is above:\n\n%s\n\n---\n", quoted(summary))
		}
	}
	return b.Flush()
}

// summaries returns the summaries of compactions by the message that they follow.
func summaries(conv Conversation) map[int]string {
	after, told := map[int]string{}, ""
	for _, e := range conv.Entries {
		if c := e.Compaction; c.Replaces() && c.Text != told {
			after[c.Last], told = c.Summary, c.Text
		}
	}
	return after
}

// exportTask writes the conversation of a sub-agent, if there was one.
func exportTask(b *bufio.Writer, t *history.Task) {
	if t == nil {
		return
	}
	var inner strings.Builder
	w := bufio.NewWriter(&inner)
	for _, m := range t.Messages {
		exportMessage(w, m)
	}
	_ = w.Flush() // a strings.Builder takes everything
	fmt.Fprintf(b, "\n**Sub-agent**\n\n%s\n", quoted(strings.TrimSpace(inner.String())))
}

func exportMessage(b *bufio.Writer, m llm.Message) {
	switch m.Role {
	case llm.User:
		fmt.Fprintf(b, "\n## You\n\n%s\n", m.Text())
	case llm.ToolReply:
		fmt.Fprintf(b, "\n**Result**\n\n%s\n", history.Fenced("", m.Text()))
	case llm.Assistant:
		if text := m.Text(); text != "" {
			fmt.Fprintf(b, "\n## Model\n\n%s\n", text)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(b, "\n**Call** `%s`\n\n%s\n", c.Name, readable(c))
		}
	case llm.System: // not part of a conversation
	}
}

// readable returns the arguments of a call for people: a command as it is run, with its other
// arguments below it, and anything else as JSON.
func readable(c llm.ToolCall) string {
	var args map[string]json.RawMessage
	var line string
	if c.Name != "execute_command" || json.Unmarshal([]byte(c.Args), &args) != nil || json.Unmarshal(args["command"], &line) != nil {
		return history.Fenced("json", plainJSON.Replace(c.Args))
	}
	text := history.Fenced("sh", line)
	delete(args, "command")
	if others, err := json.Marshal(args); err == nil && len(args) > 0 {
		text += "\n\n" + history.Fenced("json", plainJSON.Replace(string(others)))
	}
	return text
}

// plainJSON writes the characters <, > and & in JSON as themselves; many programs, with Go's
// encoder, escape them for HTML. It skips escaped backslashes.
var plainJSON = strings.NewReplacer(`\\`, `\\`,
	`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\u0026`, "&")

// exported is a session as JSON. Other programs read it: fields are only ever added.
type exported struct {
	ID      string          `json:"id"`
	From    string          `json:"fork_of,omitempty"`
	Title   string          `json:"title"`
	Dir     string          `json:"dir"`
	Model   string          `json:"model"`
	Branch  string          `json:"branch,omitempty"`
	Created time.Time       `json:"created"`
	Usage   llm.Usage       `json:"usage"`
	Entries []exportedEntry `json:"entries"`
}

// exportedEntry is a step of a session: a message, an act of the user without the model
// after message N, or a compaction.
type exportedEntry struct {
	Kind    string          `json:"kind"`
	N       int             `json:"n,omitempty"`
	Role    llm.Role        `json:"role,omitempty"`
	Text    string          `json:"text,omitempty"`
	Calls   []exportedCall  `json:"calls,omitempty"`
	CallID  string          `json:"call_id,omitempty"`
	At      *time.Time      `json:"at,omitempty"`
	Did     *history.Deed   `json:"did,omitempty"`
	Task    []exportedEntry `json:"task,omitempty"` // the messages of the sub-agent that carried the call out
	Pinned  bool            `json:"pinned,omitempty"`
	Gone    bool            `json:"taken_back,omitempty"` // by a rewind
	Before  int             `json:"before,omitempty"`     // of a compaction: messages with lower numbers
	Summary string          `json:"summary,omitempty"`
}

type exportedCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// ExportJSON writes the complete content of a session's file as one JSON object,
// including rewound messages.
func ExportJSON(w io.Writer, info Info, conv Conversation) error {
	out := exported{
		ID: info.ID, From: info.From, Title: info.Title, Dir: info.Dir, Model: info.Model, Branch: info.Branch,
		Created: info.Created, Usage: conv.Usage, Entries: []exportedEntry{},
	}
	n := 0
	for _, e := range conv.Entries {
		switch {
		case e.Item != nil:
			n = max(n+1, e.Item.N)
			out.Entries = append(out.Entries, exportItem(*e.Item, n))
		case e.Act != nil:
			out.Entries = append(out.Entries, exportedEntry{Kind: "act", N: e.Act.After, Did: &e.Act.Deed})
		case e.Compaction != nil:
			out.Entries = append(out.Entries, exportedEntry{Kind: "compaction", Before: e.Compaction.Before, Summary: e.Compaction.Summary})
		case e.Rewind != nil:
			for i := range out.Entries {
				out.Entries[i].Gone = out.Entries[i].Gone || out.Entries[i].N >= e.Rewind.Before
			}
		case e.Pin != nil:
			for i := range out.Entries {
				if out.Entries[i].Kind == "message" && out.Entries[i].N == e.Pin.N {
					out.Entries[i].Pinned = e.Pin.On
				}
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func exportItem(it history.Item, n int) exportedEntry {
	e := exportedEntry{Kind: "message", N: n, Role: it.Message.Role, Text: it.Message.Text(), CallID: it.Message.CallID, Did: it.Deed}
	if !it.At.IsZero() {
		e.At = &it.At
	}
	if it.Task != nil {
		for _, m := range it.Task.Messages {
			e.Task = append(e.Task, exportItem(history.Item{Message: m}, 0))
		}
	}
	for _, c := range it.Message.Calls {
		e.Calls = append(e.Calls, exportedCall{c.ID, c.Name, json.RawMessage(c.Args)})
	}
	return e
}

// quoted returns text as a Markdown quotation.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }
