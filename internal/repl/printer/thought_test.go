//go:build unix

package printer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

func TestThought(t *testing.T) {
	p := newPrinting(t, 60, 40)
	p.Thought(" \n", time.Second)
	p.Thought("Short.", 0)
	p.Call(ended("read a.go", "3 lines", func(*tools.Result) {}), nil, 0)
	p.Thought("**A heading\x1b[2J**\n\nand the rest\n", 3*time.Second)
	p.Stream([]string{"", "It is so."})
	p.Thought(strings.Repeat("so it goes on ", 30_000), 75*time.Second)
	want := []string{
		"", "◌ Short. · 0s · ~2 tokens", "● read a.go · 3 lines",
		`◌ A heading\u{1b}[2J · 3s · ~8 tokens, F4`, "", "It is so.",
		"", "◌ so it goes on so it goes on… · 1m 15s · ~105.0k tokens, F4",
	}
	if d := cmp.Diff(want, p.rows()); d != "" {
		t.Error(d)
	}
	if page := p.Record.Page()(); !strings.Contains(page.Doc.Text(page.At+1), "The model thought") || !strings.HasPrefix(page.Doc.Text(page.At+2), "so it goes on so") {
		t.Errorf("the page opens at %d", page.At)
	}
}

// A resumed conversation has its thoughts, without their times.
func TestThoughtOfAnEarlierSession(t *testing.T) {
	p := newPrinting(t, 60, 40)
	answer := history.Text(llm.Assistant, "It is so.")
	answer.Parts = append([]llm.Part{{Kind: llm.ReasoningPart, Text: "A thought\nof two lines"}}, answer.Parts...)
	p.History([]history.Item{{Message: history.Text(llm.User, "so?")}, {Message: answer}})
	want := []string{"", "◌ A thought · ~6 tokens, F4", "", "It is so."}
	if d := cmp.Diff(want, p.rows()[3:]); d != "" {
		t.Error(d)
	}
	page := p.Record.Page()()
	var text []string
	for i := range page.Doc.Len() {
		text = append(text, page.Doc.Text(i))
	}
	if all := strings.Join(text, "\n"); !strings.Contains(all, "thought:\nA thought\nof two lines\n") {
		t.Errorf("the page: %q", all)
	}
}
