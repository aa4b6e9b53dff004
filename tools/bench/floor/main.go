// Command floor does the rounds of a benchmark and nothing else: the minimum for a Go
// program that talks to a model, reads, edits, searches and runs commands. It keeps no
// session, asks nobody and syncs no file.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
			Calls   []call `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

type args struct {
	Path, Command, Regex string
	Old                  string `json:"old_string"`
	New                  string `json:"new_string"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("floor")
		return
	}
	out := bufio.NewWriter(os.Stdout)
	err := converse(os.Args[len(os.Args)-1], out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		log.Fatal(err)
	}
}

func converse(prompt string, out *bufio.Writer) error {
	history := []message{{Role: "system", Content: "You are a coding agent."}, {Role: "user", Content: prompt}}
	for {
		answer, err := ask(history, out)
		if err != nil || len(answer.Calls) == 0 {
			return err
		}
		history = append(history, answer)
		for _, c := range answer.Calls {
			history = append(history, message{Role: "tool", CallID: c.ID, Content: perform(c)})
		}
	}
}

var toolList = func() []any {
	var list []any
	for _, name := range []string{"read_file", "edit_file", "execute_command", "search_files"} {
		f := map[string]any{"name": name, "description": name, "parameters": map[string]any{"type": "object"}}
		list = append(list, map[string]any{"type": "function", "function": f})
	}
	return list
}()

func ask(history []message, out *bufio.Writer) (message, error) {
	body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "tools": toolList, "messages": history})
	if err != nil {
		return message{}, err
	}
	resp, err := http.Post(os.Getenv("OPENAI_BASE_URL")+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	defer resp.Body.Close()
	answer := message{Role: "assistant"}
	var text strings.Builder
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
			var c chunk
			if err := json.Unmarshal(append([]byte("{"), data...), &c); err != nil {
				return message{}, err
			}
			for _, choice := range c.Choices {
				text.WriteString(choice.Delta.Content)
				out.WriteString(choice.Delta.Content) //nolint:errcheck // Flush reports it
				answer.Calls = append(answer.Calls, choice.Delta.Calls...)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return message{}, err
		}
	}
	answer.Content = text.String()
	return answer, nil
}

func perform(c call) string {
	var a args
	if err := json.Unmarshal([]byte(c.Function.Arguments), &a); err != nil {
		return err.Error()
	}
	var out []byte
	var err error
	switch c.Function.Name {
	case "read_file":
		out, err = os.ReadFile(a.Path)
	case "edit_file":
		if out, err = os.ReadFile(a.Path); err == nil {
			out = bytes.Replace(out, []byte(a.Old), []byte(a.New), 1)
			err = os.WriteFile(a.Path, out, 0o644)
		}
		out = []byte("edited")
	case "execute_command":
		out, err = exec.Command("/bin/sh", "-c", a.Command).CombinedOutput()
	case "search_files":
		out, err = exec.Command("rg", "-n", a.Regex, ".").CombinedOutput()
	}
	if err != nil {
		return err.Error()
	}
	return string(out)
}
