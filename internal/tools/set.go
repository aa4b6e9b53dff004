package tools

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// Set holds all tools. Its methods must not be called concurrently, except Title, and Call
// for tools that only read or delegate, with an Await.
type Set struct {
	deps        Deps
	found       map[string]bool // tools of servers that were searched for
	offered     []string        // patterns of names
	tools       []Tool
	languages   []Tool
	specs       []llm.ToolSpec
	commands    commander
	diagnostics *diagnostics
}

// NewSet returns the tools. The caller keeps ownership of the values in d.
func NewSet(d Deps) *Set {
	if home, err := filepath.EvalSymlinks(d.Home); err == nil { // resolved like the paths it is compared with
		d.Home = home
	}
	if d.Root != nil {
		d.Root.Guard(d.Guards)
	}
	s := &Set{found: map[string]bool{}, diagnostics: &diagnostics{root: d.Root, reports: d.Reports}}
	d.Diagnose = s.diagnostics.edited
	s.deps, s.commands = d, commander{d, &jobWatch{d.Background, map[string]bool{}, map[string]*watchedJob{}}, &held{}}
	s.tools = []Tool{
		readFile(d), listFiles(d), findFiles(d), searchFiles(d),
		writeFile(d), editFile(d), editLines(d), appendFile(d), regexReplace(d), patchFile(d), deleteFile(d), moveFile(d),
		executeCommand(s.commands), getDiagnostics(d), todo(), presentPlan(d), askUser(d), webFetch(d), remember(d),
	}
	if d.Languages != nil {
		s.languages = languageTools(d)
	}
	if d.Agents != nil {
		s.tools = append(s.tools, task(d))
	}
	for _, t := range s.tools {
		s.specs = append(s.specs, t.Spec())
	}
	return s
}

// Offer has Specs list the tools that Cover finds in names: those of servers even if the
// definitions of all do not fit, and those that ask a language server even before it has started.
func (s *Set) Offer(names []string) { s.offered = slices.Clone(names) }

// ownName returns our name of a tool.
func ownName(name string) string {
	if name == applyPatchFacts.Name {
		return patchFacts.Name
	}
	return name
}

// always are the tools that change files and are offered whatever the choice of those.
var always = []string{renameSymbolFacts.Name, quickFixFacts.Name, rememberFacts.Name}

// Offered is Specs with only the named ones of the tools that change files. A model may
// call the others as well.
func (s *Set) Offered(names ...string) []llm.ToolSpec {
	all := s.Specs()
	offered := make([]llm.ToolSpec, 0, len(all))
	for _, spec := range all {
		if slices.Contains(names, spec.Name) || !ChangesFiles(spec.Name) || slices.Contains(always, spec.Name) {
			offered = append(offered, spec)
		}
	}
	return offered
}

// Specs describes the tools to a model, always in the same order and words; those of
// servers, which may change from turn to turn, come last. The caller must not change the
// result.
func (s *Set) Specs() []llm.ToolSpec {
	specs := s.specs[:len(s.specs):len(s.specs)]
	if len(s.languages) > 0 && s.deps.Languages.Serve() {
		asked := s.deps.Languages.Asked()
		for i, t := range s.languages {
			if spec := t.Spec(); asked || i < firstLanguageTools || Cover(s.offered, spec.Name) {
				specs = append(specs, spec)
			}
		}
	}
	for _, t := range s.serverTools() {
		specs = append(specs, t.Spec())
	}
	return specs
}

// Title describes a call for the user, in one short line and with all of its text. It is not
// sanitized.
func (s *Set) Title(name string, args json.RawMessage) (line, whole string) {
	whole = name
	if t := s.find(name); t != nil {
		whole = t.Title(args)
	} else if strings.HasPrefix(name, mcp.Prefix) { // its server is not connected
		whole = s.serverToolNamed(name).Title(args)
	}
	return toolcall.OneLine(whole, toolcall.MaxTitle), whole
}

// reading is a tool that reads its arguments leniently.
type reading interface {
	// arguments returns the arguments of a call as the tool reads them.
	arguments(raw json.RawMessage) (json.RawMessage, error)
}

// Arguments returns the arguments of a call as its tool reads them, with every key. It
// fails if the tool would refuse them, and does nothing else.
func (s *Set) Arguments(name string, raw json.RawMessage) (json.RawMessage, error) {
	if t, ok := s.find(name).(reading); ok {
		return t.arguments(raw)
	}
	return raw, nil
}

// Call runs the tool with the given name. An unknown tool and a panic give a failed
// Result; an error means that the turn cannot go on.
func (s *Set) Call(ctx context.Context, name string, call Call) (res Result, err error) {
	t := s.find(name)
	if t == nil {
		return s.unknown(name), nil
	}
	defer func() {
		if p := recover(); p != nil {
			res = toolcall.Failed("%s failed with an internal error: %v. This is a bug in the program, not in the call; it is not known how far the call got.\n%s",
				name, p, origin(debug.Stack()))
			err = call.WaitTurn(ctx)
		}
	}()
	do := func() (Result, error) { return t.Call(ctx, call) }
	if s.Held() != "" && s.disturbs(name) {
		res, err = s.commands.releaseFirst(ctx, call, do)
	} else {
		res, err = do()
	}
	if err == nil {
		err = call.WaitTurn(ctx)
	}
	if err == nil {
		res.ForModel += s.diagnostics.late(ctx)
		s.commands.background.ended(&res)
	}
	return res, err
}

// origin returns the function that panicked, without paths of the build machine.
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

// find returns the tool with the given name, or nil.
func (s *Set) find(name string) Tool {
	name = ownName(name)
	for i, spec := range s.specs {
		if spec.Name == name {
			return s.tools[i]
		}
	}
	for _, t := range s.languages {
		if t.Spec().Name == name {
			return t
		}
	}
	return s.findServerTool(name)
}

func (s *Set) unknown(name string) Result {
	var names []string
	for _, spec := range s.Specs() {
		names = append(names, spec.Name)
	}
	near := meant(name)
	if near == "" || s.find(near) == nil {
		near = nearest.Name(name, names)
	}
	if near != "" {
		return toolcall.Failed("There is no tool %q. Did you mean %q?", name, near)
	}
	return toolcall.Failed("There is no tool %q.\nThe tools are: %s.", name, strings.Join(names, ", "))
}

// Settle asks about all pending changes in one review, see change.Deps.Settle, and about the command that
// waits.
func (s *Set) Settle(ctx context.Context, call Call) (*Result, error) {
	if call.ID == "" {
		call.ID = s.deps.Pending.Call() // whose place in the conversation is known
	}
	settled, err := s.deps.Settle(ctx, call, "all changes of this turn")
	if err != nil || s.Held() == "" || settled.Forbids() {
		return settled, err
	}
	res, err := s.commands.release(ctx, call)
	res.After(settled)
	return &res, err
}

// Held returns the command that waits for the next question, for people; "" without one.
func (s *Set) Held() string { return s.commands.held.name() }

// disturbs reports whether a tool may change the files of the command that waits.
func (s *Set) disturbs(name string) bool {
	kind := FactsOf(ownName(name)).Kind
	return kind.changes() || kind == KindOther
}

// Pending returns the number of files with pending changes.
func (s *Set) Pending() int { return s.deps.Pending.Len() }

// DropPending forgets the pending changes and the command that waits, and returns the names of the files, and
// the command.
func (s *Set) DropPending() []string {
	names := s.deps.Pending.Drop()
	if held := s.Held(); held != "" {
		names = append(names, held)
	}
	*s.commands.held = held{}
	return names
}
