//go:build unix

package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestCompactionOnTheScreen lets a server refuse a conversation: it continues by
// itself, the user sees the compaction and edits its summary, and the model gets the
// edited one.
func TestCompactionOnTheScreen(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A long answer. ", 200)
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: long, Usage: &llmtest.Usage{Input: 2000, Output: 900}},
		llmtest.Turn{Text: long, Usage: &llmtest.Usage{Input: 3000, Output: 900}},
		llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"This model's maximum context length is 4000 tokens. However, your messages resulted in 4100 tokens.","code":"context_length_exceeded"}}`),
		llmtest.Turn{Text: "The notes of the model."},
		llmtest.Turn{Text: "It goes on."},
		llmtest.Turn{Text: "Told."},
	), nil)
	d.env = append(d.env, "EDITOR=sed -i s/model/user/", "VISUAL=")
	d.sit()
	for _, prompt := range []string{"the first prompt", "the second prompt"} {
		d.say(prompt)
		d.WaitFor(`answer\. *\n`)
		d.idle()
	}
	d.say("/pin")
	d.WaitFor(`Pin which prompt\?(.|\n)*the second prompt(.|\n)*the first prompt`)
	d.Press("down", "enter")
	d.WaitFor(`Pinned: compactions keep`)
	d.say("the third prompt")
	d.WaitFor(`The conversation was compacted, from about \d+ to \d+ tokens`)
	d.WaitFor(`It goes on\.`)
	d.idle()
	d.say("/context")
	d.WaitFor(`of 4,000 tokens(.|\n)*Summary(.|\n)*Free`)
	d.say("/compact show")
	d.WaitFor(`The notes of the model\.`)
	d.say("/compact edit")
	d.WaitFor(`gets your summary from now on`)
	d.say("and now")
	d.WaitFor(`Told\.`)
	d.idle()
	told := string(d.request(5))
	for _, want := range []string{"The notes of the user.", "the first prompt", "the third prompt"} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q:\n%s", want, told)
		}
	}
	if strings.Contains(told, "A long answer") {
		t.Error("what was compacted is still sent")
	}
	d.leave()
}

// The newest session is open in another window: agent -c continues the newest free one
// with a note, and the list marks the other.
func TestContinueTheNewestFreeSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "One.", "Two.", "Three."), nil)
	d.sit()
	d.say("the older one")
	d.WaitFor(`One\.`)
	d.idle()
	d.leave()
	d.sit()
	d.say("the newer one")
	d.WaitFor(`Two\.`)
	d.idle()
	e := *d
	e.sit("-c")
	e.WaitFor(`The newest session is open in another process: continuing the newest one that is not`)
	e.WaitFor(`the older one`)
	e.say("/resume")
	e.WaitFor(`the newer one .* open elsewhere`)
	e.Press("esc")
	e.gone("Choose a session")
	e.leave()
	d.leave()
}

// TestForkRenameAndChoose: a fork is independent, and the list tells the sessions
// apart.
func TestForkRenameAndChoose(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "One.", "Two.", "Three."), nil)
	d.sit()
	d.say("where it began")
	d.WaitFor(`One\.`)
	d.idle()
	d.say("/rename the trunk")
	d.WaitFor(`Session renamed: the trunk`)
	d.say("/fork the branch")
	d.WaitFor(`This is now a fork`)
	d.say("only in the fork")
	d.WaitFor(`Two\.`)
	d.idle()
	d.say("/resume")
	d.WaitFor(`Choose a session(.|\n)*› the trunk +just now +1 prompt(.|\n)*│ you: where it began\n.*│ model: One\.`)
	d.Type("began") // in a message, not in the title
	d.WaitFor(`› the trunk  where it began One`)
	d.Press("enter")
	d.WaitFor(`where it began(.|\n)*One\.(.|\n)*❯ *\n`)
	d.idle()
	d.say("back again")
	d.WaitFor(`Three\.`)
	d.idle()
	if told := string(d.request(2)); strings.Contains(told, "only in the fork") || !strings.Contains(told, "where it began") {
		t.Errorf("the trunk has become %s", told)
	}
	d.say("/export talk.json")
	d.WaitFor(`written to talk\.json`)
	if data := d.read("talk.json"); !strings.Contains(data, `"title": "the trunk"`) || !strings.Contains(data, `"text": "back again"`) {
		t.Errorf("exported %s", data)
	}
	d.leave()
}

// The program ends during a question: the next start offers that session and names the
// undecided proposal, and the model learns that nobody declined it.
func TestAnUndecidedProposalIsOffered(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"hung up": syscall.SIGHUP, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "Here again."}), map[string]string{"main.go": program})
			d.sit()
			d.say("be polite")
			d.asked(`good day`)
			d.Signal(sig)
			d.Wait()
			d.sit()
			d.WaitFor(`The last session here ended before .*“Edit main\.go”.*: agent -c continues it`)
			d.leave()
			d.sit("-c")
			d.say("go on")
			d.WaitFor(`Here again`)
			told := string(d.request(1))
			if strings.Contains(strings.ToLower(told), "by the user") || !strings.Contains(told, "the program ended before") {
				t.Errorf("the model is told %s", told)
			}
			d.idle()
			d.leave()
			d.sit()
			if strings.Contains(d.Screen(), "The last session here") {
				t.Error("a session that went on is offered")
			}
			d.leave()
		})
	}
}
