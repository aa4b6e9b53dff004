package tools

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Asker decides whether something may be done. confirm.Controller is one.
type Asker interface {
	Ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error)
}

// Commands runs command lines. shell.Jobs is one.
type Commands interface {
	Run(ctx context.Context, opts shell.Options) (shell.Result, error)
	Start(opts shell.Options) (shell.Job, error)
	Kill(id string) (output string, err error)
}

// Deps is what the tools work with.
type Deps struct {
	Root *workspace.Root
	Ask  Asker
	// Buffers and Reports are of the editor that is connected at the time; nil where
	// there cannot be one.
	Buffers Buffers
	Reports Reports
	Writes  Writes
	Jobs    Commands
	// Background is nil where nobody wants to hear of ended commands.
	Background Background
	Env        []string // the whole environment of commands
	// SpillDir returns the folder for output that is too long for the model. The
	// caller allows the model to read it there.
	SpillDir func() string
	// Session returns the session in use, which groups changes for undo.
	Session func() string
	Home    string // the program's own folder, which is protected; may be empty
	// Ripgrep is the path of rg; empty means the one on PATH, if any.
	Ripgrep string

	late *late // set by NewSet
}

// Set is all tools. Its calls are made one at a time, by one goroutine.
type Set struct {
	tools []Tool
	specs []llm.ToolSpec
	watch *watch
	late  *late
}

//go:embed *.md
var docs embed.FS

// NewSet returns the tools. The caller keeps ownership of what is in d.
func NewSet(d Deps) *Set {
	if home, err := filepath.EvalSymlinks(d.Home); err == nil { // as the paths are that it is compared with
		d.Home = home
	}
	d.late = &late{w: writer{Deps: d}}
	s := &Set{watch: &watch{d.Background, map[string]bool{}}, late: d.late}
	s.tools = []Tool{
		readFile(d), listFiles(d), findFiles(d), searchFiles(d),
		writeFile(d), editFile(d), editLines(d), appendFile(d), regexReplace(d), patchFile(d),
		executeCommand(d, s.watch), getDiagnostics(d), todo(),
	}
	for _, t := range s.tools {
		s.specs = append(s.specs, t.Spec())
	}
	return s
}

// Specs describes the tools to a model, always in the same order and words. The
// caller does not change them.
func (s *Set) Specs() []llm.ToolSpec { return s.specs }

// Title describes a call in one line for the user. It is not safe to show before
// it is sanitised.
func (s *Set) Title(name string, args json.RawMessage) string {
	if t := s.find(name); t != nil {
		return t.Title(args)
	}
	return name
}

// Call runs the tool with the given name. A tool that does not exist and one
// that panics give a failed Result; an error means that the turn cannot go on.
func (s *Set) Call(ctx context.Context, name string, call Call) (res Result, err error) {
	t := s.find(name)
	if t == nil {
		return s.unknown(name), nil
	}
	defer func() {
		if p := recover(); p != nil {
			res, err = failed("%s broke down: %v. This is a defect of the program, not of the call; what it has done so far is not known.\n%s",
				name, p, origin(debug.Stack())), nil
		}
	}()
	res, err = t.Call(ctx, call)
	if err == nil {
		res.ForModel += s.late.news(ctx)
		res.Ended = s.watch.news()
		for _, e := range res.Ended {
			res.ForModel += "\n[" + e + "]"
		}
	}
	return res, err
}

// origin returns the place of a panic, without the paths of the machine that
// the program was built on.
func origin(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "panic(") && i+2 < len(lines) {
			name, _, _ := strings.Cut(lines[i+2], "(")
			return "in " + name
		}
	}
	return "in an unknown place"
}

func (s *Set) find(name string) Tool {
	for i, spec := range s.specs {
		if spec.Name == name {
			return s.tools[i]
		}
	}
	return nil
}

func (s *Set) unknown(name string) Result {
	names := make([]string, len(s.specs))
	for i, spec := range s.specs {
		names[i] = spec.Name
	}
	if near := nearest.Name(name, names); near != "" {
		return failed("There is no tool %q. Did you mean %q?", name, near)
	}
	return failed("There is no tool %q. The tools are: %s.", name, strings.Join(names, ", "))
}

// tool is a Tool whose arguments are an A.
type tool[A any] struct {
	spec   llm.ToolSpec
	params []args.Param
	title  func(a A) string
	run    func(ctx context.Context, call Call, a A) (Result, error)
}

// newTool returns the tool with the given name, whose description is the file
// name.md.
func newTool[A any](name string, params []args.Param, title func(A) string, run func(context.Context, Call, A) (Result, error)) Tool {
	doc, err := docs.ReadFile(name + ".md")
	if err != nil {
		doc = []byte(name) // not possible: the tests read them all
	}
	spec := llm.ToolSpec{
		Name: name, Description: strings.TrimSpace(string(doc)), Schema: json.RawMessage(args.Schema(params)),
	}
	return &tool[A]{spec: spec, params: params, title: title, run: run}
}

// Spec implements Tool.
func (t *tool[A]) Spec() llm.ToolSpec { return t.spec }

// Title implements Tool.
func (t *tool[A]) Title(raw json.RawMessage) string {
	a, err := args.Decode[A](t.params, raw)
	if err != nil {
		return t.spec.Name
	}
	return oneLine(t.title(a), maxTitle)
}

// Call implements Tool.
func (t *tool[A]) Call(ctx context.Context, call Call) (Result, error) {
	a, err := args.Decode[A](t.params, call.Args)
	if err != nil {
		return failed("%s was not run: %w.", t.spec.Name, err), nil
	}
	res, err := t.run(ctx, call, a)
	res.Record.What = t.title(a)
	return res, err
}

// How many characters are shown of a title, and of what went wrong: its cause often
// comes last, behind long paths.
const (
	maxTitle   = 120
	maxFailure = 400
)

// oneLine returns s on one line of at most limit characters.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 8*limit)]), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// failed is the result of a call that did not do what it should. format is as
// in fmt.Errorf.
func failed(format string, args ...any) Result {
	msg := fmt.Errorf(format, args...).Error()
	first, _, _ := strings.Cut(msg, "\n")
	return Result{ForModel: msg, ForUser: oneLine(first, maxFailure), Failed: true}
}

// orDefault returns the value of an optional argument.
func orDefault[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

// findRipgrep returns the rg on PATH, unless it lies in the workspace, where
// the model might have written it.
func findRipgrep(d Deps) string {
	path := d.Ripgrep
	if path == "" {
		found, err := exec.LookPath("rg")
		if err != nil {
			return ""
		}
		path = found
	}
	if _, _, err := d.Root.Resolve(path); err == nil {
		return ""
	}
	return path
}
