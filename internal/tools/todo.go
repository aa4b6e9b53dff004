package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// TodoItem is a step of the model's plan.
type TodoItem struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress or completed
}

// maxTodo is the number of items of a list.
const maxTodo = 100

type todoArgs struct {
	Items []TodoItem `json:"items"`
}

var todoFacts = Facts{Name: "todo", Kind: KindThink, Hook: "TodoWrite", Names: []string{"TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"}, Mistaken: []string{"updateplan"}}

func todo() Tool {
	params := []args.Param{{
		Name: "items", Required: true, Members: []string{"content", "status"},
		Schema: `{"type":"array","items":{"type":"object","properties":{"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["content","status"]}}`,
	}}
	return newTool(todoFacts.Name, params,
		func(a todoArgs) string {
			return fmt.Sprintf("Plan: %d of %d done", count(a.Items, "completed"), len(a.Items))
		},
		func(_ context.Context, _ Call, a todoArgs) (Result, error) {
			if err := checkTodo(a.Items); err != nil {
				return toolcall.Failed("todo was not changed: %w.", err), nil
			}
			return Result{
				ForModel: fmt.Sprintf("Noted: %d pending, %d in progress, %d completed.",
					count(a.Items, "pending"), count(a.Items, "in_progress"), count(a.Items, "completed")),
				ForUser: Checklist(a.Items),
			}, nil
		})
}

// LastTodo returns the model's latest list in a conversation, which has its
// only copy.
func LastTodo(messages []llm.Message) []TodoItem {
	for _, m := range slices.Backward(messages) {
		for _, c := range slices.Backward(m.Calls) {
			var a todoArgs
			if c.Name == "todo" && json.Unmarshal([]byte(c.Args), &a) == nil && a.Items != nil && checkTodo(a.Items) == nil {
				return a.Items
			}
		}
	}
	return nil
}

func checkTodo(items []TodoItem) error {
	if len(items) > maxTodo {
		return fmt.Errorf("%d items are too many, the limit is %d", len(items), maxTodo)
	}
	for i, item := range items {
		if mark(item.Status) == "" {
			return fmt.Errorf("the status of item %d is %q: it has to be pending, in_progress or completed", i+1, item.Status)
		}
		if strings.TrimSpace(item.Content) == "" {
			return fmt.Errorf("item %d has no content", i+1)
		}
	}
	return nil
}

func count(items []TodoItem, status string) int {
	n := 0
	for _, item := range items {
		if item.Status == status {
			n++
		}
	}
	return n
}

// Checklist formats the items, one per line.
func Checklist(items []TodoItem) string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = mark(item.Status) + " " + toolcall.OneLine(item.Content, toolcall.MaxTitle)
	}
	return strings.Join(lines, "\n")
}

func mark(status string) string {
	switch status {
	case "pending":
		return "☐"
	case "in_progress":
		return "▸"
	case "completed":
		return "☑"
	}
	return ""
}
