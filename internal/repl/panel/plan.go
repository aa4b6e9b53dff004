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
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
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

// file is a file of a plan.
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

// none reports whether nothing of the file is approved.
func (f *file) none() bool {
	h := f.hunks()
	return f.out || h != nil && len(h.Out()) == h.Len()
}

func newPlan(in *Panel, edits *confirm.Edits, opt diffview.Options) *plan {
	p := &plan{usual: usual{panel: in}, edits: edits, look: in.look}
	for i, c := range edits.Changes {
		view := diffview.New(change(c, confirm.Request{}, nil), opt)
		p.files = append(p.files, file{view: view, name: sanitize.Name(c.Label()), what: confirm.Verb(c), fixed: !c.Editable(), changes: view.Hunks().Len(), out: slices.Contains(edits.Out, i)})
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
	if width != p.look.Width {
		p.moved()
	}
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
	if !p.open {
		return
	}
	f := &p.files[p.cursor]
	f.looked, f.seen = true, max(f.seen, min(end, f.view.Len()))
	f.end = f.end || f.seen >= f.view.Changed()
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
	const look = "Enter look at a file"
	for _, f := range files {
		if f.looked {
			begun = append(begun, f)
		}
	}
	rest := fmt.Sprintf("looked at %d of %s", len(files)-len(begun), plural.Of(len(p.files), "file"))
	if len(begun) == 0 {
		return "you have not " + rest, look
	}
	f := begun[0]
	text := fmt.Sprintf("you have not seen lines %d–%d of %s", f.seen+1, f.view.Changed(), fitPath(f.name, p.look.Width/2))
	if n := len(begun) - 1; n > 0 {
		text += ", nor the end of " + plural.Of(n, "other file")
	}
	if len(begun) < len(files) {
		text += ", nor " + rest
	}
	return text, look
}

// verdict returns the answer of a key in the list; yes reports that all files have been
// visible.
func (p *plan) verdict(key string, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me, Comments: p.panel.words.comments}
	switch {
	case p.open:
		return v, false
	case key == "n":
		return v, true
	case key == "y" && yes && len(p.except()) < len(p.files):
		v.Decision, v.Except, v.Texts = confirm.Approve, p.except(), p.texts()
		return v, true
	}
	return v, false
}

// press handles a key of the plan and reports whether it is one.
func (p *plan) press(key string) bool {
	switch key {
	case "space":
		p.files[p.cursor].out = !p.files[p.cursor].out
	case "enter", "right":
		p.show(true)
	case "left", "backspace":
		p.show(false)
	case "]", "tab":
		p.to(p.cursor + 1)
	case "[":
		p.to(p.cursor - 1)
	case "up", "k", "down", "j", "pgup", "pgdown", "home", "g", "end", "G":
		if p.open {
			return false
		}
		p.to(p.cursor + steps(key, p.panel.scroll.room, len(p.files)))
	default:
		return false
	}
	return true
}

// steps returns the distance by which a key moves the cursor in a list.
func steps(key string, room, total int) int {
	switch key {
	case "up", "k":
		return -1
	case "down", "j":
		return 1
	case "pgup":
		return -max(1, room)
	case "pgdown":
		return max(1, room)
	case "home", "g":
		return -total
	}
	return total
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
	_, line := p.files[w.about.file].view.Hunks().Place(hunk)
	w.comments = append(w.comments, confirm.Comment{File: w.about.file, Line: line, Text: text})
}

func (p *plan) located(c confirm.Comment) string { return onFile(c, p.edits.Changes[c.File].Name) }

func (*plan) yes() string { return "y yes, to files with ●" }

func (p *plan) brief() []string {
	return []string{p.panel.choice(p.yes(), false), p.panel.choice("n no", false), p.panel.esc()}
}

// answers returns the keys that answer in the list.
func (p *plan) answers() []string {
	in := p.panel
	keys := []string{in.choice(p.yes(), true), in.choice("n no", true)}
	if p.edits.Review {
		keys = append(keys, "c why not")
	}
	if in.out == nil {
		space := "space leave it out"
		if p.files[p.cursor].out {
			space = "space include it"
		}
		keys = append(keys, "Enter look at a file", space)
	}
	return append(append(keys, in.checkHint()...), in.size(), in.esc())
}

// details returns the keys for a file on view.
func (p *plan) details() []string {
	const out = "space leaves the file out, or includes it"
	in, dim := p.panel, p.look.Styles.Dim
	switch {
	case !p.open:
		return nil
	case in.out != nil:
		return in.items(dim, append(in.checkHint(), "PgUp PgDn scroll", in.esc()))
	case !p.divides():
		return in.items(dim, []string{out, "] next file", "[ previous file", in.size(), "Esc back to the list"})
	}
	keys := []string{out}
	h := p.hunks()
	if h != nil && h.Len() > 1 {
		keys = []string{"] [ hunks", "space leaves a hunk out"}
	}
	if p.edits.Review && h != nil {
		keys = append(keys, "m comment")
	}
	keys = append(append(keys, in.checkHint()...), "tab next file", "Esc back to the list", in.size())
	return append(in.about(), in.items(dim, keys)...)
}
