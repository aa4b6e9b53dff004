//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

const writtenCall = `<tool_call>
{"name": "write_file", "arguments": {"path": "new.txt", "content": "new\n",}}
</tool_call>`

// A call that a local model writes into its text runs like any other, and the next request
// sends it as a call.
func TestWrittenCall(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Turn{Text: "I write it.\n\n" + writtenCall, Chunk: 5}, llmtest.Turn{Text: "Done."})
	d := newDesk(t, server, nil)
	code, out := d.prompted("--permission-mode", "accept-edits")
	if code != 0 || !strings.Contains(out, "Done.") || strings.Contains(out, "tool_call") {
		t.Errorf("exit status %d: %q", code, out)
	}
	if data, err := os.ReadFile(filepath.Join(d.dir, "new.txt")); err != nil || string(data) != "new\n" {
		t.Errorf("%q, %v", data, err)
	}
	second := string(d.request(1))
	if !strings.Contains(second, `"content":"I write it.","tool_calls":[`) || strings.Contains(second, "<tool_call>") {
		t.Errorf("request %s", second)
	}
}

func TestWrittenCallIsShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "I write it.\n\n" + writtenCall, Chunk: 5}, llmtest.Turn{Text: "Done."}), nil)
	d.sit()
	d.say("write it")
	d.WaitFor(`Read from the text: 1 call`)
	d.asked(`create new\.txt`)
	d.Type("y")
	d.WaitFor(`Done\.`)
	d.idle()
	d.leave()
}

// A call that cannot be read is the model's fault, and never run.
func TestWrittenCallThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: `<tool_call>{"name": "write_file", "arguments": {"path": "new.txt", "content": "half`}), nil)
	code, out := d.prompted("--permission-mode", "accept-edits")
	if code != 1 || !strings.Contains(out, "the model wrote a call as text that cannot be read") || !strings.Contains(out, "try a model that is trained to call tools") {
		t.Errorf("exit status %d: %q", code, out)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil {
		t.Error("it was run")
	}
}

// Calls in the forms of many families of models run, and others are named as the model's fault: none
// is lost without a word.
func TestWrittenForms(t *testing.T) {
	t.Parallel()
	for text, runs := range map[string]bool{
		"I write it.[TOOL_CALLS]write_file{\"path\": \"new.txt\", \"content\": \"new\\n\"}":                                                                                                   true,
		"I write it [TOOL_CALLS]write_file{\"path\": \"new.txt\", \"content\": \"new\\n\"}":                                                                                                   false,
		"{\"name\":\"find_files\",\"parameters\":{\"pattern\":\"*\"}}; {\"name\":\"write_file\",\"parameters\":{\"path\":\"new.txt\",\"content\":\"new\\n\"}}":                                true,
		"Now.\n{\"name\":\"write_file\",\"parameters\":{\"path\":\"new.txt\",\"content\":\"new\\n\"}}":                                                                                        false,
		"<minimax:tool_call>\n<invoke name=\"write_file\">\n<parameter name=\"path\">new.txt</parameter>\n<parameter name=\"content\">\nnew\n\n</parameter>\n</invoke>\n</minimax:tool_call>": true,
		"```tool_code\nprint(default_api.write_file(path=\"new.txt\", content=\"new\\n\"))\n```":                                                                                              true,
		"```tool_code\nopen('new.txt', 'w').write('new')\n```":                                                                                                                                false,
		"<|tool_call>call:write_file{content:<|\"|>new\n<|\"|>,path:<|\"|>new.txt<|\"|>}<tool_call|>":                                                                                         true,
		"<|tool_call>call:write_file{content:<|\"|>ne":                                                                                                                                        false,
		"<acme:tool_call>write_file new.txt</acme:tool_call>":                                                                                                                                 false,
	} {
		d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: text, Chunk: 7}, llmtest.Turn{Text: "Done."}), nil)
		code, out := d.prompted("--permission-mode", "accept-edits")
		data, err := os.ReadFile(filepath.Join(d.dir, "new.txt"))
		if runs && (code != 0 || string(data) != "new\n") || !runs && (code != 1 || err == nil || !strings.Contains(out, "try a model that is trained to call tools")) {
			t.Errorf("%q: exit status %d, %q: %s", text, code, data, out)
		}
	}
}

// A written call does not run after one that was dropped, or after a result that the model
// made up.
func TestWrittenCallAfterADroppedOne(t *testing.T) {
	t.Parallel()
	const read = `<tool_call>{"name": "read_file", "arguments": {"path": "README.md"}}</tool_call>`
	for name, text := range map[string]string{
		"a result": read + "\n<tool_response>old</tool_response>\n" + writtenCall,
		"a gap":    read + "\nIt is old.\n" + writtenCall,
		"a half":   `<tool_call>{"name": "read_file", "argu` + "\n" + writtenCall,
		"words":    writtenCall + "\nThat is how it is written.",
	} {
		d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: text, Chunk: 7}), nil)
		code, out := d.prompted("--permission-mode", "accept-edits")
		if code != 1 || !strings.Contains(out, "none of the calls in this answer was run") {
			t.Errorf("%s: exit status %d: %q", name, code, out)
		}
		if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil {
			t.Errorf("%s: it was run", name)
		}
	}
}

// A call that other text only quotes is text, and so is one that a broken stream cut off.
func TestWrittenCallThatIsNoCall(t *testing.T) {
	t.Parallel()
	const call = "<function=write_file><parameter=path>new.txt</parameter><parameter=content>half"
	const tag = `<|python_tag|>{"name": "write_file", "parameters": {"path": "new.txt", "content": "x"}}`
	for name, turn := range map[string]llmtest.Turn{
		"in a sentence":             {Text: "Qwen writes calls like " + call + "</parameter></function>"},
		"at the end of a sentence":  {Text: "It wrote this. " + call + "</parameter></function>"},
		"in a diff":                 {Text: "The diff:\n\n-old\n+" + tag},
		"in a list":                 {Text: "The forms:\n\n- " + tag},
		"in a code block of a list": {Text: "The forms:\n\n- ```\n" + tag},
		"no end":                    {Text: call},
	} {
		d := newDesk(t, llmtest.NewServer(t, turn, llmtest.Turn{Text: "Done."}), nil)
		_, out := d.prompted("--permission-mode", "accept-edits")
		if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil {
			t.Errorf("%s: it was run: %q", name, out)
		}
	}
}
