package written

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// specs are the tools on offer.
var specs = []llm.ToolSpec{
	{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}`), Reads: true},
	{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
	{Name: "execute_command", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"},"background":{"type":"boolean"}},"required":["command"]}`)},
	{Name: "todo", Schema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array"}},"required":["items"]}`)},
	{Name: "list_files", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`), Reads: true},
}

const (
	readA = `read_file {"path":"a.go"}`
	readB = `read_file {"limit":5,"path":"b.go"}`
	write = `write_file {"content":"<p>\n\t\"hi\"\n</p>\n","path":"a.html"}`
	run   = `execute_command {"background":true,"command":"go test ./...","timeout":60}`
)

// reads are answers that end with calls, in the forms of all families of models that write them.
var reads = []struct {
	name, text string
	before     string // the text before the calls
	want       []string
}{
	{"Hermes", "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.go\"}}\n</tool_call>", "", []string{readA}},
	{"Hermes, after text", "I look.\n\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}</tool_call>\n", "I look.", []string{readA}},
	{"Hermes, two", `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}</tool_call>` + "\n" + `<tool_call>{"name":"read_file","arguments":{"path":"b.go","limit":5}}</tool_call>`, "", []string{readA, readB}},
	{"Hermes, arguments as text", `<tool_call>{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}</tool_call>`, "", []string{readA}},
	{"Hermes, no end", "Now:\n" + `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}`, "Now:", []string{readA}},
	{"Hermes, a bracket too few", `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}</tool_call>`, "", []string{readA}},
	{"Hermes, a bracket too many", `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}}</tool_call>`, "", []string{readA}},
	{"Hermes, single quotes", `<tool_call>{'name': 'read_file', 'arguments': {'path': 'a.go'}}</tool_call>`, "", []string{readA}},
	{"Hermes, end token", `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}</tool_call><|im_end|>`, "", []string{readA}},
	{"Hermes, tags in the content", `<tool_call>{"name":"write_file","arguments":{"path":"x","content":"</tool_call><tool_call>"}}</tool_call>`, "", []string{`write_file {"content":"</tool_call><tool_call>","path":"x"}`}},
	{"Qwen", "<tool_call>\n<function=read_file>\n<parameter=path>\na.go\n</parameter>\n</function>\n</tool_call>", "", []string{readA}},
	{"Qwen, types", "<tool_call>\n<function=execute_command>\n<parameter=command>\ngo test ./...\n</parameter>\n<parameter=timeout>\n60\n</parameter>\n<parameter=background>\nTrue\n</parameter>\n</function>\n</tool_call>", "", []string{run}},
	{"Qwen, no outer tag", "So.\n<function=read_file>\n<parameter=path>\na.go\n</parameter>\n</function>", "So.", []string{readA}},
	{"Qwen, half an outer tag", "<function=read_file>\n<parameter=path>\na.go\n</parameter>\n</function>\n</tool_call>", "", []string{readA}},
	{"Qwen, no end", "<tool_call>\n<function=read_file>\n<parameter=path>\na.go\n</parameter>", "", []string{readA}},
	{"Qwen, no end at all", "<function=read_file>\n<parameter=path>a.go", "", []string{readA}},
	{"Qwen, many lines", "<function=write_file>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n<p>\n\t\"hi\"\n</p>\n\n</parameter>\n</function>", "", []string{write}},
	{"Qwen, two", "<function=read_file><parameter=path>a.go</parameter></function>\n<function=read_file><parameter=path>b.go</parameter><parameter=limit>5</parameter></function>", "", []string{readA, readB}},
	{"Qwen, array", `<function=todo><parameter=items>[{"content":"x","status":"pending"}]</parameter></function>`, "", []string{`todo {"items":[{"content":"x","status":"pending"}]}`}},
	{"Qwen, another name", "<function=read_file>\n<parameter=file_path>\na.go\n</parameter>\n</function>", "", []string{`read_file {"file_path":"a.go"}`}},
	{"only JSON", `{"name": "read_file", "arguments": {"path": "a.go"}}`, "", []string{readA}},
	{"only JSON, parameters", "\n{\"name\": \"read_file\", \"parameters\": {\"path\": \"b.go\", \"limit\": 5}}\n", "", []string{readB}},
	{"only JSON, a list", `[{"name":"read_file","arguments":{"path":"a.go"}},{"name":"read_file","arguments":{"path":"b.go","limit":5}}]`, "", []string{readA, readB}},
	{"only JSON, with a type", `{"type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`, "", []string{readA}},
	{"Llama, JSON", `<|python_start|>{"name":"read_file","parameters":{"path":"a.go"}}<|python_end|>`, "", []string{readA}},
	{"Llama, Python", `<|python_start|>[read_file(path="a.go"), read_file(path='b.go', limit=5)]<|python_end|><|eot|>`, "", []string{readA, readB}},
	{"Llama, one call", `<|python_start|>execute_command(command="go test ./...", timeout=60, background=True)<|python_end|>`, "", []string{run}},
	{"Llama, tag", `<|python_tag|>{"name":"read_file","parameters":{"path":"a.go"}}; {"name":"read_file","parameters":{"path":"b.go","limit":5}}<|eom_id|>`, "", []string{readA, readB}},
	{"only Python", `[read_file(path="a.go")]`, "", []string{readA}},
	{"only Python, several", `[list_files(), todo(items=[{'content': 'x'}])]`, "", []string{"list_files {}", `todo {"items":[{"content":"x"}]}`}},
	{"Mistral", `[TOOL_CALLS][{"name":"read_file","arguments":{"path":"a.go"}}]`, "", []string{readA}},
	{"Mistral, newer", `I look.[TOOL_CALLS]read_file[ARGS]{"path":"a.go"}[TOOL_CALLS]read_file[CALL_ID]abc123def[ARGS]{"path":"b.go","limit":5}</s>`, "I look.", []string{readA, readB}},
	{"Mistral, without a separator", `[TOOL_CALLS]read_file{"path": "a.go"}`, "", []string{readA}},
	{"Kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a.go"}<|tool_call_end|><|tool_call_begin|>functions.read_file:1<|tool_call_argument_begin|>{"path":"b.go","limit":5}<|tool_call_end|><|tool_calls_section_end|>`, "", []string{readA, readB}},
	{"Kimi, one", `Let me see.<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a.go"}<|tool_call_end|>`, "Let me see.", []string{readA}},
	{"DeepSeek DSML", "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"execute_command\">\n<｜DSML｜parameter name=\"command\" string=\"true\">go test ./...</｜DSML｜parameter>\n<｜DSML｜parameter name=\"timeout\" string=\"false\">60</｜DSML｜parameter>\n<｜DSML｜parameter name=\"background\" string=\"false\">true</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", "", []string{run}},
	{"DeepSeek, older", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{\"path\":\"a.go\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", []string{readA}},
	{"DeepSeek V3.1", "Yes.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\":\"a.go\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\":\"b.go\",\"limit\":5}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "Yes.", []string{readA, readB}},
	{"GLM", "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.go</arg_value>\n</tool_call>", "", []string{readA}},
	{"GLM, types", "<tool_call>execute_command\n<arg_key>command</arg_key>\n<arg_value>go test ./...</arg_value>\n<arg_key>timeout</arg_key>\n<arg_value>60</arg_value>\n<arg_key>background</arg_key>\n<arg_value>true</arg_value>\n</tool_call>", "", []string{run}},
	{"gpt-oss", "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{\"path\":\"a.go\"}<|call|>", "<|channel|>analysis<|message|>I look.<|end|>", []string{readA}},
	{"gpt-oss, address first", "<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{\"path\":\"b.go\",\"limit\":5}", "", []string{readB}},
	{"Mistral, after words", "I look.\n[TOOL_CALLS]read_file{\"path\": \"a.go\"}[TOOL_CALLS]read_file{\"path\":\"b.go\",\"limit\":5}", "I look.", []string{readA, readB}},
	{"Mistral, a list after words", `I look.[TOOL_CALLS] [{"name":"read_file","arguments":{"path":"a.go"},"id":"abcdef123"}]</s>`, "I look.", []string{readA}},
	{"Mistral, tokens left out", `read_file[ARGS]{"path":"a.go"}`, "", []string{readA}},
	{"Llama, semicolons without a tag", `{"name":"read_file","parameters":{"path":"a.go"}}; {"name":"read_file","parameters":{"path":"b.go","limit":5}}`, "", []string{readA, readB}},
	{"Llama, lines without a tag", `{"name":"read_file","parameters":{"path":"a.go"}}` + "\n" + `{"name":"read_file","parameters":{"path":"b.go","limit":5}}<|eot_id|>`, "", []string{readA, readB}},
	{"Llama, lines", `<|python_tag|>{"name":"read_file","parameters":{"path":"a.go"}}` + "\n" + `{"name":"read_file","parameters":{"path":"b.go","limit":5}}<|eom_id|>`, "", []string{readA, readB}},
	{"Llama, an element", `<function=read_file>{"path": "a.go"}</function>`, "", []string{readA}},
	{"MiniMax-M2", "I look.\n<minimax:tool_call>\n<invoke name=\"execute_command\">\n<parameter name=\"command\">go test ./...</parameter>\n<parameter name=\"timeout\">60</parameter>\n<parameter name=\"background\">true</parameter>\n</invoke>\n</minimax:tool_call>[e~[", "I look.", []string{run}},
	{"MiniMax-M2, two", "<minimax:tool_call>\n<invoke name=\"read_file\">\n<parameter name=\"path\">a.go</parameter>\n</invoke>\n<invoke name=\"read_file\">\n<parameter name=\"path\">b.go</parameter>\n<parameter name=\"limit\">5</parameter>\n</invoke>\n</minimax:tool_call>", "", []string{readA, readB}},
	{"MiniMax-M2, many lines", "<minimax:tool_call>\n<invoke name=\"write_file\">\n<parameter name=\"path\">a.html</parameter>\n<parameter name=\"content\">\n<p>\n\t\"hi\"\n</p>\n\n</parameter>\n</invoke>\n</minimax:tool_call>", "", []string{write}},
	{"MiniMax-M2, no outer tag", "<invoke name=\"list_files\">\n</invoke>", "", []string{"list_files {}"}},
	{"MiniMax-M1", "<tool_calls>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.go\"}}\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"b.go\", \"limit\": 5}}\n</tool_calls>", "", []string{readA, readB}},
	{"Gemma 3", "I look.\n\n```tool_code\nread_file(path='a.go')\n```", "I look.", []string{readA}},
	{"Gemma 3, printed", "```tool_code\nprint(default_api.read_file(path=\"a.go\"))\nprint(read_file(path=\"b.go\", limit=5))\n```<end_of_turn>", "", []string{readA, readB}},
	{"Gemma 3, JSON", "```tool_call\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.go\"}}\n```", "", []string{readA}},
	{"Gemma 4", `I look.<|tool_call>call:read_file{path:<|"|>a.go<|"|>}<tool_call|><|tool_call>call:read_file{limit:5,path:<|"|>b.go<|"|>}<tool_call|><turn|>`, "I look.", []string{readA, readB}},
	{"Gemma 4, nested", `<|tool_call>call:todo{items:[{content:<|"|>it's "x", {y}<|"|>,<|"|>done<|"|>:false}]}<tool_call|>`, "", []string{`todo {"items":[{"content":"it's \"x\", {y}","done":false}]}`}},
	{"FunctionGemma", `<start_function_call>call:execute_command{command:<escape>go test ./...<escape>,timeout:60,background:true}<end_function_call>`, "", []string{run}},
	{"FunctionGemma, no end", `<start_function_call>call:list_files{}`, "", []string{"list_files {}"}},
	{"LFM2", `<|tool_call_start|>[read_file(path="a.go"), read_file(path="b.go", limit=5)]<|tool_call_end|><|im_end|>`, "", []string{readA, readB}},
	{"LFM2, JSON", `Yes.<|tool_call_start|>[{"name": "read_file", "arguments": {"path": "a.go"}}]<|tool_call_end|>`, "Yes.", []string{readA}},
	{"Granite 3", `<|tool_call|>[{"name": "read_file", "arguments": {"path": "a.go"}}, {"name": "read_file", "arguments": {"path": "b.go", "limit": 5}}]<|end_of_text|>`, "", []string{readA, readB}},
	{"Granite 3, with a tag", `<tool_call>[{"name": "read_file", "arguments": {"path": "a.go"}}]`, "", []string{readA}},
	{"Granite, earlier", `<function_call> {"name": "read_file", "arguments": {"path": "a.go"}}`, "", []string{readA}},
	{"Nemotron", `<TOOLCALL>[{"name": "read_file", "arguments": {"path": "a.go"}}, {"name":"list_files","arguments":{}}]</TOOLCALL><SPECIAL_12>`, "", []string{readA, "list_files {}"}},
	{"Nemotron, after thoughts", "<think>hm</think>\n\n" + `<TOOLCALL>[{"name": "read_file", "arguments": {"path": "a.go"}}]</TOOLCALL>`, "<think>hm</think>", []string{readA}},
	{"Seed", "<seed:tool_call>\n<function=read_file>\n<parameter=path>b.go</parameter>\n<parameter=limit>5</parameter>\n</function>\n</seed:tool_call><seed:eos>", "", []string{readB}},
	{"Seed, two", "Yes.<seed:tool_call><function=read_file><parameter=path>a.go</parameter></function></seed:tool_call>\n<seed:tool_call><function=list_files></function></seed:tool_call>", "Yes.", []string{readA, "list_files {}"}},
	{"Hunyuan", "<tool_calls>[{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.go\"}}]</tool_calls>", "", []string{readA}},
	{"Hunyuan, newer", "<tool_calls>\n<tool_call>read_file<tool_sep>\n<arg_key>path</arg_key>\n<arg_value>b.go</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>\n</tool_calls>", "", []string{readB}},
	{"Jamba", "<tool_calls>[\n    {\"name\": \"read_file\", \"arguments\": \"{\\\"path\\\": \\\"a.go\\\"}\"}\n]</tool_calls>", "", []string{readA}},
	{"Phi-4", `<|tool_call|>[{"name": "read_file", "arguments": {"path": "a.go"}}]<|/tool_call|>`, "", []string{readA}},
	{"Phi-4 and FireFunction", ` functools[{"name": "read_file", "arguments": {"path": "a.go"}}]`, "", []string{readA}},
	{"Cohere", "<|START_THINKING|>I look.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"read_file\", \"parameters\": {\"path\": \"a.go\"}}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>", "<|START_THINKING|>I look.<|END_THINKING|>", []string{readA}},
	{"Cohere, earlier", "Action: ```json\n[\n    {\n        \"tool_name\": \"read_file\",\n        \"parameters\": {\"path\": \"a.go\"}\n    }\n]\n```", "", []string{readA}},
	{"InternLM", "I look.<|action_start|><|plugin|>\n{\"name\": \"read_file\", \"parameters\": {\"path\": \"a.go\"}}<|action_end|><|im_end|>", "I look.", []string{readA}},
	{"Functionary 3.1", `<function=read_file>{"path": "a.go"}</function><function=read_file>{"path": "b.go", "limit": 5}</function>`, "", []string{readA, readB}},
	{"Functionary 3.2", ">>>read_file\n{\"path\": \"a.go\"}>>>read_file\n{\"path\": \"b.go\", \"limit\": 5}", "", []string{readA, readB}},
	{"Functionary 3.2, after words", "I look.\n>>>read_file\n{\"path\": \"a.go\"}", "I look.", []string{readA}},
	{"Functionary 3.2, its token left out", "read_file\n{\"path\": \"a.go\"}", "", []string{readA}},
	{"Functionary 2", "<|from|>assistant\n<|recipient|>read_file\n<|content|>{\"path\": \"a.go\"}<|stop|>", "", []string{readA}},
	{"Apertus", `<|inner_prefix|>I look.<|inner_suffix|><|tools_prefix|>[{"read_file": {"path": "a.go"}}, {"list_files": {}}]<|tools_suffix|><|assistant_end|>`, "<|inner_prefix|>I look.<|inner_suffix|>", []string{readA, "list_files {}"}},
	{"GLM, earlier", "read_file\n{\"path\": \"b.go\", \"limit\": 5}", "", []string{readB}},
	{"LM Studio", `[TOOL_REQUEST]{"name": "read_file", "arguments": {"path": "a.go"}}[END_TOOL_REQUEST]`, "", []string{readA}},
	{"GigaChat", "function call<|role_sep|>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.go\"}}", "", []string{readA}},
	{"Qwen2.5-Coder", "<tools>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.go\"}}\n</tools>", "", []string{readA}},
	{"after code", "Like this:\n\n```\n<tool_call>{\"name\":\"todo\",\"arguments\":{\"items\":[]}}</tool_call>\n```\n\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}</tool_call>", "Like this:\n\n```\n<tool_call>{\"name\":\"todo\",\"arguments\":{\"items\":[]}}</tool_call>\n```", []string{readA}},
}

// said streams an answer's text in pieces.
type said struct {
	llm.Model
	text string
	end  llm.End
	err  error
}

func (s said) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if !yield(llm.Delta{Text: "void"}, nil) || !yield(llm.Delta{Retry: &llm.Retry{}}, nil) {
			return
		}
		for piece := range strings.SplitSeq(s.text, " ") {
			if !yield(llm.Delta{Text: piece}, nil) || !yield(llm.Delta{Text: " "}, nil) {
				return
			}
		}
		if s.err != nil {
			yield(llm.Delta{}, s.err)
			return
		}
		yield(llm.Delta{End: &s.end}, nil)
	}
}

// readEnd returns the end of an answer, and its text without the written calls.
func readEnd(t *testing.T, m said) (end *llm.End, text string) {
	t.Helper()
	for d, err := range (Model{m}).Stream(t.Context(), llm.Request{Tools: specs}) {
		if d.Retry != nil {
			text = ""
		}
		if text += d.Text; err != nil && !errors.Is(err, m.err) {
			t.Fatal(err)
		}
		if d.End != nil {
			end = d.End
		}
	}
	if end != nil && end.Written > 0 {
		text = text[:len(text)-end.Written]
	}
	return end, text
}

// calls returns name and arguments of each call, with sorted keys.
func calls(t *testing.T, end *llm.End) []string {
	t.Helper()
	var all []string
	for _, c := range end.Calls {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil || c.Problem != "" || c.ID == "" {
			t.Errorf("%+v: %v", c, err)
		}
		all = append(all, c.Name+" "+jsonOf(args))
	}
	return all
}

func jsonOf(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // of decoded JSON: it cannot fail
	return strings.TrimSpace(b.String())
}

func TestWrittenCalls(t *testing.T) {
	if len(reads) < 60 {
		t.Errorf("only %d cases", len(reads))
	}
	for _, test := range reads {
		t.Run(test.name, func(t *testing.T) {
			end, text := readEnd(t, said{text: test.text, end: llm.End{Stop: llm.StopEnd}})
			if diff := cmp.Diff(test.want, calls(t, end)); diff != "" || end.Stop != llm.StopTools || end.Fault != "" {
				t.Errorf("%s %s", end.Fault, diff)
			}
			if got := strings.TrimSpace(text); got != test.before {
				t.Errorf("the text before is %q", got)
			}
		})
	}
}

// TestCutCalls cuts each of the calls: none is lost without a word, and none that changes something
// runs without its end.
func TestCutCalls(t *testing.T) {
	cuts := 0
	for _, test := range reads {
		begin := strings.Index(test.text, test.before) + len(test.before)
		call := endTokens.ReplaceAllString(test.text[begin:], "")
		first := strings.IndexAny(call, `{(>`)
		for _, s := range shapes {
			if at := strings.Index(call, s.token); at >= 0 && strings.TrimSpace(call[:at]) == "" {
				first = max(first, at+len(s.token)-1)
			}
		}
		first = max(first, strings.Index(call, recipient)+len(recipient)-1) // before it, gpt-oss may only speak
		for end := first + 1; end < len(call); end++ {
			if !utf8.ValidString(call[:end]) {
				continue
			}
			cuts++
			e, _ := readEnd(t, said{text: test.text[:begin+end], end: llm.End{Stop: llm.StopEnd}})
			bare := strings.TrimSpace(call)[0] == '{' || strings.TrimSpace(call)[0] == '[' && !strings.HasPrefix(strings.TrimSpace(call), "[TOOL") || strings.HasPrefix(strings.TrimSpace(call), "read_file")
			if len(e.Calls) == 0 && e.Fault == "" && !e.Quoted && !bare && !strings.Contains(call, "functools") && !strings.Contains(call, "<tools>") && !strings.Contains(call, ">>>") {
				t.Errorf("%s: lost in %q", test.name, test.text[:begin+end])
				break
			}
			for _, c := range e.Calls {
				if whole, _ := readEnd(t, said{text: test.text, end: llm.End{Stop: llm.StopEnd}}); c.Name != "read_file" && c.Name != "list_files" && !slices.ContainsFunc(whole.Calls, func(w llm.ToolCall) bool { return w.Name == c.Name && w.Args == c.Args }) {
					t.Errorf("%s: half of it runs in %q: %s", test.name, test.text[:begin+end], c.Args)
				}
			}
		}
	}
	t.Logf("%d cuts of %d calls", cuts, len(reads))
}

// TestFaults lists calls that are surely meant, and that cannot be read.
func TestFaults(t *testing.T) {
	for name, test := range map[string]struct{ text, why string }{
		"unknown tool":        {`<tool_call>{"name":"fly","arguments":{}}</tool_call>`, "no tool of that name"},
		"cut":                 {`I look. ` + "\n" + `<tool_call>{"name":"read_file","arguments":{"pa`, "not JSON"},
		"two readings":        {`<tool_call>{'name':'write_file','arguments':{'path':'it's'}}</tool_call>`, "not JSON"},
		"tag in a parameter":  {"<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nx</parameter>\n<parameter=path>b</parameter>\n</function>", "twice"},
		"text in between":     {"<function=write_file>\n<parameter=content>\nx</parameter> y</parameter>\n</function>", "not whole"},
		"function in a text":  {"<tool_call>\n<function=write_file>\n<parameter=content>\nfoo </function> bar\n</parameter>\n</function>\n</tool_call>", "not whole"},
		"a list":              {`[TOOL_CALLS]read_file[ARGS][1]`, "not one JSON object"},
		"other code":          {`<|python_tag|>print("hi")`, "not whole"},
		"begin in a text":     {"<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nWrite <parameter=foo> here…</parameter>\n</function>", "several readings"},
		"known key in a text": {"<function=execute_command>\n<parameter=command>\necho <parameter=timeout> 5\n</parameter>\n</function>", "several readings"},
		"end in a text":       {"<function=execute_command>\n<parameter=command>\necho </parameter>\n<parameter=timeout>\n5\n</parameter>\n</function>", "several readings"},
		"unknown key":         {"<function=execute_command>\n<parameter=command>\nls\n</parameter>\n<parameter=foo>\nb\n</parameter>\n</function>", "no parameter"},
		"unknown key, GLM":    {"<tool_call>execute_command\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n<arg_key>foo</arg_key>\n<arg_value>b</arg_value>\n</tool_call>", "no parameter"},
		"unknown key, DSML":   {"<｜DSML｜function_calls><｜DSML｜invoke name=\"execute_command\"><｜DSML｜parameter name=\"command\" string=\"true\">ls</｜DSML｜parameter><｜DSML｜parameter name=\"foo\" string=\"true\">b</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>", "no parameter"},
		"no end, it writes":   {"<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nhalf of", "is missing"},
		"JSON without an end": {`<tool_call>{"name":"write_file","arguments":{"path":"a","content":"x"`, "is missing"},
		"Mistral, no end":     {`[TOOL_CALLS]write_file[ARGS]{"path":"a","content":"x"`, "is missing"},
		"no end of a value":   {"<tool_call><function=execute_command>\n<parameter=command>\nrm -rf build\n</tool_call>", "is missing"},
		"Kimi":                {`<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":`, "not JSON"},
		"one of two":          {`{"name":"list_files","parameters":{}}; {"name":"fly","parameters":{}}`, "no tool of that name"},
		"of no known form":    {"I look.\n<acme:tool_call>\nread_file a.go\n</acme:tool_call>", "not known"},
		"words after, LFM2":   {`<|tool_call_start|>[read_file(path="a")]<|tool_call_end|>I look at it.`, "not whole"},
		"Gemma 3, other code": {"```tool_code\nimport os\nos.remove('a')\n```", "not whole"},
		"Gemma 4, no tool":    {`<|tool_call>call:fly{}<tool_call|>`, "no tool of that name"},
		"gpt-oss":             {`<|channel|>commentary to=functions.read_file<|message|>{"path":`, "not JSON"},
	} {
		end, _ := readEnd(t, said{text: test.text, end: llm.End{Stop: llm.StopEnd}})
		if len(end.Calls) > 0 || end.Written != 0 || !strings.Contains(end.Fault, test.why) || !strings.Contains(end.Fault, "the model wrote a call") {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// TestAllOrNone lists answers with a call that could be read if the rest were not there.
func TestAllOrNone(t *testing.T) {
	const (
		read    = `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}</tool_call>`
		write   = `<tool_call>{"name":"write_file","arguments":{"path":"a","content":"x"}}</tool_call>`
		qwen    = "<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nx\n</parameter>\n</function>"
		mistral = `[TOOL_CALLS]write_file[ARGS]{"path":"a","content":"x"}`
		llama   = `<|python_tag|>{"name":"write_file","parameters":{"path":"a","content":"x"}}`
		kimi    = `<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{"path":"a","content":"x"}<|tool_call_end|>`
		gptOSS  = `<|start|>assistant<|channel|>commentary to=functions.write_file<|message|>{"path":"a","content":"x"}<|call|>`
	)
	for name, text := range map[string]string{
		"a result between":             read + "\n<tool_response>\npackage a\n</tool_response>\n" + write,
		"a result in the same line":    read + "<tool_response>package a</tool_response>" + write,
		"a result after":               write + "\n<tool_response>ok</tool_response>",
		"a result before":              "<tool_response>\nok\n</tool_response>\n" + write,
		"a result, then words":         write + "\n<tool_response>ok</tool_response>\nIt is written.",
		"a result in words":            read + "\n\nThe file has a mistake.\n\n" + write,
		"words after":                  write + "\n\nThat is how a call looks.",
		"words after, Qwen":            qwen + "\nDone.",
		"words after, Mistral":         mistral + " Done.",
		"words after, Llama":           llama + "\nDone.",
		"words after, Kimi":            kimi + "\nDone.",
		"words after, gpt-oss":         gptOSS + `<|start|>assistant<|channel|>final<|message|>Done.`,
		"an unknown tool before":       `<tool_call>{"name":"fly","arguments":{}}</tool_call>` + "\n" + write,
		"an unknown tool after":        write + "\n" + `<tool_call>{"name":"fly","arguments":{}}</tool_call>`,
		"no end before":                `<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}` + "\n\n" + write,
		"cut before":                   `<tool_call>{"name":"read_file","arguments":{"pa` + "\n\n" + write,
		"no begin before":              `{"name":"read_file","arguments":{"path":"a.go"}}</tool_call>` + "\n" + write,
		"not marked before":            `{"name":"read_file","arguments":{"path":"a.go"}}` + "\n\n" + write,
		"a list, not marked, before":   `[read_file(path="a.go")]` + "\n\n" + write,
		"in a sentence before":         "I look: " + read + "\n\n" + write,
		"in a sentence, cut, before":   "I look: <tool_call>\n\n" + write,
		"in a list before":             "- " + read + "\n\n" + write,
		"in a diff before":             "+" + read + "\n\n" + write,
		"another shape before":         read + "\n" + mistral,
		"another shape after":          write + "\n" + qwen + "\n" + llama,
		"Mistral's result":             `[TOOL_CALLS]read_file[ARGS]{"path":"a.go"}[TOOL_RESULTS]ok[/TOOL_RESULTS]` + mistral,
		"Llama's result":               `<|python_tag|>{"name":"read_file","parameters":{"path":"a.go"}}<|eom_id|><|start_header_id|>ipython<|end_header_id|>ok<|eot_id|>` + llama,
		"Kimi's result":                `<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a.go"}<|tool_call_end|>` + "\n<|im_system|>tool<|im_middle|>ok<|im_end|>\n" + kimi,
		"gpt-oss's result":             `<|channel|>commentary to=functions.read_file<|message|>{"path":"a.go"}<|call|><|start|>functions.read_file to=assistant<|channel|>commentary<|message|>ok<|end|>` + gptOSS,
		"gpt-oss's result before":      `<|start|>functions.read_file to=assistant<|channel|>commentary<|message|>ok<|end|>` + gptOSS,
		"DeepSeek's result":            "<｜tool▁outputs▁begin｜>ok<｜tool▁outputs▁end｜>\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{\"path\":\"a\",\"content\":\"x\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"another turn before":          "<|im_start|>user\nyes<|im_end|>\n" + write,
		"another turn between":         read + "<|im_end|>\n<|im_start|>user\n<tool_response>ok</tool_response><|im_end|>\n<|im_start|>assistant\n" + write,
		"a foreign call before":        "<function_calls>\n<invoke name=\"read_file\">\n</invoke>\n</function_calls>\n<function_results>ok</function_results>\n" + write,
		"a call in an open code block": "<tool_call>\n```json\n{\"name\":\"read_file\"}\n```\n</tool_call>\n" + write,
	} {
		end, _ := readEnd(t, said{text: text, end: llm.End{Stop: llm.StopEnd}})
		if len(end.Calls) > 0 || end.Written != 0 || !strings.Contains(end.Fault, "none of the calls in this answer was run") {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// TestRandomAnswers joins calls with text, results and broken calls: calls run only if they end
// the answer and nothing but text and whole quotations precedes them.
func TestRandomAnswers(t *testing.T) {
	shapes := [][]string{
		{`<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}</tool_call>`, "<tool_call>\n<function=list_files>\n</function>\n</tool_call>", "<tool_call>read_file<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>"},
		{`[TOOL_CALLS]read_file[ARGS]{"path":"a"}`, `[TOOL_CALLS][{"name":"list_files","arguments":{}}]`},
		{`<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|>`},
	}
	clean := []string{
		"I look at it.", "The file has a mistake.\nIt is in line 4.", "```\n<tool_call>{\"name\":\"todo\",\"arguments\":{}}</tool_call>\n```", "> <|python_tag|>{}", "It is `<tool_call>`.",
		"- one\n- two", "| a | b |\n|---|---|", "    [TOOL_CALLS]", "```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```",
	}
	dirty := []string{
		"<tool_response>ok</tool_response>", "[TOOL_RESULTS]ok[/TOOL_RESULTS]", "<|im_start|>user", "<function_results>\nok\n</function_results>", `{"name":"read_file","arguments":{"path":"a"}}`,
		"</tool_call>", "<tool_call>", `<tool_call>{"name":"fly","arguments":{}}</tool_call>`, `<|python_tag|>{"name":`, "The form is <function=read_file>.", "<｜tool▁outputs▁begin｜>", "<|start|>user<|message|>yes<|end|>",
		`<tool_call>{"name":"write_file","arguments":{"path":"a"`, "+[TOOL_CALLS]", "<observation>ok</observation>",
	}
	ran := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		pick := func(from []string) string { return from[r.IntN(len(from))] }
		var pieces []string
		whole := true
		for range r.IntN(4) {
			if r.IntN(3) > 0 {
				pieces = append(pieces, pick(clean))
			} else {
				pieces, whole = append(pieces, pick(dirty)), false
			}
		}
		shape := shapes[r.IntN(len(shapes))]
		for range 1 + r.IntN(3) {
			pieces = append(pieces, pick(shape))
			if r.IntN(5) == 0 {
				pieces, whole = append(pieces, pick(slices.Concat(clean, dirty))), false
			}
		}
		text := strings.Join(pieces, []string{"\n", "\n\n"}[r.IntN(2)])
		end, _ := readEnd(t, said{text: text, end: llm.End{Stop: llm.StopEnd}})
		if len(end.Calls) > 0 != whole || !whole && end.Fault == "" {
			t.Fatalf("seed %d: %d calls, %q in\n%s", seed, len(end.Calls), end.Fault, text)
		}
		if whole {
			ran++
		}
	}
	if ran < 500 {
		t.Errorf("only %d answers ran", ran)
	}
}

// TestQuotations lists calls that other text quotes.
func TestQuotations(t *testing.T) {
	forms := map[string]string{
		"Hermes":   `<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>`,
		"Qwen":     "<function=read_file><parameter=path>a</parameter></function>",
		"Mistral":  `[TOOL_CALLS]read_file[ARGS]{"path":"a"}`,
		"Llama":    `<|python_tag|>{"name":"read_file","parameters":{"path":"a"}}`,
		"Kimi":     `<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|>`,
		"DeepSeek": `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path":"a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
		"gpt-oss":  `<|channel|>commentary to=functions.read_file<|message|>{"path":"a"}<|call|>`,
	}
	for place, before := range map[string]string{
		"an added line": "The diff:\n+", "a removed line": "The diff:\n-", "a line of a diff": "@@ -1 +1 @@\n-x\n ", "an added line, after a blank": "+ ",
		"a list": "- ", "a list with stars": "* ", "a numbered list": "1. ", "a list with letters": "b) ", "a list with a bullet": "• ",
		"an item that goes on": "- An example:\n  ", "a glued number": "1.", "an item with a sentence": "- It writes this:", "a row": "| ", "a heading": "# ", "a comment": "// ", "a comment of a shell": "#",
		"a sentence": "It writes ", "the end of a sentence": "It writes this: ", "the end of a sentence with a dot": "That is wrong. ", "a quotation mark": `It said "`,
		"a code block": "```\n", "a code block with tildes": "~~~ xml\n", "a code block in a list": "- ```xml\n", "a code block in a list, deeper": "1. x\n\n     ```\n",
		"a code block with a longer fence": "````\n```\n", "a code block with another fence": "```\n~~~\n", "a code block with an indented fence": "```\n    ```\n", "a code block with a fence and words": "```\n``` go\n",
		"code": "`", "code over two lines": "It is `\n", "indented code": "It is\n\n    ", "code after a tab": "\t", "a quote": "> ", "an indented quote": "  > ",
		"a comment of HTML": "<!--\n", "preformatted text": "<pre>\n", "an element for code": "<details>\n<code>\n", "an example": "<example>\n", "a string of Python": "s = \"\"\"\n",
	} {
		for form, call := range forms {
			end, _ := readEnd(t, said{text: before + call, end: llm.End{Stop: llm.StopEnd}})
			if len(end.Calls) > 0 || end.Written != 0 || end.Fault != "" {
				t.Errorf("%s in %s: %+v", form, place, end)
			}
		}
	}
}

// Without a reason for the end of an answer, no end tag may be missing.
func TestNoReason(t *testing.T) {
	for text, whole := range map[string]bool{
		"<function=read_file>\n<parameter=path>a.go":                                          false,
		"<function=read_file>\n<parameter=path>a.go</parameter>":                              false,
		"<function=read_file>\n<parameter=path>a.go</parameter></function>":                   true,
		`<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}`:                         false,
		`<tool_call>{"name":"read_file","arguments":{"path":"a.go"}}</tool_call>`:             true,
		"<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.go</arg_value>":          false,
		`<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a.go"}`: false,
		`[TOOL_CALLS]read_file[ARGS]{"path":"a.go"`:                                           false,
		`[TOOL_CALLS]read_file[ARGS]{"path":"a.go"}`:                                          true,
		`<|channel|>commentary to=functions.read_file<|message|>{"path":"a.go"`:               false,
		`<|channel|>commentary to=functions.read_file<|message|>{"path":"a.go"}`:              true,
	} {
		end, _ := readEnd(t, said{text: text, end: llm.End{Stop: llm.StopEnd, NoReason: true}})
		if got := len(end.Calls) == 1 && end.Fault == ""; got != whole {
			t.Errorf("%q: %+v", text, end)
		}
	}
}

// TestNoCalls lists texts that only look like calls.
func TestNoCalls(t *testing.T) {
	const hermes = `<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>`
	for name, test := range map[string]said{
		"in a code block":               {text: "For example:\n```xml\n" + hermes + "\n```\n"},
		"in an open code block":         {text: "For example:\n~~~~\n```\n~~~\n" + hermes},
		"in a line":                     {text: "Write `" + hermes + "`"},
		"indented":                      {text: "For example:\n\n    " + hermes},
		"marked as such":                {text: "The log says:\n> " + hermes},
		"in a sentence, quoted":         {text: "Qwen writes calls like <function=execute_command><parameter=command>rm -rf build</parameter></function>"},
		"after a quote, quoted":         {text: `Its form is "` + hermes},
		"Mistral in a sentence, quoted": {text: `Mistral begins with [TOOL_CALLS]read_file[ARGS]{"path":"a"}`},
		"cut off":                       {text: hermes, end: llm.End{Stop: llm.StopLength}},
		"filtered":                      {text: hermes, end: llm.End{Stop: llm.StopFilter}},
		"another call":                  {text: hermes, end: llm.End{Stop: llm.StopTools, Calls: []llm.ToolCall{{ID: "x", Name: "todo"}}}},
		"a schema":                      {text: `{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`},
		"a schema, described":           {text: `{"name":"read_file","description":"reads","parameters":{"path":"a"}}`},
		"other JSON":                    {text: `{"name":"agent","arguments":{"path":"a"}}`},
		"JSON with text":                {text: `Here: {"name":"read_file","arguments":{"path":"a"}}`},
		"JSON in a block":               {text: "```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```"},
		"keys missing":                  {text: `{"name":"write_file","arguments":{"path":"a"}}`},
		"two kinds of keys":             {text: `{"name":"list_files","arguments":{},"parameters":{}}`},
		"Python":                        {text: `read_file(path="a")`},
		"a list of numbers":             {text: `[1, 2, 3]`},
		"an empty list":                 {text: `[]`},
		"channels":                      {text: "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Done."},
		"broken":                        {text: hermes, err: errors.New("broken")},
		"nothing":                       {text: ""},
	} {
		if test.end.Stop == "" {
			test.end.Stop = llm.StopEnd
		}
		end, _ := readEnd(t, test)
		if test.err != nil {
			if end != nil {
				t.Errorf("%s: %+v", name, end)
			}
			continue
		}
		if test.end.Quoted = end.Quoted; end.Quoted != strings.Contains(name, "quoted") {
			t.Errorf("%s: quoted is %v", name, end.Quoted)
		}
		if diff := cmp.Diff(&test.end, end); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A request without tools gets the answer as it is.
func TestNoTools(t *testing.T) {
	m := said{text: reads[0].text, end: llm.End{Stop: llm.StopEnd}}
	for d := range (Model{m}).Stream(t.Context(), llm.Request{}) {
		if d.End != nil && len(d.End.Calls) > 0 {
			t.Errorf("%+v", d.End)
		}
	}
}
