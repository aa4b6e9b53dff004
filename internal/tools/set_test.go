package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// asker answers every question with verdict, after calling during.
type asker struct {
	verdict confirm.Verdict
	err     error
	during  func(confirm.Request)
	asked   []confirm.Request
}

func (a *asker) Ask(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	a.asked = append(a.asked, req)
	if a.during != nil {
		a.during(req)
	}
	if req.Later && !a.verdict.Rule { // nobody is asked yet
		a.asked = a.asked[:len(a.asked)-1]
		return confirm.Verdict{Later: &req}, nil
	}
	return a.verdict, a.err
}

// bench is a set of tools over a real workspace.
type bench struct {
	*testing.T
	dir  string
	ask  *asker
	deps Deps
	set  *Set
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	dir := scratch.Dir(t, files)
	b := &bench{T: t, dir: dir, ask: &asker{verdict: confirm.Verdict{Decision: confirm.Approve, By: "test"}}}
	root := scratch.Workspace(t, dir, workspace.Options{Home: t.TempDir()})
	jobs := shell.NewJobs()
	t.Cleanup(func() {
		if err := jobs.Close(); err != nil {
			t.Error(err)
		}
	})
	spill := filepath.Join(t.TempDir(), "spill")
	if abs, _, _ := root.Resolve(spill); abs != "" {
		root.Outside().Allow(abs)
	}
	b.deps = Deps{
		Deps:  change.Deps{Files: access.Files{Root: root}, Ask: b.ask, Session: func() string { return "s" }},
		Shell: Shell{Jobs: jobs, SpillDir: func() string { return spill }},
	}
	b.set = NewSet(b.deps)
	return b
}

func (b *bench) write(name, text string) {
	b.Helper()
	scratch.Write(b, filepath.Join(b.dir, name), text)
}

func (b *bench) remove(name string) {
	b.Helper()
	if err := os.RemoveAll(b.path(name)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.Helper()
	return scratch.Read(b, filepath.Join(b.dir, name))
}

type m = map[string]any

func (b *bench) call(name string, arguments m) Result {
	b.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		b.Fatal(err)
	}
	return b.raw(name, string(raw))
}

func (b *bench) raw(name, arguments string) Result {
	b.Helper()
	res, err := b.set.Call(b.Context(), name, Call{ID: "1", Args: json.RawMessage(arguments), Turn: "t"})
	if err != nil {
		b.Fatal(err)
	}
	if res.ForModel == "" {
		b.Error("the model is told nothing")
	}
	return res
}

// want fails unless the result is Failed as given and contains all texts.
func (b *bench) want(res Result, isFailed bool, texts ...string) {
	b.Helper()
	if res.Failed != isFailed {
		b.Errorf("failed: %v, want %v: %s", res.Failed, isFailed, res.ForModel)
	}
	for _, text := range texts {
		if !strings.Contains(res.ForModel, text) {
			b.Errorf("the model is not told %q:\n%s", text, res.ForModel)
		}
	}
}

var toolNames = []string{
	"read_file", "list_files", "find_files", "search_files", "write_file", "edit_file", "edit_lines",
	"append_file", "regex_replace", "patch", "delete_file", "move_file", "execute_command", "get_diagnostics", "todo", "present_plan",
	"ask_user", "web_fetch", "remember",
}

// maxDefinitions is the number of bytes of the definitions of all tools, without those of servers
// and sub-agents. Every request sends them: 7 KiB are about 1,800 tokens, less than a quarter of
// the 8,192 that local servers give a model unless told otherwise.
const maxDefinitions = 7 << 10

func TestSpecs(t *testing.T) {
	b := newBench(t, nil)
	var names []string
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var all []m
	for _, s := range b.set.Specs() {
		names = append(names, s.Name)
		var schema struct {
			Type                 string
			Properties           map[string]m
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
			t.Errorf("%s: the schema is not strict: %s", s.Name, s.Schema)
		}
		for name, p := range schema.Properties {
			if _, plain := p["type"].(string); !plain {
				t.Errorf("%s: the type of %s is not plain: %v", s.Name, name, p["type"])
			}
		}
		if len(s.Description) < 20 {
			t.Errorf("%s is described as %q", s.Name, s.Description)
		}
		all = append(all, m{"type": "function", "function": function{s.Name, s.Description, s.Schema}})
	}
	if !reflect.DeepEqual(names, toolNames) {
		t.Errorf("toolNames lacks a tool, or has it elsewhere: they are %q", names)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > maxDefinitions {
		t.Errorf("the definitions of the tools have %d bytes, at most %d", len(raw), maxDefinitions)
	}
	if !reflect.DeepEqual(b.set.Specs(), NewSet(b.deps).Specs()) {
		t.Error("two sets describe the tools differently")
	}
}

// A tool without its facts would pass the hooks of a person who guards edits.
func TestFactsOfEveryTool(t *testing.T) {
	b := newBench(t, nil)
	b.deps.Languages = &linguists{b: b}
	set := NewSet(b.deps)
	for _, tool := range slices.Concat(set.tools, set.languages) {
		if name := tool.Spec().Name; !slices.Contains(AllNames(), name) {
			t.Errorf("known.go lacks the facts of %s", name)
		}
	}
}

// fields is the type of the arguments.
func (t *tool[A]) fields() reflect.Type { return reflect.TypeFor[A]() }

// The schema and the arguments have the same names.
func TestParamsFitTheArguments(t *testing.T) {
	b := newBench(t, nil)
	for _, tool := range b.set.tools {
		name := tool.Spec().Name
		var schema struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(tool.Spec().Schema, &schema); err != nil {
			t.Fatal(err)
		}
		typ := tool.(interface{ fields() reflect.Type }).fields()
		if len(schema.Properties) != typ.NumField() {
			t.Errorf("%s has %d parameters and %d fields", name, len(schema.Properties), typ.NumField())
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			want := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean", reflect.Slice: "array"}
			kind := f.Type
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			if got := schema.Properties[f.Tag.Get("json")].Type; got != want[kind.Kind()] {
				t.Errorf("%s: %s is %q in the schema and %s here", name, f.Name, got, f.Type)
			}
		}
	}
}

func TestTitle(t *testing.T) {
	b := newBench(t, nil)
	for _, tt := range []struct{ tool, args, want string }{
		{"read_file", `{"path":"a.go"}`, "Read a.go"},
		{"read_file", `{"path":"a.go","offset":5,"limit":10}`, "Read a.go:5-14"},
		{"read_file", `{"path":"a.go","offset":5}`, "Read a.go:5-"},
		{"read_file", `{"pa`, "read_file"},
		{"list_files", `{"path":"x"}`, "List x"},
		{"find_files", `{"pattern":"*.go","path":"cmd"}`, "Find *.go in cmd"},
		{"search_files", `{"regex":"foo"}`, "Search /foo/"},
		{"write_file", `{"path":"a","content":""}`, "Write a"},
		{"edit_file", `{"path":"a","old_string":"b","new_string":"c"}`, "Edit a"},
		{"edit_lines", `{"path":"a","start_line":1,"end_line":2,"new_content":""}`, "Edit a:1-2"},
		{"append_file", `{"path":"a","content":"b"}`, "Append to a"},
		{"regex_replace", `{"path":"a","pattern":"b","replacement":"c"}`, "Replace /b/ in a"},
		{"patch", `{"path":"a","diff":""}`, "Patch a"},
		{"execute_command", `{"command":"go test\n./..."}`, "Run go test ./..."},
		{"execute_command", `{"kill":"job-1"}`, "End job-1"},
		{"execute_command", `{"command":"` + strings.Repeat("x", 500) + `"}`, "Run " + strings.Repeat("x", 115) + "…"},
		{"get_diagnostics", `{"path":"a"}`, "Diagnostics of a"},
		{"get_diagnostics", ``, "Diagnostics"},
		{"todo", `{"items":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}`, "Plan: 1 of 2 done"},
		{"nonsense", `{}`, "nonsense"},
		{"mcp__away__find", `{"q":1}`, `Call away: find {"q":1}`}, // of an earlier session
	} {
		if got, _ := b.set.Title(tt.tool, json.RawMessage(tt.args)); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.args, got, tt.want)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	b := newBench(t, nil)
	b.want(b.raw("readfile", `{}`), true, `no tool "readfile"`, `"read_file"`)
	b.want(b.raw("Bash", `{}`), true, `no tool "Bash"`, `"execute_command"`)
	b.want(b.raw("list_dir", `{}`), true, `no tool "list_dir"`, `"list_files"`)
	for _, f := range facts {
		for _, name := range f.Mistaken {
			if b.set.find(name) != nil || meant(name) != f.Name {
				t.Errorf("%s is mistaken for %s", name, f.Name)
			}
		}
	}
	for _, spec := range b.set.Specs() {
		if !slices.ContainsFunc(facts, func(f *Facts) bool { return f.Name == spec.Name && f.Kind != "" }) {
			t.Errorf("%s has no facts", spec.Name)
		}
	}
	b.want(b.raw("browse", `{}`), true, `no tool "browse"`, "read_file, list_files")
}

func TestArgumentsAreStrict(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\n"})
	for _, tt := range []struct{ tool, args, want string }{
		{"read_file", `{"file":"a"}`, `read_file was not run: there is no key "file"`},
		{"read_file", `{"path":"a","path":"b"}`, "given twice"},
		{"write_file", `{"path":"a"}`, `"content" is missing`},
		{"edit_lines", `{"path":"a","start_line":"one","end_line":1,"new_content":""}`, `"start_line" has to be an integer`},
		{"write_file", `{"path":"a","content":"\ud800"}`, "not valid Unicode"},
		{"todo", `{"items":[{"content":"a","state":"x"}]}`, `no key "state" (did you mean "status"?); the keys are: content, status`},
	} {
		b.want(b.raw(tt.tool, tt.args), true, tt.want)
	}
	if len(b.ask.asked) != 0 {
		t.Errorf("%d questions were asked", len(b.ask.asked))
	}
}

// Arguments with one reading are taken, and the model is told of a key that is left out.
func TestArgumentsAreLenient(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\ny\n"})
	b.want(b.raw("read_file", `{"filePath":"a","limit":"1","reason":"to see"}`), false, "1 | x", "[left out, since read_file has no such key: reason]")
	b.want(b.raw("edit_file", `{"file_path":"a","oldString":"x","newString":"z","replaceAll":"true"}`), false, "Wrote a: 1 added")
	b.want(b.raw("search_files", `{"pattern":"^z","include":"a"}`), false, "1 match in 1 file")
	b.want(b.raw("execute_command", `{"cmd":"echo hi","timeout":"5","workdir":"."}`), false, "hi")
	b.want(b.raw("write_file", `{"filename":"b","contents":"text"}`), false, "Created b")
	b.want(b.raw("move_file", `{"source":"b","destination":"c"}`), false, "Moved b → c")
}

type breaking struct{ Tool }

func (breaking) Call(context.Context, Call) (Result, error) { panic("boom") }

func TestPanicIsAResult(t *testing.T) {
	b := newBench(t, nil)
	b.set.tools[0] = breaking{b.set.tools[0]}
	b.want(b.raw("read_file", `{}`), true, "read_file failed with an internal error: boom", "breaking.Call")
}

// A call that panics ahead of its turn returns in its turn.
func TestPanicAwaitsItsTurn(t *testing.T) {
	b := newBench(t, nil)
	b.set.tools[0] = breaking{b.set.tools[0]}
	turns := 0
	res, err := b.set.Call(t.Context(), "read_file", Call{Args: json.RawMessage(`{}`), Await: func(context.Context) error {
		turns++
		return context.Canceled
	}})
	if turns != 1 || !res.Failed || !errors.Is(err, context.Canceled) {
		t.Errorf("awaited %d times: %+v, %v", turns, res, err)
	}
}

func TestTodo(t *testing.T) {
	b := newBench(t, nil)
	res := b.raw("todo", `{"items":[{"content":"read","status":"completed"},{"content":"fix\nit","status":"in_progress"},{"content":"test","status":"pending"}]}`)
	b.want(res, false, "1 pending, 1 in progress, 1 completed")
	if want := "☑ read\n▸ fix it\n☐ test"; res.ForUser != want {
		t.Errorf("the user sees %q, want %q", res.ForUser, want)
	}
	b.want(b.raw("todo", `{"items":[{"content":"a","status":"done"}]}`), true, "status of item 1", "completed")
	b.want(b.raw("todo", `{"items":[{"content":" ","status":"pending"}]}`), true, "no content")
	b.want(b.call("todo", m{"items": make([]m, 0)}), false, "0 pending")
	b.want(b.call("todo", m{"items": strings.Split(strings.Repeat("x", 3), "")}), true, "has to be an object")
}

func TestLastTodo(t *testing.T) {
	call := func(name, args string) llm.Message {
		return llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{Name: name, Args: args}}}
	}
	read := call("todo", `{"items":[{"content":"read","status":"pending"}]}`)
	for _, c := range []struct {
		messages []llm.Message
		want     string
	}{
		{nil, ""},
		{[]llm.Message{call("read_file", `{"items":[{"content":"x","status":"pending"}]}`)}, ""},
		{[]llm.Message{call("todo", `{"items":[{"content":"old","status":"pending"}]}`), read}, "☐ read"},
		{[]llm.Message{read, call("todo", `{"items":[{"content":"x","status":"odd"}]}`), call("todo", `{`), call("todo", `{}`)}, "☐ read"},
		{[]llm.Message{read, call("todo", `{"items":[]}`)}, ""},
	} {
		if got := Checklist(LastTodo(c.messages)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// All tools share the decoder; each refuses garbage without a panic.
func FuzzCall(f *testing.F) {
	for _, name := range toolNames {
		f.Add(name, `{"path":"a","content":"b"}`)
	}
	f.Add("patch", `{"path":"a","diff":"@@ -1 +1 @@\n-a\n+b\n"}`)
	f.Add("regex_replace", `{"path":"a","pattern":"(a)","replacement":"$1"}`)
	f.Fuzz(func(t *testing.T, name, arguments string) {
		if name == "execute_command" {
			return // the asker below says no
		}
		b := newBench(t, map[string]string{"a": "a\nb\n"})
		b.ask.verdict = confirm.Verdict{}
		res := b.raw(name, arguments)
		if strings.Contains(res.ForModel, "internal error") {
			t.Error(res.ForModel)
		}
		if b.read("a") != "a\nb\n" {
			t.Error("a declined call changed a file")
		}
	})
}

// The person sees the cause of an error, which comes last.
func TestAFailureShowsItsCause(t *testing.T) {
	path := "/" + strings.Repeat("a-long-folder/", 15) + "file"
	res := toolcall.Failed("a.txt was not written: %w", &os.PathError{Op: "write", Path: path, Err: errors.New("no space left on device")})
	if !strings.HasSuffix(res.ForUser, "no space left on device") {
		t.Errorf("told %q", res.ForUser)
	}
}
