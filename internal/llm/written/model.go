// Package written reads the calls that models write into their text, where a server does
// not do so. It guarantees that only a call that ends an answer counts, that names a tool
// on offer and that is whole; never one in a code block, and never while text arrives. The
// calls of an answer count all, or none.
package written

import (
	"context"
	"iter"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Model reads the calls that the model writes. Their text is delivered as it arrives, and
// counted in End.Written.
type Model struct{ llm.Model }

// Stream implements llm.Model.
func (m Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	answer := m.Model.Stream(ctx, req)
	if len(req.Tools) == 0 {
		return answer
	}
	return func(yield func(llm.Delta, error) bool) {
		var text strings.Builder
		for d, err := range answer {
			switch {
			case d.Retry != nil:
				text.Reset()
			case d.End != nil:
				d.End = complete(*d.End, text.String(), req.Tools)
			}
			text.WriteString(d.Text)
			if !yield(d, err) {
				return
			}
		}
	}
}

// complete returns end with the calls in text if it has no others.
func complete(end llm.End, text string, tools []llm.ToolSpec) *llm.End {
	if len(end.Calls) > 0 || end.Stop != llm.StopEnd && end.Stop != llm.StopTools {
		return &end
	}
	r := newReader(text, tools)
	r.cut = end.NoReason
	start, ok := r.find()
	if !ok {
		end.Fault, end.Quoted = r.fault, r.quoted
		return &end
	}
	for _, c := range r.calls {
		end.Calls = append(end.Calls, llm.ParseCall(llm.NewCallID(), c.name, c.args, end.Stop))
	}
	end.Stop, end.Written = llm.StopTools, len(text)-start
	return &end
}
