package panel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// words are the user's words for the model besides yes and no.
type words struct {
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
func (p *Panel) write(hunk int) {
	w := &p.words
	w.about = subject{hunk: hunk}
	if l, ok := p.part.(*plan); ok && hunk >= 0 {
		w.about.file = l.cursor
	}
	if w.drafts == nil {
		w.drafts = make(map[subject]*input.Editor)
	}
	if w.drafts[w.about] == nil {
		w.drafts[w.about] = input.New(input.Options{NoColor: p.look.NoColor})
	}
	w.ed = w.drafts[w.about]
}

// WriteAnswer opens the editor of an answer that has no options and that the model must not read:
// words typed at once are no prompt.
func (p *Panel) WriteAnswer() {
	if q, ok := p.part.(*question); ok && q.Reader != "" && len(q.Options) == 0 {
		p.write(-1)
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
	if p.reader() != "" {
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

// pressNote handles a key while a comment is typed. A panel that is not armed does not send
// it.
func (p *Panel) pressNote(key tea.KeyPressMsg) (Outcome, confirm.Verdict) {
	w := &p.words
	switch {
	case key.String() == "esc":
		w.ed = nil
	case w.ed.Handle(key) == input.Submit && p.armed:
		text := strings.TrimSpace(w.ed.Take())
		w.ed = nil
		delete(w.drafts, w.about)
		switch {
		case text == "":
		case w.about.hunk >= 0:
			p.part.comment(w.about.hunk, text)
		default:
			return Answered, p.part.said(text)
		}
	}
	return Handled, confirm.Verdict{}
}

// hunks returns the hunks that can be left out or commented on, or nil.
func (p *Panel) hunks() *diffview.Hunks { return p.part.hunks() }

// left returns the hunks left out.
func (p *Panel) left() []int {
	if h := p.hunks(); h != nil {
		return h.Out()
	}
	return nil
}

// pressHunk handles a key for hunks and reports whether it is one.
func (p *Panel) pressHunk(key string) bool {
	h := p.hunks()
	_, several := p.part.(*plan)
	switch {
	case h == nil || p.covered():
		return false
	case several && (h.Len() == 1 && key == "space" || key == "tab"): // of the file
		return false
	case key == "m" && p.comments():
		p.comment(h)
		return true
	case key == "space" && h.Len() == 1: // the only hunk cannot be left out
		p.show.whole = p.body.Len() <= p.scroll.room
		p.show.keys = p.show.keys && !p.show.whole // replaces the list of keys
		return p.show.whole                        // otherwise Space pages down
	}
	return p.moveHunk(h, key)
}

// moveHunk handles a key that marks a hunk or leaves it out.
func (p *Panel) moveHunk(h *diffview.Hunks, key string) bool {
	marked := h.Marked()
	switch {
	case key == "]", key == "tab":
		p.mark(min(max(marked+1, 0), h.Len()-1))
		if marked < 0 {
			p.mark(h.Next(p.scroll.offset))
		}
	case key == "[":
		p.mark(max(marked-1, 0))
	case key == "space" && marked < 0:
		p.mark(h.Next(p.scroll.offset)) // it must be visible before it is left out
	case key == "space":
		h.Toggle(marked)
		p.mark(marked)
	default:
		return false
	}
	return true
}

// comment begins a comment on the marked hunk, or on the next one.
func (p *Panel) comment(h *diffview.Hunks) {
	if h.Marked() < 0 {
		p.mark(h.Next(p.scroll.offset))
	}
	p.write(h.Marked())
}

// mark marks a hunk and makes it visible.
func (p *Panel) mark(i int) {
	first, last := p.view().Hunks().Mark(i)
	const more = 2 // lines that the header and the hints may add for a hunk
	if s := &p.scroll; first < s.offset || last >= s.offset+s.room-more {
		s.offset = max(0, first-1) // with one line of context
		s.kept = true
	}
}

// opens reports whether an editor can show the question.
func (p *Panel) opens() bool {
	c := p.req.File()
	return p.Editor != "" && c != nil && !c.Removes()
}

// comments reports whether the person may comment on hunks.
func (p *Panel) comments() bool {
	l, ok := p.part.(*plan)
	return !ok || l.edits.Review
}

// expand shows or folds the unchanged lines; it returns false without a diff.
func (p *Panel) expand() bool {
	switch {
	case p.view() == nil || p.out != nil:
		return false
	case p.rev.shown():
		p.rev.view.Expand(!p.rev.view.Expanded())
		p.scroll.top()
	default:
		p.view().Expand(!p.view().Expanded())
		p.moved()
	}
	return true
}

// arrange switches between the split and the unified layout; it returns false without a diff.
func (p *Panel) arrange() bool {
	views := p.part.views()
	if len(views) == 0 || p.out != nil {
		return false
	}
	p.show.layout = diffview.Split
	if views[0].Split() {
		p.show.layout = diffview.Unified
	}
	for _, v := range views {
		v.Arrange(p.show.layout)
	}
	if p.rev.shown() {
		p.scroll.top()
		return true
	}
	p.moved()
	return true
}

// moved goes to the top of a diff that was laid out anew, or to its marked hunk, on which the
// keys act: its lines seen before do not count.
func (p *Panel) moved() {
	p.scroll.top()
	if l, ok := p.part.(*plan); ok {
		l.moved()
	} else {
		p.scroll.seen = 0
	}
	if h := p.hunks(); h != nil && h.Marked() >= 0 {
		p.mark(h.Marked())
	}
}

// partial tells the model which part of a change was approved.
func partial(h *diffview.Hunks, v *confirm.Verdict) {
	out := h.Out()
	v.Texts = confirm.Text(h.Text())
	v.Feedback = fmt.Sprintf("I accepted %d of the %d hunks of this change and left out the others.", h.Len()-len(out), h.Len())
	for _, i := range out {
		header, line := h.Place(i)
		v.Comments = append(v.Comments, confirm.Comment{Line: line, Text: "left out: the hunk " + header})
	}
}
