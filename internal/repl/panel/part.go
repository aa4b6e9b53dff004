package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// part is the body of a question, with the keys, hints and answers of its kind. All kinds embed
// usual and change some of its methods.
type part interface { //nolint:interfacebloat // it is no border: the panel and its parts are one
	body

	// verdict returns the answer of a key; yes reports that enough has been visible. said returns
	// the answer that consists of words.
	verdict(key string, yes bool) (confirm.Verdict, bool)
	said(text string) confirm.Verdict

	// The hints: of the keys that answer, the essential ones of them, and the approval; of an open
	// detail that hides these or nil, of one that does not or nil; of the keys for comments.
	answers() []string
	brief() []string
	yes() string
	details() []string
	about() []string
	remarks() []string

	press(key string) bool // handles a key that only this kind has; false for any other
	back() bool            // leaves a detail; false without one
	reasons() bool         // a no may have a reason

	label(about int) string           // introduces words about a hunk or a line; -1 is for all
	comment(about int, text string)   // adds a comment on a hunk or a line
	located(c confirm.Comment) string // returns a comment as a part of a prompt

	onView() *diffview.View  // the diff on the screen; nil without one
	hunks() *diffview.Hunks  // that can be left out or commented on; nil without any
	views() []*diffview.View // whose layout the person chooses

	hidden(seen int) int                    // the lines that must become visible before a yes
	unseen() (what, key string)             // the part that a second yes approves unseen, and the key to see it
	shown(s *scroll)                        // s is laid out
	saw(end int)                            // the lines before end are on the screen
	proposal() (name, text string, ok bool) // that can be edited
}

// usual is the body of a question with the usual keys: a command, a call, and all that fits in a
// line. The other kinds change some of its methods.
type usual struct {
	body
	panel *Panel
}

func (u usual) verdict(key string, yes bool) (confirm.Verdict, bool) {
	p := u.panel
	v := confirm.Verdict{By: me, Comments: p.words.comments}
	out := p.left()
	whole := len(out) == 0
	yes = yes && (whole || len(out) < p.hunks().Len())
	switch {
	case key == "n":
		return v, true
	case !yes:
		return v, false
	case key == "y":
	case key == "a" && !p.req.Once() && whole:
		v.Session = true
	default:
		return v, false
	}
	v.Decision, v.Texts = confirm.Approve, p.texts()
	if len(out) > 0 {
		partial(p.hunks(), &v)
	}
	return v, true
}

func (u usual) answers() []string { return u.panel.answers() }

func (u usual) brief() []string {
	p := u.panel
	keys := []string{p.choice(p.part.yes(), false), p.choice("n no", false), p.esc()}
	if len(p.more()) > 0 {
		keys = slices.Insert(keys, 2, "? keys")
	}
	return keys
}

func (usual) yes() string { return "y yes" }

func (usual) label(about int) string {
	if about >= 0 {
		return fmt.Sprintf("on hunk %d: ", about+1)
	}
	return "no, because: "
}

func (u usual) said(text string) confirm.Verdict {
	return confirm.Verdict{By: me, Feedback: text, Comments: u.panel.words.comments}
}

func (usual) comment(int, string) {}

func (usual) located(c confirm.Comment) string { return c.Text }

func (u usual) remarks() []string {
	switch h := u.panel.hunks(); {
	case h == nil:
		return nil
	case h.Len() == 1:
		return []string{"m comment on the hunk"}
	}
	return []string{"] [ hunks", "space leave a hunk out", "m comment on a hunk"}
}

func (usual) press(string) bool       { return false }
func (usual) back() bool              { return false }
func (u usual) reasons() bool         { return u.panel.req.Tool != undo }
func (usual) details() []string       { return nil }
func (usual) about() []string         { return nil }
func (usual) onView() *diffview.View  { return nil }
func (usual) hunks() *diffview.Hunks  { return nil }
func (usual) views() []*diffview.View { return nil }

func (u usual) hidden(seen int) int      { return max(0, u.panel.body.Len()-seen) }
func (usual) unseen() (what, key string) { return "", "" }
func (usual) saw(int)                    {}

func (u usual) shown(s *scroll) {
	if s.fits {
		s.seen = max(s.seen, min(u.panel.body.Len(), s.offset+s.room))
	}
}

func (usual) proposal() (name, text string, ok bool) { return "", "", false }

// limit is the body of the question whether to go on at a limit.
type limit struct {
	usual
	step string
}

func (l limit) answers() []string {
	p := l.panel
	keys := []string{p.choice(l.yes(), true)}
	if !p.req.Once() {
		keys = append(keys, p.choice("a extend by "+sanitize.Line(l.step), true))
	}
	return append(keys, p.choice("n stop", true), p.esc())
}

func (limit) yes() string   { return "y once more" }
func (limit) reasons() bool { return false }

// single is the body of the change of one file.
type single struct {
	usual
	change *workspace.Change
	diff   *diffview.View
}

func (s *single) yes() string {
	h := s.hunks()
	if h == nil || len(h.Out()) == 0 {
		return s.usual.yes()
	}
	if kept := h.Len() - len(h.Out()); kept > 0 {
		return fmt.Sprintf("y yes, to %d of %d hunks", kept, h.Len())
	}
	return "all hunks are left out"
}

func (s *single) onView() *diffview.View { return s.diff }

func (s *single) hunks() *diffview.Hunks {
	if h := s.diff.Hunks(); s.panel.req.Tool != undo && s.change.Editable() && h.Len() > 0 {
		return h
	}
	return nil
}

func (s *single) views() []*diffview.View {
	if s.panel.rev != nil {
		return []*diffview.View{s.diff, s.panel.rev.view}
	}
	return []*diffview.View{s.diff}
}

func (*single) hidden(int) int { return 0 }

// unseen counts the lines up to the last change. Pressing the same key twice approves them.
func (s *single) unseen() (what, key string) {
	seen, lines := s.panel.scroll.seen, s.diff.Changed()
	if s.panel.scroll.end || seen == lines {
		return "", ""
	}
	return fmt.Sprintf("you have not seen lines %d–%d", seen+1, lines), "PgDn scrolls"
}

func (s *single) shown(to *scroll) {
	s.usual.shown(to)
	to.end = to.end || to.fits && to.seen >= s.diff.Changed()
}

func (s *single) proposal() (name, text string, ok bool) {
	return s.change.Name, s.diff.Hunks().Text(), s.change.Editable()
}

func (s *single) comment(hunk int, text string) {
	_, line := s.diff.Hunks().Place(hunk)
	s.panel.words.comments = append(s.panel.words.comments, confirm.Comment{Line: line, Text: text})
}

func (s *single) located(c confirm.Comment) string { return onFile(c, s.change.Name) }

// onFile returns a comment with the line and the name of its file, as a part of a prompt. It
// leaves out a name that would be a mention there: the model chose it.
func onFile(c confirm.Comment, name string) string {
	if strings.Contains(name, "@") {
		return fmt.Sprintf("On line %d: %s", c.Line, c.Text)
	}
	return fmt.Sprintf("On line %d of %s: %s", c.Line, sanitize.Name(name), c.Text)
}

// one reports whether the question is about the change of one file.
func (p *Panel) one() bool {
	_, ok := p.part.(*single)
	return ok
}

// option returns the answer of the question that a key takes; "" for any other key.
func (p *Panel) option(key string) string {
	if q, ok := p.part.(*question); ok {
		return q.option(key)
	}
	return ""
}

// reader names who reads the words, if not the model; "" for the model.
func (p *Panel) reader() string {
	if c, ok := p.req.Subject.(*confirm.Choice); ok {
		return c.Reader
	}
	return ""
}

// wordsHint explains the words that are typed.
func (p *Panel) wordsHint() string {
	_, asks := p.req.Subject.(*confirm.Choice)
	switch {
	case p.words.about.hunk >= 0:
		return "comment on this hunk; the model reads it with your answer · Enter keeps it · Esc goes back"
	case asks:
		return "your answer; " + sanitize.Line(cmp.Or(p.reader(), "the model")) + " reads this · Enter sends · Esc goes back"
	}
	return "why not? the model reads this · Enter sends · Esc goes back"
}
