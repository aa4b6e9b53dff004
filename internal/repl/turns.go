package repl

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/feed"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/statusline"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

const (
	// spinEvery is the pace of the spinner; only its line is drawn again.
	spinEvery = 250 * time.Millisecond
	// stillEvery is the pace where nothing is to move: only the seconds change.
	stillEvery = 5 * time.Second
	// outputLines is how much of a running command's output is shown live,
	// outputBytes how much of it is looked at.
	outputLines = 6
	outputBytes = 4 << 10
	// minDoing is how much of what goes on is worth more than the key that stops it.
	minDoing = 30
)

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// turns runs prompts, one at a time, and knows how far the running one is.
type turns struct {
	sess    Session
	spawn   spawner
	box     *feed.Box
	out     *printer.Printer
	now     func() time.Time
	still   bool   // nothing moves by itself
	stopKey string // ends the turn

	progress
	total   llm.Usage // of the session
	context int64     // tokens in the model's context
}

// progress is what is known of the running turn.
type progress struct {
	n       int // counts turns, so that an old tick is known as such
	running bool
	stop    context.CancelFunc
	started time.Time
	spins   int

	tail   []string // unfinished text
	doing  string   // what goes on
	title  string   // the running call
	output string   // the end of its output
	above  int      // lines of output before that
}

// tick advances the spinner.
type tick struct{ turn int }

// turnDone comes after the last event of a turn.
type turnDone struct{ err error }

// start runs a prompt.
func (t *turns) start(prompt string) tea.Cmd {
	return t.begin(prompt, t.sess.Run, prompt)
}

// begin runs what the user said: a prompt, or a command line.
func (t *turns) begin(said string, run func(context.Context, string) error, text string) tea.Cmd {
	t.out.Prompt(said)
	t.progress = progress{n: t.n + 1, running: true, started: t.now(), doing: "waiting for the model"}
	box := t.box
	t.stop = t.spawn(func(ctx context.Context) { box.Put(turnDone{run(ctx, text)}) })
	return t.nextTick()
}

// cancel stops the running turn; what was done stays.
func (t *turns) cancel() {
	if t.running {
		t.stop()
		t.doing = "stopping"
	}
}

// end follows the last event of the turn.
func (t *turns) end() {
	t.stop()
	t.progress = progress{n: t.n}
}

// use goes on with another session.
func (t *turns) use(sess Session) {
	t.sess = sess // its own Filled says what it has used
}

func (t *turns) nextTick() tea.Cmd {
	n, pace := t.n, spinEvery
	if t.still {
		pace = stillEvery
	}
	return tea.Tick(pace, func(time.Time) tea.Msg { return tick{n} })
}

func (t *turns) spin(due tick) tea.Cmd {
	if !t.running || due.turn != t.n {
		return nil
	}
	t.spins++
	return t.nextTick()
}

// event follows the running turn.
func (t *turns) event(ev session.Event) {
	switch ev := ev.(type) {
	case session.RequestStarted:
		t.doing = "waiting for the model"
	case session.CallPending:
		t.doing = "receiving " + sanitize.Line(ev.Name) + " · " + theme.Count(int64(ev.Bytes)) + " bytes"
	case session.Retrying:
		t.doing = "retrying in " + theme.Seconds(ev.Wait) + ": " + sanitize.Line(ev.Reason)
	case session.AnswerEnded:
		t.total, t.context = ev.Total, ev.Context
	case session.Filled:
		t.total, t.context = ev.Total, ev.Context
	case session.Compacting:
		t.doing = "compacting the conversation"
	case session.CallStarted:
		t.title, t.doing = sanitize.Line(ev.Title), "running"
	case session.CallOutput:
		t.addOutput(ev.Text)
	case session.CallEnded:
		t.out.Call(ev, t.lastLines(), t.above)
		t.title, t.output, t.above = "", "", 0
	case session.Queued:
		t.out.Prompt(ev.Text)
	case session.Notice:
		t.out.Notice(ev.Text)
	case session.TurnEnded:
		t.out.End(ev)
	}
}

// streams takes the unfinished end of the text that is coming in.
func (t *turns) streams(tail []string) {
	t.tail = tail
	if len(tail) > 0 {
		t.doing = "answering"
	}
}

// addOutput keeps the end of a running command's output.
func (t *turns) addOutput(text string) {
	out := t.output + text
	if cut := len(out) - outputBytes; cut > 0 {
		t.above += strings.Count(out[:cut], "\n")
		out = strings.ToValidUTF8(out[cut:], "")
	}
	t.output = out
}

// lastLines is the end of the running command's output, safe to show.
func (t *turns) lastLines() []string {
	text := strings.TrimRight(sanitize.StripANSI(t.output), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
}

// live is the unfinished text and the call that runs now, with the end of its
// output.
func (t *turns) live(look theme.Look) []string {
	out := append([]string{}, t.tail...)
	if t.title == "" {
		return out
	}
	out = append(out, "", theme.Short(theme.Paint(look.Styles.Accent, "◦")+" "+t.title, look.Width))
	lines := t.lastLines()
	for _, l := range lines[max(0, len(lines)-outputLines):] {
		out = append(out, theme.Paint(look.Styles.Dim, theme.Short("  "+l, look.Width)))
	}
	return out
}

// line is the spinner's line. A standing question is what the turn waits for.
func (t *turns) line(look theme.Look, asking bool) string {
	doing := t.doing
	if asking {
		doing = "waiting for your answer"
	}
	stops := t.stopKey + " stops"
	elapsed, tokens := theme.Seconds(t.now().Sub(t.started)), ""
	if n := t.total.Input + t.total.Output; n > 0 {
		tokens = theme.Count(n) + " tokens"
	}
	short := theme.Short(doing, max(minDoing, look.Width-2-ansi.StringWidth(" · "+stops)))
	text := statusline.First(look.Width-2, []string{doing, elapsed, tokens, stops}, []string{doing, elapsed, stops}, []string{short, stops}, []string{doing})
	mark := spinner[t.spins%len(spinner)]
	if t.still {
		mark = "●"
	}
	return theme.Short(theme.Paint(look.Styles.Accent, mark)+theme.Paint(look.Styles.Dim, " "+text), look.Width)
}
