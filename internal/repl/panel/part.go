package panel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// part is the body of a question, with the keys, hints and answers of its kind. All kinds embed
// usual and change some of its methods.
type part interface { //nolint:interfacebloat // it is no border: the panel and its parts are one
	body

	// verdict returns the answer of an action; yes reports that enough has been visible. said returns
	// the answer that consists of words.
	verdict(a keys.Action, yes bool) (confirm.Verdict, bool)
	said(text string) confirm.Verdict
	option(a keys.Action) string // the answer of the model's question that an action takes; "" for none

	// The hints: of the keys that answer, the essential ones of them, and the text of the approval,
	// empty if there is nothing to approve; of an open detail that hides these or nil, of one that does not or nil; of the keys for comments.
	answers() []string
	brief() []string
	yes() string
	names() [3]string // of the answers with numbers, in brief; "" for one that is not offered
	details() []string
	about() []string
	remarks() []string

	press(a keys.Action) bool // handles an action that only this kind has; false for any other
	back() bool               // leaves a detail; false without one
	reasons() bool            // a no may have a reason

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
	moved()                                 // the lines are laid out anew: those seen of a diff do not count
	proposal() (name, text string, ok bool) // that can be edited
}

// usual is the body of a question with the usual keys: a command, a call, and all that fits in a
// line. The other kinds change some of its methods.
type usual struct {
	body
	panel *Panel
}

func (u usual) verdict(a keys.Action, yes bool) (confirm.Verdict, bool) {
	p := u.panel
	v := confirm.Verdict{By: me, Comments: p.words.comments}
	out := p.diff.left()
	whole := len(out) == 0
	yes = yes && (whole || len(out) < p.diff.hunks().Len())
	switch {
	case a == keys.Reject:
		return v, true
	case !yes:
		return v, false
	case a == keys.Approve:
	case a == keys.ApproveSession && !p.req.Once() && whole:
		v.Session = true
	default:
		return v, false
	}
	v.Decision, v.Texts = confirm.Approve, p.answer.edited()
	if len(out) > 0 {
		partial(p.diff.hunks(), &v)
	}
	return v, true
}

func (u usual) answers() []string { return u.panel.legend.answers() }

func (u usual) brief() []string {
	p := u.panel
	out := []string{p.answer.approval(false), p.answer.hint(keys.Reject, "no", false), p.legend.esc()}
	if len(p.legend.more()) > 0 {
		out = slices.Insert(out, 2, p.legend.hint("keys", keys.MoreKeys))
	}
	return out
}

func (usual) yes() string { return "yes" }

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
	switch h := u.panel.diff.hunks(); {
	case h == nil:
		return nil
	case h.Len() == 1:
		return []string{u.panel.legend.hint("comment on the hunk", keys.Note)}
	}
	return []string{u.panel.legend.hunkKeys(), u.panel.legend.hint("leave out a hunk", keys.LeaveOut), u.panel.legend.hint("comment on a hunk", keys.Note)}
}

func (usual) option(keys.Action) string { return "" }

func (u usual) names() [3]string {
	if u.panel.req.Once() || len(u.panel.diff.left()) > 0 {
		return [3]string{"yes", "", "no"}
	}
	return [3]string{"yes", "always", "no"}
}

func (usual) press(keys.Action) bool  { return false }
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
func (usual) moved()                     {}

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
	var out []string
	for i, name := range l.names() {
		if name != "" {
			out = append(out, l.panel.answer.hint(answers[i], name, true))
		}
	}
	return append(out, l.panel.legend.esc())
}

func (l limit) names() [3]string {
	more := ""
	if !l.panel.req.Once() {
		more = "add " + sanitize.Line(l.step)
	}
	return [3]string{"one more request", more, "stop here"}
}

func (l limit) yes() string { return l.names()[0] }
func (limit) reasons() bool { return false }

// single is the body of the change of one file.
type single struct {
	usual
	change *workspace.Change
	file   file
}

func (s *single) yes() string {
	h := s.hunks()
	if h == nil || len(h.Out()) == 0 {
		return s.usual.yes()
	}
	if kept := h.Len() - len(h.Out()); kept > 0 {
		return fmt.Sprintf("accept %d of %d hunks", kept, h.Len())
	}
	return ""
}

func (s *single) onView() *diffview.View { return s.file.view }

func (s *single) hunks() *diffview.Hunks { return s.file.hunks() }

func (s *single) views() []*diffview.View {
	if s.panel.diff.rev != nil {
		return []*diffview.View{s.file.view, s.panel.diff.rev.view}
	}
	return []*diffview.View{s.file.view}
}

func (*single) hidden(int) int { return 0 }

// unseen counts the lines up to the last change. Pressing the same key twice approves them.
func (s *single) unseen() (what, key string) {
	if s.file.end || s.file.seen == s.file.view.Changed() {
		return "", ""
	}
	return s.file.unseen(), s.panel.legend.hint("scrolls", keys.QuestionPageDown)
}

func (s *single) saw(end int) { s.file.saw(end) }
func (s *single) moved()      { s.file.seen = 0 }

func (s *single) proposal() (name, text string, ok bool) {
	return s.change.Name, s.file.view.Hunks().Text(), s.change.Editable()
}

func (s *single) comment(hunk int, text string) {
	s.panel.words.comments = append(s.panel.words.comments, s.file.comment(hunk, text))
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
func (d *changes) one() bool {
	_, ok := d.part.(*single)
	return ok
}
