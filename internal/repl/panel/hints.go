package panel

import (
	"cmp"
	"fmt"
	"slices"
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
	case p.plan != nil && p.plan.open && p.out != nil:
		return p.items(st.Dim, append(p.checkHint(), "PgUp PgDn scroll", p.esc()))
	case p.plan != nil && p.plan.open:
		return p.fileHints()
	case !p.show.unseen.IsZero():
		return p.items(st.Warn, p.unseenKeys())
	case n > 0:
		return p.items(p.ready(st.Warn), []string{theme.Grouped(n) + " more lines: scroll to the end before you say yes", "PgDn scrolls", "n no", p.esc()})
	}
	return append(p.about(), p.items(p.ready(st.Accent), p.answers())...)
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
	if p.armed && p.ask != nil && p.ask.Reader != "" {
		return p.look.Styles.Accent
	}
	return p.look.Styles.Dim
}

// wordsHint explains the words that are typed.
func (p *Panel) wordsHint() string {
	switch {
	case p.words.about.hunk >= 0:
		return "comment on this hunk; the model reads it with your answer · Enter keeps it · Esc goes back"
	case p.ask != nil:
		return "your answer; " + sanitize.Line(cmp.Or(p.ask.Reader, "the model")) + " reads this · Enter sends · Esc goes back"
	}
	return "why not? the model reads this · Enter sends · Esc goes back"
}

// fileHints returns the keys for a file on view.
func (p *Panel) fileHints() []string {
	const out = "space leaves the file out, or includes it"
	dim := p.look.Styles.Dim
	if !p.plan.divides() {
		return p.items(dim, []string{out, "] next file", "[ previous file", p.size(), "Esc back to the list"})
	}
	keys := []string{out}
	switch h := p.hunks(); {
	case h != nil && h.Len() > 1:
		keys = []string{"] [ hunks", "space leaves a hunk out"}
	}
	if p.plan.edits.Review && p.hunks() != nil {
		keys = append(keys, "m comment")
	}
	keys = append(append(keys, p.checkHint()...), "tab next file", "Esc back to the list", p.size())
	return append(p.about(), p.items(dim, keys)...)
}

// unseenKeys reports the unseen part of a diff and returns the keys.
func (p *Panel) unseenKeys() []string {
	if p.plan != nil {
		return []string{p.plan.unseenText() + ": y again approves them too", "Enter look at a file", "n no", p.esc()}
	}
	seen, lines := p.unseen()
	what := fmt.Sprintf("you have not seen lines %d–%d: y again approves them too", seen+1, lines)
	return []string{what, "PgDn scrolls", "n no", p.esc()}
}

// brief is hints for little room: only the essential keys.
func (p *Panel) brief(n int) []string {
	if p.rule.ed != nil {
		return p.ruleBrief()
	}
	plain := p.words.ed == nil && !p.PromptHasKeys && (p.plan == nil || !p.plan.open)
	switch {
	case plain && !p.show.unseen.IsZero():
		return p.items(p.look.Styles.Warn, p.unseenKeys())[:1]
	case plain && n > 0:
		return p.items(p.ready(p.look.Styles.Warn), []string{fmt.Sprintf("%d more: PgDn", n), "n no", p.esc()})[:1]
	case !plain:
		return p.hints(n)[:1]
	}
	keys := []string{p.choice(p.yes(), false), p.choice("n no", false), p.esc()}
	if p.ask != nil {
		keys = p.ask.keys(p.esc())
	}
	if p.plan == nil && len(p.more()) > 0 {
		keys = slices.Insert(keys, 2, "? keys")
	}
	return append(p.about()[:min(1, len(p.about()))], p.items(p.ready(p.look.Styles.Accent), keys)[:1]...)
}

// about returns the actions for the marked hunk and, on request, all other keys.
func (p *Panel) about() []string {
	var out []string
	if h := p.hunks(); h != nil && h.Marked() >= 0 && !p.covered() {
		out = p.items(p.look.Styles.User, p.aboutHunk(h))
	}
	if p.doc != nil && p.doc.source && !p.covered() {
		out = p.items(p.look.Styles.User, p.doc.about())
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
	if p.plan == nil || p.plan.edits.Review {
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
	if p.plan != nil {
		return p.listAnswers()
	}
	if p.doc != nil {
		return p.planAnswers()
	}
	if p.ask != nil {
		return p.ask.keys(p.esc())
	}
	keys := []string{p.choice(p.yes(), true)}
	if len(p.left()) == 0 && !req.Once() {
		keys = append(keys, p.choice("a "+p.always(), true))
		if req.Offer != nil && !p.aboutFile() {
			keys = append(keys, "A always "+like(*req.Offer)+": "+sanitize.Line(req.Offer.Rule)+" …")
		}
	}
	if p.limit() != nil {
		return append(keys, p.choice("n stop", true), p.esc())
	}
	keys = append(keys, p.choice("n no", true))
	if req.Tool != undo {
		keys = append(keys, "c why not")
	}
	if p.diff != nil && req.Tool != undo && p.editable() {
		keys = append(keys, "e edit")
	}
	keys = append(append(keys, p.rev.hint()...), p.checkHint()...)
	if len(p.more()) > 0 {
		keys = append(keys, "? keys")
	}
	return append(keys, p.esc())
}

// listAnswers returns the keys that answer a request for changes to several files.
func (p *Panel) listAnswers() []string {
	keys := []string{p.choice(p.yes(), true), p.choice("n no", true)}
	if p.plan.edits.Review {
		keys = append(keys, "c why not")
	}
	if p.out == nil {
		space := "space leave it out"
		if p.plan.files[p.plan.cursor].out {
			space = "space include it"
		}
		keys = append(keys, "Enter look at a file", space)
	}
	return append(append(keys, p.checkHint()...), p.size(), p.esc())
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

// yes returns the hint of the approval.
func (p *Panel) yes() string {
	out := len(p.left())
	switch {
	case p.plan != nil:
		return "y yes, to files with ●"
	case out > 0 && out == p.hunks().Len():
		return "all hunks are left out"
	case out > 0:
		return fmt.Sprintf("y yes, to %d of %d hunks", p.hunks().Len()-out, p.hunks().Len())
	case p.limit() != nil:
		return "y once more"
	}
	return "y yes"
}

// esc describes the present effect of Esc.
func (p *Panel) esc() string {
	if p.covered() || p.show.full || p.show.queue || p.doc != nil && p.doc.source || p.hunks() != nil && p.hunks().Marked() >= 0 {
		return "Esc back"
	}
	return "Esc cancel"
}

// aboutFile reports whether a rule for the request names files. Its key is among the others:
// people answer many edits.
func (p *Panel) aboutFile() bool {
	_, reads := p.req.Subject.(*confirm.Read)
	return p.change != nil || reads
}

// limit returns the limit that the question is about; nil for any other.
func (p *Panel) limit() *confirm.Limit { return confirm.As[*confirm.Limit](p.req) }

// remarkKeys returns the keys for parts of a request.
func (p *Panel) remarkKeys() []string {
	switch h := p.hunks(); {
	case p.covered():
		return nil
	case p.doc != nil && !p.doc.source:
		return []string{"m comment on lines"}
	case h != nil && h.Len() == 1:
		return []string{"m comment on the hunk"}
	case h != nil:
		return []string{"] [ hunks", "space leave a hunk out", "m comment on a hunk"}
	}
	return nil
}

// more returns the other keys of a request.
func (p *Panel) more() []string {
	keys := p.remarkKeys()
	if p.diff != nil && p.out == nil {
		keys = append(keys, p.layoutKeys()...)
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
func (p *Panel) layoutKeys() []string {
	view := p.diff
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

// always describes what "a" would approve for the rest of the session.
func (p *Panel) always() string {
	if l := p.limit(); l != nil {
		return "extend by " + sanitize.Line(l.Step)
	}
	return "always (" + p.req.Facts().Covers + ")"
}
