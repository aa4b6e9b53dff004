package panel

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// legend is the hints about keys, below the body.
type legend struct{ *Panel }

// hint returns a hint about actions, behind their keys.
func (l *legend) hint(does string, actions ...keys.Action) string {
	return l.Keys.Hint(does, actions...)
}

// scrolls is the hint about the pages of the body.
func (l *legend) scrolls() string {
	return l.hint("scroll", keys.QuestionPageUp, keys.QuestionPageDown)
}

// no is the hint of the refusal, after a warning.
func (l *legend) no() string { return l.hint("no", keys.Reject) }

// lines returns the keys that answer; n is the number of unseen lines.
func (l *legend) lines(n int) []string {
	st := l.look.Styles
	switch {
	case l.words.ed != nil:
		return hint(l.look, l.words.style(), l.words.hint())
	case l.rule.ed != nil:
		return l.rule.hints()
	case l.PromptHasKeys && l.Take != "":
		style := st.Dim
		if l.calm {
			style = st.Warn
		}
		return hint(l.look, style, l.Take+" to answer · the keys go to your draft")
	case l.PromptHasKeys:
		return hint(l.look, st.Dim, "at the prompt: "+l.hint("queues it", keys.Send)+" · "+l.hint("queued text", keys.Previous)+" · "+l.hint("back to the question", keys.Stop))
	case !l.show.unseen.IsZero():
		return l.items(st.Warn, l.unseenKeys())
	case l.part.details() != nil:
		return append(l.about(), l.part.details()...)
	case n > 0:
		return l.items(l.ready(st.Warn), []string{plural.Grouped(n) + " more lines: scroll to the end before you accept", l.hint("scrolls", keys.QuestionPageDown), l.no(), l.esc()})
	}
	return append(l.about(), l.items(l.ready(st.Accent), l.part.answers())...)
}

// ready returns the style of hints about keys that answer: dim until those count.
func (l *legend) ready(style theme.Style) theme.Style {
	if !l.armed {
		return l.look.Styles.Dim
	}
	return style
}

// unseenKeys reports the unseen part of a diff and returns the keys.
func (l *legend) unseenKeys() []string {
	what, key := l.part.unseen()
	return []string{what + ". " + l.again() + " to accept anyway.", key, l.no(), l.esc()}
}

// again tells which key approves in spite of a warning.
func (l *legend) again() string { return "Press " + l.Keys.First(keys.Approve) + " again" }

// brief is hints for little room: only the essential keys.
func (l *legend) brief(n int) []string {
	if l.rule.ed != nil {
		return l.rule.brief()
	}
	plain := l.words.ed == nil && !l.PromptHasKeys
	if plain && !l.show.unseen.IsZero() {
		return l.items(l.look.Styles.Warn, l.unseenKeys())[:1]
	}
	plain = plain && l.part.details() == nil
	switch {
	case plain && n > 0:
		return l.items(l.ready(l.look.Styles.Warn), []string{fmt.Sprintf("%d more: ", n) + l.hint("", keys.QuestionPageDown), l.no(), l.esc()})[:1]
	case !plain:
		return l.lines(n)[:1]
	}
	return append(l.about()[:min(1, len(l.about()))], l.items(l.ready(l.look.Styles.Accent), l.part.brief())[:1]...)
}

// about returns the actions for the marked hunk and, on request, all other keys.
func (l *legend) about() []string {
	var out []string
	if h := l.diff.hunks(); h != nil && h.Marked() >= 0 && !l.diff.covered() {
		out = l.items(l.look.Styles.User, l.diff.aboutHunk(h))
	}
	if about := l.part.about(); len(about) > 0 && !l.diff.covered() {
		out = l.items(l.look.Styles.User, about)
	}
	if l.missed != "" {
		out = append(out, theme.Paint(l.look.Styles.Warn, theme.Short(l.missed, l.look.Width)))
	}
	if l.show.whole {
		out = append(out, l.items(l.look.Styles.Warn, []string{"the only hunk of a change cannot be left out", l.no(), l.hint("why not", keys.Comment), l.hint("edit", keys.Edit)})...)
	}
	if l.show.keys {
		out = append(out, l.items(l.look.Styles.Dim, l.more())...)
	}
	return out
}

// answers returns the keys that answer a request.
func (l *legend) answers() []string {
	req := l.req
	out := []string{l.answer.approval(true)}
	if len(l.diff.left()) == 0 && !req.Once() {
		out = append(out, l.answer.hint(keys.ApproveSession, "always ("+req.Facts().Covers+")", true))
		if req.Offer != nil && !l.aboutFile() {
			out = append(out, l.hint("allow "+sanitize.Line(req.Offer.Covers())+" from now on …", keys.ApproveAlways))
		}
	}
	out = append(out, l.answer.hint(keys.Reject, "no", true))
	if req.Tool != undo {
		out = append(out, l.hint("why not", keys.Comment))
	}
	if req.Tool != undo && editable(l.part) {
		out = append(out, l.hint("edit", keys.Edit))
	}
	out = append(append(out, l.diff.compared()...), l.diff.checkHint()...)
	if len(l.more()) > 0 {
		out = append(out, l.hint("keys", keys.MoreKeys))
	}
	return append(out, l.esc())
}

// neighbors returns the hints about the next and the previous hunk, file or line.
func (l *legend) neighbors() []string {
	return []string{l.hint("next", keys.HunkNext), l.hint("previous", keys.HunkPrevious)}
}

// hunkKeys is the hint about the keys that mark a hunk.
func (l *legend) hunkKeys() string { return l.hint("hunks", keys.HunkNext, keys.HunkPrevious) }

// size returns the key for the size of the panel.
func (l *legend) size() string {
	if l.show.full {
		return l.hint("smaller", keys.Full)
	}
	return l.hint("full", keys.Full)
}

// esc describes the present effect of Esc.
func (l *legend) esc() string {
	if l.diff.covered() || l.show.full || l.show.queue || len(l.part.about()) > 0 || l.diff.hunks() != nil && l.diff.hunks().Marked() >= 0 {
		return l.hint("back", keys.Cancel)
	}
	return l.hint("cancel", keys.Cancel)
}

// aboutFile reports whether a rule for the request names files. Its key is among the others:
// people answer many edits.
func (l *legend) aboutFile() bool {
	switch l.req.Subject.(type) {
	case *confirm.Edits, *confirm.Read:
		return true
	default:
		return false
	}
}

// more returns the other keys of a request.
func (l *legend) more() []string {
	var out []string
	if !l.diff.covered() {
		out = l.part.remarks()
	}
	if s, ok := l.part.(*single); ok && l.diff.out == nil {
		out = append(out, l.diff.layoutKeys(s.file.view)...)
	}
	if l.opens() {
		out = append(out, l.hint("open in "+sanitize.Line(l.Editor), keys.OpenEditor))
	}
	if l.req.Offer != nil && l.aboutFile() {
		out = append(out, l.hint("allow "+sanitize.Line(l.req.Offer.Covers())+" from now on …", keys.ApproveAlways))
	}
	if l.body.Len() > 0 {
		out = append(out, l.size(), l.scrolls(), l.hint("prompt", keys.ToPrompt))
	}
	if l.req.Batch.Total > 1 && len(l.req.Batch.Calls) > 0 {
		out = append(out, l.hint("list of calls", keys.Calls))
	}
	return out
}

// items wraps texts and splits only long ones, after the word behind their keys.
func (l *legend) items(style theme.Style, texts []string) []string {
	const nbsp = "\u00a0"
	look := l.look
	whole := make([]string, len(texts))
	for i, t := range texts {
		n := 2 // blanks of "1 y yes"
		if 2*cells.Width(t) <= look.Width {
			n = -1
		}
		whole[i] = strings.Replace(t, " ", nbsp, n)
	}
	lines := theme.Wrap(strings.Join(whole, " · "), "", look.Width)
	for i, l := range lines {
		l = strings.TrimSuffix(strings.TrimRight(l, " "), " ·")
		lines[i] = theme.Paint(style, strings.ReplaceAll(l, nbsp, " "))
	}
	return lines
}

func hint(look theme.Look, style theme.Style, text string) []string {
	lines := theme.Wrap(text, "", look.Width)
	for i, l := range lines {
		lines[i] = theme.Paint(style, l)
	}
	return lines
}

// opens reports whether an editor can show the question.
func (l *legend) opens() bool {
	c := l.req.File()
	return l.Editor != "" && c != nil && !c.Removes()
}
