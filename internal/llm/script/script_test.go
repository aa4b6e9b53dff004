package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"
)

func parse(t *testing.T, text string) *Model {
	t.Helper()
	m, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func user(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, text)}}
}

// response is one complete answer.
type response struct {
	steps []llm.Delta
	end   *llm.End
	err   error
}

func (h response) text() string {
	var b strings.Builder
	for _, d := range h.steps {
		b.WriteString(d.Text)
	}
	return b.String()
}

func collect(ctx context.Context, m *Model, req llm.Request) response {
	var h response
	for d, err := range m.Stream(ctx, req) {
		switch {
		case err != nil:
			h.err = err
		case d.End != nil:
			h.end = d.End
		default:
			h.steps = append(h.steps, d)
		}
	}
	return h
}

func TestTurnsAreReplayed(t *testing.T) {
	m := parse(t, `
context_window: 1000
chunk: 4
turns:
  - reasoning: hm
    text: größer
    calls:
      - tool: read_file
        args: {path: a.go, lines: [1, 2], deep: {x: true, y: null}}
      - tool: todo
    usage: {input: 10, output: 5, cached: 3, cost_usd: 0.5}
  - text: done
    chunk: 100
`)
	if want := (llm.Info{Name: "script:test.yaml", ContextWindow: 1000, Free: true, NoEffort: true}); m.Info() != want {
		t.Errorf("info %+v", m.Info())
	}
	args := `{"deep":{"x":true,"y":null},"lines":[1,2],"path":"a.go"}`
	want := response{
		steps: []llm.Delta{
			{Reasoning: "hm"},
			{Text: "größ"},
			{Text: "er"},
			{Pending: &llm.Pending{Name: "read_file", Bytes: len(args)}},
			{Pending: &llm.Pending{Name: "todo", Bytes: 2}},
		},
		end: &llm.End{
			Stop:  llm.StopTools,
			Calls: []llm.ToolCall{{ID: "call_1_0", Name: "read_file", Args: args}, {ID: "call_1_1", Name: "todo", Args: "{}"}},
			Usage: llm.Usage{Input: 10, Output: 5, Cached: 3, CostUSD: 0.5},
		},
	}
	if diff := cmp.Diff(want, collect(t.Context(), m, user("go")), cmp.AllowUnexported(response{})); diff != "" {
		t.Error(diff)
	}
	req := user("go")
	req.System = "system"
	want = response{
		steps: []llm.Delta{{Text: "done"}},
		end:   &llm.End{Stop: llm.StopEnd, Usage: llm.Usage{Input: 3, Output: 2, Estimated: true}},
	}
	if diff := cmp.Diff(want, collect(t.Context(), m, req), cmp.AllowUnexported(response{})); diff != "" {
		t.Error(diff)
	}
}

func TestAtTheEnd(t *testing.T) {
	m := parse(t, "turns: [{text: a}]")
	collect(t.Context(), m, user("x"))
	if h := collect(t.Context(), m, user("one more")); h.err == nil || !strings.Contains(h.err.Error(), `no turn left`) || !strings.Contains(h.err.Error(), "one more") {
		t.Errorf("response %+v", h)
	}
	m = parse(t, "loop: true\nturns: [{text: a}, {text: b}]")
	for _, want := range []string{"a", "b", "a", "b", "a"} {
		if h := collect(t.Context(), m, user("x")); h.text() != want {
			t.Errorf("response %+v, want %q", h, want)
		}
	}
}

func result(text string) llm.Request {
	return llm.Request{
		System: "You are agent",
		Messages: []llm.Message{
			llm.TextMessage(llm.User, "fix it"),
			{Role: llm.ToolReply, CallID: "old", Parts: []llm.Part{{Kind: llm.TextPart, Text: "an old result"}}},
			{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c", Name: "f", Args: "{}"}}},
			{Role: llm.ToolReply, CallID: "c", Parts: []llm.Part{{Kind: llm.TextPart, Text: text}}},
			{Role: llm.ToolReply, CallID: "d", Parts: []llm.Part{{Kind: llm.TextPart, Text: "the last one"}}},
		},
		Tools: []llm.ToolSpec{{Name: "read_file"}},
	}
}

func TestExpectations(t *testing.T) {
	tests := map[string]struct{ condition, unmet string }{
		"last":              {"last_contains: last one", ""},
		"not last":          {"last_contains: first", `the last message to contain "first", but it is "the last one"`},
		"pattern":           {"last_matches: '^the .* one$'", ""},
		"not pattern":       {"last_matches: '^one'", `the last message to match "^one", but it is "the last one"`},
		"prompt":            {"prompt_contains: fix", ""},
		"not prompt":        {"prompt_contains: break", `the prompt to contain "break", but it is "fix it"`},
		"result":            {"result_contains: the file", ""},
		"not an old result": {"result_contains: old", `a tool result to contain "old", but the results are "here is the file", "the last one"`},
		"system":            {"system_contains: agent", ""},
		"not system":        {"system_contains: poet", `the system prompt to contain "poet", but it is "You are agent"`},
		"any":               {"any_contains: old", ""},
		"not any":           {"any_contains: new", `some message to contain "new", but none of 5 does`},
		"absent":            {"not_contains: secret", ""},
		"not absent":        {"not_contains: You are", `no message to contain "You are", but one does`},
		"tool":              {"tool_offered: read_file", ""},
		"not tool":          {"tool_offered: fly", `the tool "fly" to be offered, but it is not among the 1 that are`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			script := "turns:\n  - text: a\n  - expect:\n      - last_contains: ''\n      - " + test.condition + "\n    text: b\n"
			m := parse(t, script)
			collect(t.Context(), m, user("x"))
			h := collect(t.Context(), m, result("here is the file"))
			if test.unmet == "" {
				if h.err != nil || h.text() != "b" {
					t.Errorf("response %+v", h)
				}
				return
			}
			want := "test.yaml:5: turn 2 of the script expects " + test.unmet
			if h.err == nil || h.err.Error() != want || len(h.steps) != 0 || h.end != nil {
				t.Errorf("response %+v, want %s", h, want)
			}
			var e *llm.Error
			if !errors.As(h.err, &e) || e.Kind != llm.Refused {
				t.Errorf("the error is %#v", h.err)
			}
		})
	}
}

func TestWhatIsShownIsBounded(t *testing.T) {
	m := parse(t, "turns: [{text: a, expect: [{last_contains: z}, {result_contains: z}]}]")
	h := collect(t.Context(), m, user(strings.Repeat("long ", 10_000)))
	if h.err == nil || len(h.err.Error()) > 500 {
		t.Errorf("the error has %d bytes", len(h.err.Error()))
	}
	if got := shown(); got != "none" {
		t.Error(got)
	}
}

func TestBranches(t *testing.T) {
	const script = `
turns:
  - calls: [{tool: edit_file, args: {path: a}}]
  - when: {result_contains: declined}
    text: All right, I leave it.
  - when: {result_contains: written}
    text: It is done.
  - text: Bye.
`
	for answer, want := range map[string]string{"the user declined": "All right, I leave it.", "written": "It is done.", "?": "Bye."} {
		m := parse(t, script)
		collect(t.Context(), m, user("x"))
		if h := collect(t.Context(), m, result(answer)); h.text() != want {
			t.Errorf("after %q: %+v", answer, h)
		}
	}
	m := parse(t, "loop: true\nturns: [{when: {last_contains: never}, text: a}]")
	if h := collect(t.Context(), m, user("x")); h.err == nil || !strings.Contains(h.err.Error(), "no turn left") {
		t.Errorf("response %+v", h)
	}
}

func TestFailures(t *testing.T) {
	m := parse(t, `
turns:
  - error: {status: 429, message: slow down}
  - text: half
    error: {kind: truncated}
  - {text: cut, stop: length, calls: [{tool: f}]}
  - {stop: filter, calls: [{tool: f}]}
  - {calls: [{tool: f, raw: '{"path": "a'}, {tool: g, raw: '[1]'}, {tool: h, raw: ' {} '}]}
  - {stop: end, calls: [{tool: f}]}
`)
	var e *llm.Error
	h := collect(t.Context(), m, user("x"))
	if !errors.As(h.err, &e) || e.Kind != llm.Temporary || e.Status != 429 || e.Message != "slow down" || h.end != nil {
		t.Errorf("response %+v", h)
	}
	h = collect(t.Context(), m, user("x"))
	if !errors.As(h.err, &e) || e.Kind != llm.Truncated || e.Message == "" || h.text() != "half" || h.end != nil {
		t.Errorf("response %+v", h)
	}
	for i, want := range []struct {
		stop     llm.StopReason
		problems string
	}{{llm.StopLength, "x"}, {llm.StopFilter, "x"}, {llm.StopTools, "xx-"}, {llm.StopEnd, "-"}} {
		h = collect(t.Context(), m, user("x"))
		got := ""
		for _, c := range h.end.Calls {
			switch {
			case c.Problem == "":
				got += "-"
			case c.Args == "{}":
				got += "x"
			}
		}
		if h.end.Stop != want.stop || got != want.problems {
			t.Errorf("%d: %+v", i, h.end)
		}
	}
}

func TestTimeAndCancel(t *testing.T) {
	const script = "turns:\n  - {delay: 1000, text: abcd, chunk: 1, pace: 100}\n  - {delay: 3600000, text: b}\n  - {text: abcd, chunk: 1, pace: 3600000}\n"
	synctest.Test(t, func(t *testing.T) {
		m := parse(t, script)
		start := time.Now()
		if h := collect(t.Context(), m, user("x")); h.text() != "abcd" || time.Since(start) != 1400*time.Millisecond {
			t.Errorf("response %+v after %v", h, time.Since(start))
		}
		for _, steps := range []int{0, 1} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			start = time.Now()
			if h := collect(ctx, m, user("x")); !errors.Is(h.err, context.DeadlineExceeded) || h.end != nil || len(h.steps) != steps || time.Since(start) != time.Minute {
				t.Errorf("response %+v after %v", h, time.Since(start))
			}
			cancel()
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, script := range []string{"turns: [{text: a}]", "turns: [{stop: length}]"} {
		if h := collect(ctx, parse(t, script), user("x")); !errors.Is(h.err, context.Canceled) || h.end != nil || len(h.steps) != 0 {
			t.Errorf("response %+v", h)
		}
	}
}

func TestBreakingOut(t *testing.T) {
	m := parse(t, "turns: [{text: abc, chunk: 1}, {text: d}]")
	for range m.Stream(t.Context(), user("x")) {
		break
	}
	for d, err := range m.Stream(t.Context(), user("x")) {
		if err != nil || d.Text == "d" {
			continue
		}
		break // at the end
	}
}

func TestScriptsThatAreWrong(t *testing.T) {
	tests := map[string]struct{ script, want string }{
		"empty":            {"", "test.yaml: the script has no turns"},
		"no turns":         {"loop: true", "test.yaml: the script has no turns"},
		"not YAML":         {"turns: [", "test.yaml: yaml: "},
		"unknown key":      {"turns:\n  - txt: a", "line 2: field txt not found"},
		"unknown key deep": {"turns:\n  - text: a\n    expect: [{last: b}]", "line 3: field last not found"},
		"wrong type":       {"turns: 3", "cannot unmarshal"},
		"empty turn":       {"turns:\n  - text: a\n  - delay: 3", "test.yaml:3: turn 2: the turn is empty"},
		"no tool":          {"turns: [{calls: [{args: {}}]}]", "test.yaml:1: turn 1: call 1: it names no tool"},
		"args and raw":     {"turns: [{calls: [{tool: f, args: {}, raw: x}]}]", "both args and raw"},
		"args no mapping":  {"turns: [{calls: [{tool: f, args: [1]}]}]", "not a mapping"},
		"keys no names":    {"turns: [{calls: [{tool: f, args: {1: 2}}]}]", "not a mapping"},
		"args no JSON":     {"turns: [{calls: [{tool: f, args: {a: .inf}}]}]", "args: "},
		"stop":             {"turns: [{stop: now}]", `stop "now" is not one of`},
		"kind":             {"turns: [{error: {kind: odd}}]", `error kind "odd" is not one of`},
		"when pattern":     {"turns: [{text: a, when: {last_matches: '('}}]", "last_matches: "},
		"expect pattern":   {"turns: [{text: a, expect: [{last_matches: '('}]}]", "last_matches: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("test.yaml", []byte(test.script))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.yaml")
	if _, err := Load(name); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	scratch.Write(t, name, "turns: [{text: hi}]")
	m, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if h := collect(t.Context(), m, user("x")); h.text() != "hi" || m.Info().Name != "script:"+name {
		t.Errorf("response %+v", h)
	}
}

// TestTheDocumentedScriptWorks runs every script of the documentation.
func TestTheDocumentedScriptWorks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "scripted-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("no script in the documentation")
	}
	for _, b := range blocks {
		if _, err := Parse("docs", b[1]); err != nil {
			t.Errorf("%v in\n%s", err, b[1])
		}
	}
	// Every key of the format is described.
	for _, key := range regexp.MustCompile("yaml:\"([a-z_]+)\"").FindAllStringSubmatch(sources(t), -1) {
		if !strings.Contains(string(page), "`"+key[1]+"`") {
			t.Errorf("the documentation does not name %s", key[1])
		}
	}
}

func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"script.go", "condition.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
