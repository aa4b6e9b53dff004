package repl

import (
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

const (
	// outputLines bounds the visible output of a running command, outputBytes the part that
	// is scanned.
	outputLines = 6
	outputBytes = 4 << 10
	// minDoing is the width of the activity that takes precedence over the stop key.
	minDoing = 30
)

const waitingForModel = "waiting for the model"

var spinnerFrames = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress describes the running turn. It is not safe for concurrent use.
type progress struct {
	started time.Time
	spins   int
	bytes   int      // received of the answer
	tokens  int64    // their rough number when the spinner last moved
	tail    []string // unfinished text
	doing   string   // the present activity
	retry   time.Time
	call    runningCall
}

// runningCall is the running tool call.
type runningCall struct {
	title  string
	output string // the end of its output
	above  int    // number of earlier output lines
}

// beginProgress returns the progress of a turn that begins now.
func beginProgress(now time.Time) progress { return progress{started: now, doing: waitingForModel} }

// bytesPerToken is a rough mean over languages and code.
const bytesPerToken = 4

// spin advances the spinner and the token count.
func (t *progress) spin() { t.spins, t.tokens = t.spins+1, int64(t.bytes/bytesPerToken) }

// received records the number of bytes received of the answer.
func (t *progress) received(bytes int) { t.bytes = bytes }

// stopping shows that the turn is ending.
func (t *progress) stopping() { t.doing, t.retry = "stopping", time.Time{} }

// follow handles an event of the turn.
func (t *progress) follow(ev session.Event, now time.Time) {
	switch ev := ev.(type) {
	case session.RequestStarted:
		t.does(waitingForModel)
	case session.AnswerEnded: // its usage counts from now on
		t.bytes, t.tokens = 0, 0
	case session.CallPending:
		t.does("receiving " + sanitize.Line(ev.Name) + " · " + theme.Count(int64(ev.Bytes)) + " bytes")
	case session.Retrying:
		t.doing, t.retry = sanitize.Line(ev.Reason), now.Add(ev.Wait)
	case session.Compacting:
		t.does("compacting the conversation")
	case session.CallStarted:
		t.does("running")
		t.call.title = sanitize.Line(ev.Title)
	case session.CallOutput:
		t.call.add(ev.Text)
	case session.CallEnded:
		t.call = runningCall{}
	}
}

func (t *progress) does(what string) { t.doing, t.retry = what, time.Time{} }

// streams records the unfinished end of the streaming text, or that reasoning comes.
func (t *progress) streams(tail []string, thinking bool) {
	t.tail = tail
	switch {
	case thinking:
		t.does("thinking")
	case len(tail) > 0:
		t.does("answering")
	}
}

// thought records the end of reasoning.
func (t *progress) thought() { t.does("answering") }

// add appends output and keeps its end.
func (c *runningCall) add(text string) {
	out := c.output + text
	if cut := len(out) - outputBytes; cut > 0 {
		c.above += strings.Count(out[:cut], "\n")
		out = strings.ToValidUTF8(out[cut:], "")
	}
	c.output = out
}

// output returns the end of the running command's output and the number of earlier lines.
func (t *progress) output() (lines []string, above int) {
	text := strings.TrimRight(sanitize.StripANSI(t.call.output), "\n")
	if text == "" {
		return nil, t.call.above
	}
	return strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n"), t.call.above
}

// live returns the unfinished text and the work: the sub-agents, or the call with its time and
// the end of its output. moves is the hint of the key for the background.
func (t *progress) live(look theme.Look, work app.Work, moves string, now time.Time) []string {
	out := append([]string{}, t.tail...)
	mark := theme.Paint(look.Styles.Accent, "◦") + " "
	switch {
	case t.call.title == "":
		return out
	case len(work.SubAgents) > 0:
		out = append(out, "")
		for _, s := range work.SubAgents {
			out = append(out, theme.Short(mark+helperLine(s, look, now), look.Width))
		}
		return out
	}
	out = append(out, "", theme.Short(mark+beside(look, t.call.title, times(work.Front, moves, now)...), look.Width))
	lines, _ := t.output()
	for _, l := range lines[max(0, len(lines)-outputLines):] {
		out = append(out, theme.Paint(look.Styles.Dim, theme.Short("  "+l, look.Width)))
	}
	return out
}

// times describes how long the command runs, in the order of importance.
func times(f *shell.Front, moves string, now time.Time) []string {
	if f == nil {
		return nil
	}
	took := theme.Seconds(now.Sub(f.Started))
	if f.Limit > 0 {
		took += " of " + theme.Seconds(f.Limit)
	}
	return []string{took, moves}
}

// helperLine describes a sub-agent: its name, time and cost, then its newest call.
func helperLine(s subagents.Running, look theme.Look, now time.Time) string {
	spent := ""
	switch n := s.Used.Input + s.Used.Output; {
	case s.Used.CostUSD > 0:
		spent = fmt.Sprintf("$%.2f", s.Used.CostUSD)
	case n > 0:
		spent = theme.Count(n) + " tokens"
	}
	return beside(look, sanitize.Line(s.Origin), theme.Seconds(now.Sub(s.Started)), spent, sanitize.Line(s.Doing))
}

// minPart is the width of a part worth cutting.
const minPart = 12

// beside returns title with the non-empty parts after it that fit, the last of them perhaps cut.
// Half of the line is the title's.
func beside(look theme.Look, title string, parts ...string) string {
	room, after := look.Width-2, ""
	for _, p := range parts {
		left := room - min(cells.Width(title), room/2) - cells.Width(after+itemSeparator)
		if p != "" && left >= min(minPart, cells.Width(p)) {
			after += itemSeparator + theme.Short(p, left)
		}
	}
	if room < 1 {
		return ""
	}
	return theme.Short(title, room-cells.Width(after)) + theme.Paint(look.Styles.Dim, after)
}

// surroundings holds the other inputs of the line.
type surroundings struct {
	now    time.Time
	asking bool      // the turn waits for an answer
	used   llm.Usage // of this turn
	stop   string    // the key that stops the turn
	still  bool      // no animation
}

// line describes the activity, its duration and the key that stops it.
func (t *progress) line(look theme.Look, o surroundings) string {
	if o.asking { // the question names its own keys
		return theme.Short(theme.Paint(look.Styles.Accent, "●")+theme.Paint(look.Styles.Dim, " waiting for your answer"), look.Width)
	}
	doing := t.activity(o)
	stops := o.stop + " stops"
	elapsed, tokens := theme.Seconds(o.now.Sub(t.started)), ""
	if n := o.used.Input + o.used.Output + t.tokens; n > 0 {
		tokens = theme.Count(n) + " tokens"
	}
	short := theme.Short(doing, max(minDoing, look.Width-2-cells.Width(" · "+stops)))
	text := firstFit(look.Width-2, []string{doing, elapsed, tokens, stops}, []string{doing, elapsed, stops}, []string{short, stops}, []string{doing})
	mark := spinnerFrames[t.spins%len(spinnerFrames)]
	if o.still {
		mark = "●"
	}
	return theme.Short(theme.Paint(look.Styles.Accent, mark)+theme.Paint(look.Styles.Dim, " "+text), look.Width)
}

// activity describes the activity in words, with a countdown while waiting.
func (t *progress) activity(o surroundings) string {
	switch left := t.retry.Sub(o.now); {
	case t.retry.IsZero():
		return t.doing
	case left > 0:
		return "retrying in " + theme.Seconds((left + time.Second - 1).Truncate(time.Second)) + ": " + t.doing
	}
	return "trying again: " + t.doing
}
