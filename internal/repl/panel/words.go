package panel

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// words are the user's words for the model besides yes and no.
type words struct {
	*Panel
	ed       *input.Editor // not nil while a comment is typed
	about    subject       // of that comment
	drafts   map[subject]*input.Editor
	comments []confirm.Comment
}

// subject identifies the target of a comment.
type subject struct {
	file int // of a plan
	hunk int // or line of a document; -1 for all of the question
}

// write begins a comment, or goes on with one that Esc left.
func (w *words) write(hunk int) {
	w.about = subject{hunk: hunk}
	if l, ok := w.part.(*plan); ok && hunk >= 0 {
		w.about.file = l.cursor
	}
	if w.drafts == nil {
		w.drafts = make(map[subject]*input.Editor)
	}
	if w.drafts[w.about] == nil {
		w.drafts[w.about] = input.New(input.Options{NoColor: w.look.NoColor, Keys: w.Keys})
	}
	w.ed = w.drafts[w.about]
}

// WriteAnswer opens the editor of an answer that has no options and that the model must not read:
// words typed at once are no prompt.
func (p *Panel) WriteAnswer() {
	if q, ok := p.part.(*question); ok && q.Reader != "" && len(q.Options) == 0 {
		p.words.write(-1)
	}
}

// Note returns the editor of the open comment or rule and its label, or nil.
func (p *Panel) Note() (ed *input.Editor, label string) {
	if p.rule.ed != nil {
		return p.rule.ed, "rule: "
	}
	return p.words.ed, p.part.label(p.words.about.hunk)
}

// Comment returns the text of the open comment, or "".
func (p *Panel) Comment() string {
	if p.words.ed == nil {
		return ""
	}
	return p.words.ed.Text()
}

// Unsent returns the person's words that a question without an answer of theirs leaves: the
// comments, the open one, and those that Esc left. Words for somebody else than the model are
// lost: they may be a password.
func (p *Panel) Unsent() string {
	if p.words.reader() != "" {
		return ""
	}
	var lines []string
	for _, c := range p.words.comments {
		lines = append(lines, p.part.located(c))
	}
	for _, about := range slices.SortedFunc(maps.Keys(p.words.drafts), func(a, b subject) int {
		return cmp.Or(a.file-b.file, a.hunk-b.hunk)
	}) {
		// Untrimmed: the person may be typing it, and goes on at the prompt.
		if text := p.words.drafts[about].Text(); strings.TrimSpace(text) != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// press handles a key while a comment is typed. A panel that is not armed does not send
// it.
func (w *words) press(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	switch {
	case w.Keys.At(keys.Prompt, key) == keys.Stop:
		w.ed = nil
	case w.ed.Handle(key) == input.Submit && w.armed:
		text := strings.TrimSpace(w.ed.Take())
		w.ed = nil
		delete(w.drafts, w.about)
		switch {
		case text == "":
		case w.about.hunk >= 0:
			w.part.comment(w.about.hunk, text)
		default:
			return Answered, w.part.said(text)
		}
	}
	return Handled, confirm.Verdict{}
}

// style is the style of the hint: that of keys which answer, once Enter sends an answer to
// somebody else than the model.
func (w *words) style() theme.Style {
	if w.armed && w.reader() != "" {
		return w.look.Styles.Accent
	}
	return w.look.Styles.Dim
}

// reader names who reads the words, if not the model; "" for the model.
func (w *words) reader() string {
	if c, ok := w.req.Subject.(*confirm.Choice); ok {
		return c.Reader
	}
	return ""
}

// hint explains the words that are typed.
func (w *words) hint() string {
	_, asks := w.req.Subject.(*confirm.Choice)
	switch {
	case w.about.hunk >= 0:
		return "comment on this hunk; the model reads it with your answer" + w.legend.typingKeys("keeps it")
	case asks:
		return "your answer; " + sanitize.Line(cmp.Or(w.reader(), "the model")) + " reads this" + w.legend.typingKeys("sends")
	}
	return "why not? the model reads this" + w.legend.typingKeys("sends")
}

// typingKeys are the hints about the keys of an editor; sends is what sending does.
func (l *legend) typingKeys(sends string) string {
	return " · " + l.hint(sends, keys.Send) + " · " + l.hint("goes back", keys.Stop)
}
