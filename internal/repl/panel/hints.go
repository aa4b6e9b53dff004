package panel

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// renamed puts the user's own keys into a hint.
func (p *Panel) renamed(text string) string {
	if p.Rename == nil {
		return text
	}
	return p.Rename(text)
}

// hints returns the keys that answer; n is the number of unseen lines.
func (p *Panel) hints(n int) []string {
	st := p.look.Styles
	switch {
	case p.words.ed != nil:
		return hint(p.look, p.wordsStyle(), p.renamed(p.wordsHint()))
	case p.rule.ed != nil:
		return p.ruleHints()
	case p.PromptHasKeys && p.Take != "":
		style := st.Dim
		if p.calm {
			style = st.Warn
		}
		return hint(p.look, style, p.Take+" to answer · the keys go to your draft")
	case p.PromptHasKeys:
		return hint(p.look, st.Dim, p.renamed("at the prompt: Enter queues it · ↑ queued text · Esc back to the question"))
	case p.part.details() != nil:
		return p.part.details()
	case !p.show.unseen.IsZero():
		return p.items(st.Warn, p.unseenKeys())
	case n > 0:
		return p.items(p.ready(st.Warn), []string{theme.Grouped(n) + " more lines: scroll to the end before you say yes", "PgDn scrolls", "n no", p.esc()})
	}
	return append(p.about(), p.items(p.ready(st.Accent), p.part.answers())...)
}

// ready returns the style of hints about keys that answer: dim until those count.
func (p *Panel) ready(style theme.Style) theme.Style {
	if !p.armed {
		return p.look.Styles.Dim
	}
	return style
}

// wordsStyle is the style of wordsHint: that of keys which answer, once Enter sends an answer to
// somebody else than the model.
func (p *Panel) wordsStyle() theme.Style {
	if p.armed && p.reader() != "" {
		return p.look.Styles.Accent
	}
	return p.look.Styles.Dim
}

// unseenKeys reports the unseen part of a diff and returns the keys.
func (p *Panel) unseenKeys() []string {
	what, key := p.part.unseen()
	return []string{what + ": y again approves them too", key, "n no", p.esc()}
}

// brief is hints for little room: only the essential keys.
func (p *Panel) brief(n int) []string {
	if p.rule.ed != nil {
		return p.ruleBrief()
	}
	plain := p.words.ed == nil && !p.PromptHasKeys && p.part.details() == nil
	switch {
	case plain && !p.show.unseen.IsZero():
		return p.items(p.look.Styles.Warn, p.unseenKeys())[:1]
	case plain && n > 0:
		return p.items(p.ready(p.look.Styles.Warn), []string{fmt.Sprintf("%d more: PgDn", n), "n no", p.esc()})[:1]
	case !plain:
		return p.hints(n)[:1]
	}
	return append(p.about()[:min(1, len(p.about()))], p.items(p.ready(p.look.Styles.Accent), p.part.brief())[:1]...)
}

// about returns the actions for the marked hunk and, on request, all other keys.
func (p *Panel) about() []string {
	var out []string
	if h := p.hunks(); h != nil && h.Marked() >= 0 && !p.covered() {
		out = p.items(p.look.Styles.User, p.aboutHunk(h))
	}
	if keys := p.part.about(); len(keys) > 0 && !p.covered() {
		out = p.items(p.look.Styles.User, keys)
	}
	if p.missed != "" {
		out = append(out, theme.Paint(p.look.Styles.Warn, theme.Short(p.renamed(p.missed), p.look.Width)))
	}
	if p.show.whole {
		out = append(out, p.items(p.look.Styles.Warn, []string{"the only hunk of a change cannot be left out", "n no", "c why not", "e edit"})...)
	}
	if p.show.keys {
		out = append(out, p.items(p.look.Styles.Dim, p.more())...)
	}
	return out
}

// aboutHunk describes the marked hunk and its keys.
func (p *Panel) aboutHunk(h *diffview.Hunks) []string {
	left := "space leaves it out"
	if h.Left(h.Marked()) {
		left = "space includes it"
	}
	place := fmt.Sprintf("hunk %d of %d", h.Marked()+1, h.Len())
	if n := len(p.words.comments); n > 0 {
		place += ", " + plural.Of(n, "comment")
	}
	keys := []string{place}
	if h.Len() > 1 {
		keys = append(keys, left)
	}
	if p.comments() {
		keys = append(keys, "m comment on it")
	}
	if h.Len() > 1 {
		keys = append(keys, "] next", "[ previous")
	}
	return keys
}

// answers returns the keys that answer a request.
func (p *Panel) answers() []string {
	req := p.req
	keys := []string{p.choice(p.part.yes(), true)}
	if len(p.left()) == 0 && !req.Once() {
		keys = append(keys, p.choice("a always ("+req.Facts().Covers+")", true))
		if req.Offer != nil && !p.aboutFile() {
			keys = append(keys, "A always "+like(*req.Offer)+": "+sanitize.Line(req.Offer.Rule)+" …")
		}
	}
	keys = append(keys, p.choice("n no", true))
	if req.Tool != undo {
		keys = append(keys, "c why not")
	}
	if req.Tool != undo && p.editable() {
		keys = append(keys, "e edit")
	}
	keys = append(append(keys, p.rev.hint()...), p.checkHint()...)
	if len(p.more()) > 0 {
		keys = append(keys, "? keys")
	}
	return append(keys, p.esc())
}

// size returns the key for the size of the panel.
func (p *Panel) size() string {
	if p.show.full {
		return "v smaller"
	}
	return "v full"
}

// like describes the commands that the offered rule is for.
func like(o confirm.Offer) string {
	if o.Part == "" {
		return "like this"
	}
	return "for the only new command in it"
}

// esc describes the present effect of Esc.
func (p *Panel) esc() string {
	if p.covered() || p.show.full || p.show.queue || len(p.part.about()) > 0 || p.hunks() != nil && p.hunks().Marked() >= 0 {
		return "Esc back"
	}
	return "Esc cancel"
}

// aboutFile reports whether a rule for the request names files. Its key is among the others:
// people answer many edits.
func (p *Panel) aboutFile() bool {
	switch p.req.Subject.(type) {
	case *confirm.Edits, *confirm.Read:
		return true
	default:
		return false
	}
}

// more returns the other keys of a request.
func (p *Panel) more() []string {
	var keys []string
	if !p.covered() {
		keys = p.part.remarks()
	}
	if s, ok := p.part.(*single); ok && p.out == nil {
		keys = append(keys, p.layoutKeys(s.diff)...)
	}
	if p.opens() {
		keys = append(keys, "o open in "+sanitize.Line(p.Editor))
	}
	if p.req.Offer != nil && p.aboutFile() {
		keys = append(keys, "A always, for some files …")
	}
	if p.body.Len() > 0 {
		keys = append(keys, p.size(), "PgUp PgDn scroll", "p prompt")
	}
	if p.req.Batch.Total > 1 && len(p.req.Batch.Calls) > 0 {
		keys = append(keys, "l list of calls")
	}
	return keys
}

// layoutKeys returns the keys for the layout of the diff on view.
func (p *Panel) layoutKeys(view *diffview.View) []string {
	if p.rev.shown() {
		view = p.rev.view
	}
	keys := []string{"x unfold"}
	if view.Expanded() {
		keys[0] = "x fold"
	}
	switch {
	case view.Split():
		keys = append(keys, "s one below the other")
	case view.Splits():
		keys = append(keys, "s side by side")
	}
	return keys
}

// items wraps texts and splits only long ones.
func (p *Panel) items(style theme.Style, texts []string) []string {
	const nbsp = "\u00a0"
	look := p.look
	whole := make([]string, len(texts))
	for i, t := range texts {
		text, chosen := strings.CutPrefix(t, highlight)
		if whole[i] = p.renamed(text); chosen {
			whole[i] = highlight + whole[i]
		}
		if 2*cells.Width(t) <= look.Width {
			whole[i] = strings.ReplaceAll(whole[i], " ", nbsp)
		}
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
