package tools

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

//go:embed *.md
var docs embed.FS

// tool is a Tool whose arguments are an A.
type tool[A any] struct {
	spec   llm.ToolSpec
	params []args.Param
	title  func(a A) string
	run    func(ctx context.Context, call Call, a A) (Result, error)
	asks   func(a A) []Foreseen // nil if the tool asks nothing
}

// newTool returns the tool with the given name. The file name.md describes it.
func newTool[A any](name string, params []args.Param, title func(A) string, run func(context.Context, Call, A) (Result, error)) *tool[A] {
	doc, err := docs.ReadFile(name + ".md")
	if err != nil {
		doc = []byte(name) // impossible: the tests read them all
	}
	spec := llm.ToolSpec{
		Name: name, Description: strings.TrimSpace(string(doc)), Schema: json.RawMessage(args.Schema(params)),
	}
	return &tool[A]{spec: spec, params: params, title: title, run: run}
}

// brief leaves out of the schema the words that Call gives anyway: that there are no other keys.
func (t *tool[A]) brief() *tool[A] {
	t.spec.Schema = bytes.Replace(t.spec.Schema, []byte(`,"additionalProperties":false`), nil, 1)
	return t
}

// reads marks t as a tool that changes nothing.
func (t *tool[A]) reads() Tool {
	t.spec.Reads = true
	return t
}

// delegates marks t as a tool whose calls are the work of sub-agents.
func (t *tool[A]) delegates() Tool {
	t.spec.Delegates = true
	return t
}

// foresees sets the function that returns the questions of a call.
func (t *tool[A]) foresees(asks func(A) []Foreseen) *tool[A] {
	t.asks = asks
	return t
}

// foresee implements foreseer.
func (t *tool[A]) foresee(raw json.RawMessage) []Foreseen {
	a, _, err := args.Read[A](t.params, raw)
	if err != nil || t.asks == nil {
		return nil
	}
	return t.asks(a)
}

// arguments implements reading.
func (t *tool[A]) arguments(raw json.RawMessage) (json.RawMessage, error) {
	a, _, err := args.Read[A](t.params, raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// Spec implements Tool.
func (t *tool[A]) Spec() llm.ToolSpec { return t.spec }

// Title implements Tool.
func (t *tool[A]) Title(raw json.RawMessage) string {
	a, _, err := args.Read[A](t.params, raw)
	if err != nil {
		return t.spec.Name
	}
	return t.title(a)
}

// Call implements Tool.
func (t *tool[A]) Call(ctx context.Context, call Call) (Result, error) {
	a, left, err := args.Read[A](t.params, call.Args)
	if err != nil {
		return toolcall.Failed("%s was not run: %w.", t.spec.Name, err), nil
	}
	res, err := t.run(ctx, call, a)
	res.Record.What = t.title(a)
	if len(left) > 0 && err == nil {
		res.ForModel += fmt.Sprintf("\n[left out, since %s has no such key: %s]", t.spec.Name, strings.Join(left, ", "))
	}
	return res, err
}

// orDefault returns the value of an optional argument.
func orDefault[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

// withPath returns the end of a title that names a file or folder, or "" for the main
// one.
func withPath(word, path string) string {
	if path == "" || path == "." {
		return ""
	}
	return " " + word + " " + path
}
