package commands

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// answers are the commands about the model's answers.
type answers struct{ *Set }

func (a answers) list() []command.Command {
	return []command.Command{
		{Name: "btw", Args: "question", Help: "ask a side question, which stays out of the conversation", Group: command.Model, Slow: true, Run: a.aside},
		{Name: "todo", Help: "show the model's to-do list", Group: command.Model, Run: a.todo},
		{Name: "copy", Args: "[n]", Help: "copy the last answer, or its n-th code block", Group: command.Sessions, Run: a.copy},
	}
}

// messages returns the conversation on disk, which a running turn does not change.
func (a answers) messages() ([]llm.Message, error) {
	_, conv, err := a.App.Archive.Read(a.App.Current().ID())
	if errors.Is(err, archive.ErrNoSession) {
		return nil, nil
	}
	return conv.Messages(), err
}

// aside answers a side question, set apart as a quotation.
func (a answers) aside(ctx context.Context, question string) (command.Reply, error) {
	if question == "" {
		return command.Reply{}, errors.New("/btw QUESTION asks about the conversation, and leaves the question and its answer out of it")
	}
	text, err := a.App.Aside(ctx, question)
	if err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: "Not part of the conversation:\n\n> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n", Marked: true}, nil
}

func (a answers) todo(context.Context, string) (command.Reply, error) {
	messages, err := a.messages()
	if err != nil {
		return command.Reply{}, err
	}
	items := tools.LastTodo(messages)
	if len(items) == 0 {
		return command.Reply{Text: "No to-do list yet."}, nil
	}
	return command.Reply{Text: tools.Checklist(items)}, nil
}

// maxClip is how many bytes terminals accept for the clipboard, in base64.
const maxClip = 100_000

// copy copies the last text of the model, or a block of code of the answer that it ends.
func (a answers) copy(ctx context.Context, which string) (command.Reply, error) {
	messages, err := a.messages()
	if err != nil {
		return command.Reply{}, err
	}
	text, what, err := choose(lastAnswer(messages), which)
	if err != nil {
		return command.Reply{}, err
	}
	tool, err := a.App.Clipboard(shell.Environ(os.Environ(), a.App.Config.SecretEnv(), a.App.Config.EnvKeep...)).Write(ctx, text)
	long := base64.StdEncoding.EncodedLen(len(text)) > maxClip
	reply := command.Reply{Text: "Copied " + what + " (" + lines(text) + ")"}
	switch {
	case err != nil && long, tool == "" && long:
		return command.Reply{}, errors.Join(err, fmt.Errorf("the text is too long to copy through the terminal (OSC 52): more than %d bytes in base64; /export writes the conversation to a file", maxClip))
	case long:
		reply.Text += " with " + tool + "."
		return reply, nil
	case tool != "":
		reply.Text += " with " + tool + ", and through the terminal (OSC 52)."
	default:
		reply.Text += " through the terminal (OSC 52), if it allows that."
	}
	if err != nil {
		reply.Text += "\n" + err.Error()
	}
	reply.Copy = text
	return reply, nil
}

// lastAnswer returns the texts of the last answer; calls of tools separate them.
func lastAnswer(messages []llm.Message) []string {
	var texts []string
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.User && len(texts) > 0 {
			break
		}
		if m.Role != llm.Assistant {
			continue
		}
		if text := strings.TrimSpace(m.Text()); text != "" {
			texts = append(texts, text+"\n")
		}
	}
	slices.Reverse(texts)
	return texts
}

// choose returns the text to copy and a name for it.
func choose(answer []string, which string) (text, what string, err error) {
	switch {
	case len(answer) == 0:
		return "", "", errors.New("there is no answer to copy yet")
	case which == "":
		return answer[len(answer)-1], "the last answer", nil
	}
	var all []string
	for _, text := range answer {
		all = append(all, codeBlocks(text)...)
	}
	n, err := strconv.Atoi(which)
	switch {
	case err != nil || n < 1:
		return "", "", errors.New("/copy copies the last answer, /copy 2 its second code block")
	case len(all) == 0:
		return "", "", errors.New("the last answer has no code block")
	case n > len(all):
		return "", "", fmt.Errorf("the last answer has no code block %d: the last is %d", n, len(all))
	}
	return all[n-1], "block " + which, nil
}

// lines counts the lines of text.
func lines(text string) string {
	n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// codeBlocks returns the texts between code fences. An unclosed fence reaches to the end.
func codeBlocks(markdown string) []string {
	var all []string
	var block strings.Builder
	fence, indent := "", 0
	for line := range strings.Lines(markdown) {
		body := strings.TrimLeft(line, " ")
		mark := leading(body)
		switch rest := strings.TrimSpace(body[len(mark):]); {
		case fence == "" && len(mark) >= 3 && !strings.ContainsRune(rest, '`'):
			fence, indent = mark, len(line)-len(body)
		case fence == "":
		case strings.HasPrefix(mark, fence) && rest == "":
			all = append(all, block.String())
			block.Reset()
			fence = ""
		default:
			block.WriteString(unindent(line, indent))
		}
	}
	if fence != "" && block.Len() > 0 {
		all = append(all, block.String())
	}
	return all
}

// leading returns the run of ` or ~ at the start of a line.
func leading(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}

// unindent removes the indentation of the fence, at most n blanks.
func unindent(line string, n int) string {
	for ; n > 0 && strings.HasPrefix(line, " "); n-- {
		line = line[1:]
	}
	return line
}
