package panel

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// plan is the body of a request for changes to several files: a list in which each file can
// be viewed and left out.
type plan struct {
	usual
	edits  *confirm.Edits
	look   theme.Look
	files  []file
	cursor int
	open   bool // show the file under the cursor, not the list
}

// file is the change of a file, alone or in a plan.
type file struct {
	view    *diffview.View
	what    string // edit, create, delete, move
	fixed   bool   // no part of it can be left out
	name    string
	out     bool // left out
	changes int  // number of separate changes
	looked  bool // it has been on the screen
	seen    int  // lines of view that were on the screen, from the top
	end     bool // the last change was
}

// hunks returns the hunks of a file that can be left out; nil without any.
func (f *file) hunks() *diffview.Hunks {
	if h := f.view.Hunks(); !f.fixed && h.Len() > 0 {
		return h
	}
	return nil
}

// newFile returns a file with its diff; divides allows to leave out parts of it.
func newFile(c workspace.Change, view *diffview.View, divides bool) file {
	return file{view: view, name: sanitize.Name(c.Label()), what: confirm.Verb(c), fixed: !divides || !c.Editable(), changes: view.Hunks().Len()}
}

// saw notes that the lines before end have been on the screen.
func (f *file) saw(end int) {
	f.looked, f.seen = true, max(f.seen, min(end, f.view.Len()))
	f.end = f.end || f.seen >= f.view.Changed()
}

// unseen counts the lines that were not on the screen, up to the last change.
func (f *file) unseen() string {
	return fmt.Sprintf("You have not seen lines %d–%d", f.seen+1, f.view.Changed())
}

// comment returns a comment on a hunk.
func (f *file) comment(hunk int, text string) confirm.Comment {
	_, line := f.view.Hunks().Place(hunk)
	return confirm.Comment{Line: line, Text: text}
}

// none reports whether nothing of the file is approved.
func (f *file) none() bool {
	h := f.hunks()
	return f.out || h != nil && len(h.Out()) == h.Len()
}

func newPlan(in *Panel, edits *confirm.Edits, opt diffview.Options) *plan {
	p := &plan{usual: usual{panel: in}, edits: edits, look: in.look}
	for i, c := range edits.Changes {
		view := diffview.New(change(c, confirm.Request{}, nil), opt)
		f := newFile(c, view, true)
		f.out = slices.Contains(edits.Out, i)
		p.files = append(p.files, f)
	}
	return p
}

// Header describes the plan, or the file on view.
func (p *plan) Header() []string {
	if p.open {
		place := fmt.Sprintf("file %d of %d", p.cursor+1, len(p.files))
		if p.files[p.cursor].none() {
			place += ": left unchanged"
		}
		return append(hint(p.look, p.look.Styles.Dim, place), p.files[p.cursor].view.Header()...)
	}
	added, removed, out := 0, 0, 0
	for _, f := range p.files {
		if f.none() {
			out++
			continue
		}
		a, r := f.view.Hunks().Counts()
		added, removed = added+a, removed+r
	}
	text := fmt.Sprintf("%s: %s +%d −%d", sanitize.Line(p.edits.Title), plural.Of(len(p.files)-out, "file"), added, removed)
	if out > 0 {
		text += fmt.Sprintf(", %d left unchanged", out)
	}
	lines := hint(p.look, p.look.Styles.User, text)
	for _, n := range p.panel.req.Notes {
		lines = append(lines, hint(p.look, p.look.Styles.Warn, "! "+sanitize.Line(n.Text))...)
	}
	return lines
}

// Len returns the number of lines of the list, or of the file on view.
func (p *plan) Len() int {
	if p.open {
		return p.files[p.cursor].view.Len()
	}
	return len(p.files)
}

// Lines returns a part of those lines.
func (p *plan) Lines(offset, height int) []string {
	if p.open {
		return p.files[p.cursor].view.Lines(offset, height)
	}
	var lines []string
	for i := max(0, offset); i < min(len(p.files), offset+height); i++ {
		lines = append(lines, p.line(i))
	}
	return lines
}

// line renders a file in the list. It shortens the folders of a name, never its end.
func (p *plan) line(i int) string {
	f, st := &p.files[i], p.look.Styles
	cursor, mark := "  ", "● "
	if i == p.cursor {
		cursor = "❯ "
	}
	if f.none() {
		mark = "○ "
	}
	added, removed := f.view.Hunks().Counts()
	tail := fmt.Sprintf("  +%d −%d", added, removed)
	if f.changes > 1 {
		tail += fmt.Sprintf(" · %d places", f.changes)
	}
	switch h := f.hunks(); {
	case f.none():
		tail += " · left unchanged"
	case p.divides() && h != nil && len(h.Out()) > 0:
		tail += fmt.Sprintf(" · %d of %d hunks", h.Len()-len(h.Out()), h.Len())
	}
	if n := p.commented(i); n > 0 {
		tail += " · " + plural.Of(n, "comment")
	}
	head := cursor + mark + fmt.Sprintf("%-7s", f.what)
	name := fitPath(f.name, p.look.Width-cells.Width(head+tail))
	if f.none() {
		return theme.Paint(st.Dim, theme.Short(head+name+tail, p.look.Width))
	}
	dir, base := path.Split(name)
	return theme.Short(theme.Paint(st.Accent, cursor)+head[len(cursor):]+theme.Paint(st.Dim, dir)+base+theme.Paint(st.Dim, tail), p.look.Width)
}

// fitPath drops leading folders of a path that is too wide.
func fitPath(name string, width int) string {
	for cells.Width(name) > width {
		_, rest, found := strings.Cut(strings.TrimPrefix(name, "…/"), "/")
		if !found {
			return name
		}
		name = "…/" + rest
	}
	return name
}

// Resize sets the width in columns.
func (p *plan) Resize(width int) {
	p.look.Width = width
	for _, f := range p.files {
		f.view.Resize(width)
	}
}

// except returns the files left out.
func (p *plan) except() []int {
	var out []int
	for i, f := range p.files {
		if f.none() {
			out = append(out, i)
		}
	}
	return out
}

// texts returns the texts of the files of which some hunks are left out; nil without any.
func (p *plan) texts() map[int]string {
	var out map[int]string
	for i, f := range p.files {
		if h := f.hunks(); p.divides() && !f.none() && h != nil && len(h.Out()) > 0 {
			if out == nil {
				out = map[int]string{}
			}
			out[i] = h.Text()
		}
	}
	return out
}

// divides reports whether parts of files can be left out.
func (p *plan) divides() bool { return p.edits.Review || p.edits.Parts }

// commented returns the number of comments on a file.
func (p *plan) commented(i int) int {
	n := 0
	for _, c := range p.panel.words.comments {
		if c.File == i && p.edits.Review {
			n++
		}
	}
	return n
}

// saw notes that the lines before end of the open file have been on the screen.
func (p *plan) saw(end int) {
	if p.open {
		p.files[p.cursor].saw(end)
	}
}

// moved drops the counts of seen lines: the files are laid out anew.
func (p *plan) moved() {
	for i := range p.files {
		p.files[i].seen = 0
	}
}

// unseenFiles returns the files of a model's changes that would be approved although their last
// change was not on the screen.
func (p *plan) unseenFiles() []*file {
	var out []*file
	for i := range p.files {
		if f := &p.files[i]; p.edits.Review && !f.end && !f.none() {
			out = append(out, f)
		}
	}
	return out
}

// unseen describes the unseen files. It gives the lines of one, and counts the others.
func (p *plan) unseen() (what, key string) {
	var begun []*file
	files := p.unseenFiles()
	if len(files) == 0 {
		return "", ""
	}
	look := p.panel.legend.hint("open a file", keys.Take)
	for _, f := range files {
		if f.looked {
			begun = append(begun, f)
		}
	}
	rest := "opened " + plural.Of(len(files)-len(begun), "file")
	if len(begun) == 0 {
		return "You have not " + rest + " yet", look
	}
	f := begun[0]
	text := f.unseen() + " of " + fitPath(f.name, p.look.Width/2)
	if n := len(begun) - 1; n > 0 {
		text += ", nor the end of " + plural.Of(n, "other file")
	}
	if len(begun) < len(files) {
		text += ", nor " + rest
	}
	return text, look
}

// verdict returns the answer of an action, in the list or a file; yes reports that all files have been
// visible.
func (p *plan) verdict(a keys.Action, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me, Comments: p.panel.words.comments}
	switch {
	case a == keys.Reject:
		return v, true
	case a == keys.Approve && yes && len(p.except()) < len(p.files):
		v.Decision, v.Except, v.Texts = confirm.Approve, p.except(), p.texts()
		return v, true
	}
	return v, false
}

// press handles an action of the plan and reports whether it is one.
func (p *plan) press(a keys.Action) bool {
	switch a {
	case keys.LeaveOut:
		p.files[p.cursor].out = !p.files[p.cursor].out
	case keys.Take, keys.FileOpen:
		p.show(true)
	case keys.FileClose:
		p.show(false)
	case keys.HunkNext, keys.FileNext:
		p.to(p.cursor + 1)
	case keys.HunkPrevious:
		p.to(p.cursor - 1)
	case keys.QuestionUp, keys.QuestionDown, keys.QuestionPageUp, keys.QuestionPageDown, keys.QuestionStart, keys.QuestionEnd:
		if p.open {
			return false
		}
		p.to(p.cursor + steps(a, p.panel.scroll.room, len(p.files)))
	default:
		return false
	}
	return true
}

// steps returns the distance by which an action moves the cursor in a list.
func steps(a keys.Action, room, total int) int {
	switch a {
	case keys.QuestionUp:
		return -1
	case keys.QuestionDown:
		return 1
	case keys.QuestionPageUp:
		return -max(1, room)
	case keys.QuestionPageDown:
		return max(1, room)
	case keys.QuestionStart:
		return -total
	default:
		return total
	}
}

// to moves the cursor.
func (p *plan) to(i int) {
	p.cursor = max(0, min(i, len(p.files)-1))
	p.show(p.open)
}

// show opens the file under the cursor, or returns to the list.
func (p *plan) show(open bool) {
	if p.open = open; open {
		p.panel.scroll.top()
	} else {
		p.panel.scroll.reveal(p.cursor)
	}
}

func (p *plan) back() bool {
	if !p.open {
		return false
	}
	p.show(false)
	return true
}

func (p *plan) reasons() bool { return p.edits.Review && !p.open }

func (p *plan) onView() *diffview.View {
	if p.open {
		return p.files[p.cursor].view
	}
	return nil
}

func (p *plan) hunks() *diffview.Hunks {
	if !p.open || !p.divides() || p.panel.req.Tool == undo && !p.edits.Parts {
		return nil
	}
	return p.files[p.cursor].hunks()
}

func (p *plan) views() (all []*diffview.View) {
	if !p.open {
		return nil
	}
	for _, f := range p.files {
		all = append(all, f.view)
	}
	return all
}

func (p *plan) hidden(seen int) int { return max(0, len(p.files)-seen) }

func (p *plan) shown(s *scroll) {
	if !p.open {
		s.reveal(p.cursor)
		p.usual.shown(s)
	}
}

func (p *plan) comment(hunk int, text string) {
	w := &p.panel.words
	c := p.files[w.about.file].comment(hunk, text)
	c.File = w.about.file
	w.comments = append(w.comments, c)
}

func (p *plan) located(c confirm.Comment) string { return onFile(c, p.edits.Changes[c.File].Name) }

func (*plan) yes() string { return "accept the files marked ●" }

func (p *plan) names() [3]string { return [3]string{p.yes(), "", "no"} }

func (p *plan) brief() []string {
	return []string{p.panel.answer.approval(false), p.panel.answer.hint(keys.Reject, "no", false), p.panel.legend.esc()}
}

// answers returns the keys that answer in the list.
func (p *plan) answers() []string {
	in := p.panel
	out := []string{in.answer.approval(true), in.answer.hint(keys.Reject, "no", true)}
	if p.edits.Review {
		out = append(out, in.legend.hint("why not", keys.Comment))
	}
	if in.diff.out == nil {
		toggle := "leave it out"
		if p.files[p.cursor].out {
			toggle = "include it"
		}
		out = append(out, in.legend.hint("open a file", keys.Take), in.legend.hint(toggle, keys.LeaveOut))
	}
	return append(append(out, in.diff.checkHint()...), in.legend.size(), in.legend.esc())
}

// details returns the keys for a file on view.
func (p *plan) details() []string {
	in, dim := p.panel, p.look.Styles.Dim
	answers := []string{in.answer.approval(true), in.answer.hint(keys.Reject, "no", true)}
	out, back := in.legend.hint("leave out or include the file", keys.LeaveOut), in.legend.hint("back to the list", keys.Cancel)
	switch {
	case !p.open:
		return nil
	case in.diff.out != nil:
		return in.legend.items(dim, append(in.diff.checkHint(), in.legend.scrolls(), in.legend.esc()))
	case !p.divides():
		return in.legend.items(dim, append(answers, out, in.legend.hint("next file", keys.HunkNext), in.legend.hint("previous file", keys.HunkPrevious), in.legend.size(), back))
	}
	hints := slices.Concat(answers, []string{out})
	h := p.hunks()
	if h != nil && h.Len() > 1 {
		hints = slices.Concat(answers, []string{in.legend.hunkKeys(), in.legend.hint("leave out a hunk", keys.LeaveOut)})
	}
	if p.edits.Review && h != nil {
		hints = append(hints, in.legend.hint("comment", keys.Note))
	}
	hints = append(append(hints, in.diff.checkHint()...), in.legend.hint("next file", keys.FileNext), back, in.legend.size())
	return in.legend.items(dim, hints)
}
