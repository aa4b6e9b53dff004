package repl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// guard is how long a panel must have been on the screen, with no key pressed,
// before it takes keys: what was typed ahead never answers.
const guard = 400 * time.Millisecond

// body is what a panel shows of a request.
type body interface {
	Header() []string
	Len() int
	Lines(offset, height int) []string
	Resize(width int)
	Summary() []string
}

// panel is a question on the screen.
type panel struct {
	q    *question
	req  confirm.Request
	body body
	diff *diffview.View // body, if the request is a change

	edited *string       // the proposal after $EDITOR
	note   *input.Editor // open while a comment is typed

	quietSince time.Time // no key since
	armed      bool      // takes keys
	offset     int       // first body line shown
	seen       int       // body lines that were on the screen so far
	full       bool      // the whole screen
}

func newPanel(q *question, opt diffview.Options, now time.Time) *panel {
	p := &panel{q: q, req: q.req, quietSince: now}
	p.build(opt)
	return p
}

// build makes the body of the request as it stands.
func (p *panel) build(opt diffview.Options) {
	p.diff = nil
	switch {
	case p.req.Change != nil:
		p.diff = diffview.New(changeOf(p.req, p.edited), opt)
		p.body = p.diff
	case p.req.Command != nil:
		c := p.req.Command
		p.body = diffview.NewCommand(diffview.Command{
			Line: c.Line, Dir: c.Dir, Timeout: c.Timeout, Background: c.Background, Notes: p.req.Notes,
		}, opt)
	default:
		p.body = diffview.NewCommand(diffview.Command{
			Line: "read " + readPath(p.req), Notes: append([]string{"outside the workspace"}, p.req.Notes...),
		}, opt)
	}
	p.offset, p.seen = 0, 0
}

func readPath(req confirm.Request) string {
	if req.Read == nil {
		return ""
	}
	return req.Read.Path
}

func changeOf(req confirm.Request, edited *string) diffview.Change {
	c := req.Change
	after := c.After
	if edited != nil {
		after = *edited
	}
	return diffview.Change{
		Name: c.Name, Before: c.Text, After: after, Exists: c.Exists, Delete: c.Delete,
		Encoding: string(c.Format.Encoding), BOM: c.Format.BOM, Mode: c.Mode, Notes: req.Notes,
	}
}

// arm lets the panel take keys once it has been quiet for long enough.
func (p *panel) arm(now time.Time) bool {
	if !p.armed && now.Sub(p.quietSince) >= guard {
		p.armed = true
	}
	return p.armed
}

// hidden returns how many lines of a command were never on the screen. Such a
// command cannot be approved yet; a diff can.
func (p *panel) hidden() int {
	if p.diff != nil {
		return 0
	}
	return max(0, p.body.Len()-p.seen)
}

// scroll moves the view by n lines.
func (p *panel) scroll(n, height int) {
	p.offset = max(0, min(p.offset+n, p.body.Len()-height))
}

// view returns the panel in at most height lines.
func (p *panel) view(st styles, width, height int) []string {
	head := p.body.Header()
	room := max(1, height-len(head)-2)
	lines := p.body.Lines(p.offset, room)
	p.seen = max(p.seen, p.offset+len(lines))
	out := append([]string{}, head...)
	out = append(out, lines...)
	if p.body.Len() > room {
		where := fmt.Sprintf("lines %d–%d of %d · PgUp/PgDn scroll", p.offset+1, p.offset+len(lines), p.body.Len())
		out = append(out, paint(st.dim, where))
	}
	return append(out, p.hints(st, width)...)
}

// hints names the keys that answer.
func (p *panel) hints(st styles, width int) []string {
	if p.note != nil {
		return []string{paint(st.dim, "why not? the model reads this · Enter sends · Esc goes back")}
	}
	if n := p.hidden(); n > 0 {
		return []string{paint(st.warn, fmt.Sprintf("%d more lines: scroll to the end (PgDn) before you answer · n no · Esc cancel", n))}
	}
	keys := []string{"y yes"}
	if !p.req.Force {
		keys = append(keys, "a "+sessionWords(p.req))
	}
	keys = append(keys, "n no", "c no, and say why")
	if p.diff != nil {
		keys = append(keys, "e edit first", "x unfold", "v full screen")
	}
	line := strings.Join(append(keys, "Esc cancel"), " · ")
	style := st.accent
	if !p.armed {
		style = st.dim
	}
	lines := wrap(line, "", width)
	for i, l := range lines {
		lines[i] = paint(style, l)
	}
	return lines
}

func sessionWords(req confirm.Request) string {
	switch {
	case req.Change != nil:
		return "yes to every " + req.Tool + " this session"
	case req.Command != nil:
		return "yes to this command this session"
	default:
		return "yes to this file this session"
	}
}

// answer sends v and reports that the panel is done.
func (p *panel) answer(v confirm.Verdict) {
	v.By = "terminal"
	if v.Decision == confirm.Approve {
		v.Text = p.edited
	}
	p.q.answer <- v
}

// answerKey handles an answering key; it returns false for any other.
func (p *panel) answerKey(key string) (confirm.Verdict, bool) {
	yes := p.hidden() == 0
	switch {
	case key == "y" && yes:
		return confirm.Verdict{Decision: confirm.Approve}, true
	case key == "a" && yes && !p.req.Force:
		return confirm.Verdict{Decision: confirm.Approve, Session: true}, true
	case key == "n":
		return confirm.Verdict{}, true
	}
	return confirm.Verdict{}, false
}

// panelKey handles a key while a panel is up. Keys that come before the panel is
// armed go on to the prompt.
func (m *model) panelKey(key tea.KeyPressMsg) (tea.Cmd, bool) {
	p := m.ask
	if !p.arm(m.ui.opt.Now()) {
		p.quietSince = m.ui.opt.Now()
		return m.armLater(), false
	}
	if p.note != nil {
		return m.noteKey(key), true
	}
	name := key.String()
	if v, ok := p.answerKey(name); ok {
		m.answer(v)
		return nil, true
	}
	page := max(1, m.panelHeight()-4)
	switch name {
	case "c":
		p.note = m.newNote()
	case "e":
		return m.editProposal(), true
	case "x":
		if p.diff != nil {
			p.diff.Expand(!p.diff.Expanded())
			p.offset = 0
		}
	case "v":
		m.fullScreen(!p.full)
	case "q":
		m.fullScreen(false)
	case "up", "k":
		p.scroll(-1, page)
	case "down", "j":
		p.scroll(1, page)
	case "pgup", "ctrl+u":
		p.scroll(-page, page)
	case "pgdown", "ctrl+d", "space":
		p.scroll(page, page)
	case "home", "g":
		p.scroll(-p.body.Len(), page)
	case "end", "G":
		p.scroll(p.body.Len(), page)
	case "esc":
		m.panelEsc()
	case "ctrl+c", "shift+tab":
		return nil, false
	}
	return nil, true
}

// panelEsc leaves the full screen, or else cancels the turn. Outside of a turn
// (/undo) it is a no.
func (m *model) panelEsc() {
	switch {
	case m.ask.full:
		m.fullScreen(false)
	case m.turn.running:
		m.cancel()
	default:
		m.answer(confirm.Verdict{})
	}
}

// noteKey handles a key while the comment is typed.
func (m *model) noteKey(key tea.KeyPressMsg) tea.Cmd {
	p := m.ask
	switch {
	case key.String() == "esc":
		p.note = nil
	case p.note.Handle(key) == input.Submit:
		text := strings.TrimSpace(p.note.Take())
		if text == "" {
			p.note = nil
			return nil
		}
		m.answer(confirm.Verdict{Feedback: text})
	}
	return nil
}

// answer sends the user's verdict and takes the panel down.
func (m *model) answer(v confirm.Verdict) {
	m.fullScreen(false)
	m.ask.answer(v)
	m.ask = nil
}

// edited is the outcome of $EDITOR.
type edited struct {
	panel *panel
	text  string
	err   error
}

// editProposal opens the proposed text in the user's editor; what is saved
// becomes the proposal, and the question stands.
func (m *model) editProposal() tea.Cmd {
	p := m.ask
	if p.diff == nil || p.req.Change.Delete || m.ui.opt.Editor == nil {
		return nil
	}
	text := p.req.Change.After
	if p.edited != nil {
		text = *p.edited
	}
	cmd, result, err := m.ui.opt.Editor(p.req.Change.Name, text)
	if err != nil {
		m.notice("The editor could not be started: " + err.Error())
		return nil
	}
	m.fullScreen(false)
	return tea.Exec(&external{cmd: cmd, screen: m.scr}, func(err error) tea.Msg {
		text, err2 := result() // also cleans up
		return edited{panel: p, text: text, err: errors.Join(err, err2)}
	})
}

// edited takes up what the user saved.
func (m *model) editedProposal(ed edited) tea.Cmd {
	if ed.err != nil {
		m.notice("The editor ended with an error, so the proposal is as it was: " + ed.err.Error())
	}
	if ed.panel != m.ask {
		return nil // answered elsewhere, or withdrawn, meanwhile
	}
	if ed.err == nil && ed.text != m.ask.req.Change.After {
		m.ask.edited = &ed.text
		m.ask.build(m.diffOptions())
	}
	m.ask.armed, m.ask.quietSince = false, m.ui.opt.Now()
	return m.armLater()
}
