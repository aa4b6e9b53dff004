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
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: `<tool_call>{"name": "write_file", "arguments": {"path": "new.txt", "content": "half`}), nil)
	code, out := d.prompted("--permission-mode", "accept-edits")
	if code != 1 || !strings.Contains(out, "the model wrote a call as text that cannot be read") || !strings.Contains(out, "try a model that is trained to call tools") {
		t.Errorf("exit status %d: %q", code, out)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil {
		t.Error("it was run")
	}
}

// A call that a sentence only quotes is text, and so is one that a broken stream cut off.
func TestWrittenCallThatIsNoCall(t *testing.T) {
	const call = "<function=write_file><parameter=path>new.txt</parameter><parameter=content>half"
	for name, turn := range map[string]llmtest.Turn{
		"in a sentence": {Text: "Qwen writes calls like " + call + "</parameter></function>"},
		"no end":        {Text: call},
	} {
		d := newDesk(t, llmtest.NewServer(t, turn, llmtest.Turn{Text: "Done."}), nil)
		_, out := d.prompted("--permission-mode", "accept-edits")
		if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil {
			t.Errorf("%s: it was run: %q", name, out)
		}
	}
}
