package subagents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// maxRequests is how many requests a sub-agent may send.
const maxRequests = 60

// Options configures a Crew.
type Options struct {
	Defined []Definition
	// Equip returns the equipment of a sub-agent. origin tells people who asks. It is called
	// from several goroutines.
	Equip func(ctx context.Context, d Definition, origin string) Equipment
}

// Equipment is the means of a sub-agent.
type Equipment struct {
	Model     llm.Model
	Tools     session.Toolset
	System    string
	CompactAt int    // see session.Options
	Note      string // for people, in the result; may be empty
	Shortened func() // called after the conversation has lost messages
	// SaveFull is that of session.Options.
	SaveFull func(session, text string) (path string, err error)
}

// Crew runs sub-agents. It is safe for concurrent use.
type Crew struct {
	opt      Options
	changing chan struct{} // holds a token while a call that may change something runs

	mu      sync.Mutex // guards the rest
	last    int
	running []*member
}

// New returns a crew without running sub-agents.
func New(opt Options) *Crew { return &Crew{opt: opt, changing: make(chan struct{}, 1)} }

// Defined implements tools.SubAgents.
func (c *Crew) Defined() []tools.SubAgent {
	var all []tools.SubAgent
	for _, d := range c.opt.Defined {
		all = append(all, tools.SubAgent{Name: d.Name, Description: d.Description})
	}
	return all
}

// errStopped is the cause of the end of a sub-agent that the person has stopped.
var errStopped = errors.New("the user stopped this task")

// Run implements tools.SubAgents.
func (c *Crew) Run(ctx context.Context, t tools.Task) (tools.Result, error) {
	d := Definition{Tools: unlisted()}
	if i := slices.IndexFunc(c.opt.Defined, func(d Definition) bool { return d.Name == t.Agent }); i >= 0 {
		d = c.opt.Defined[i]
	}
	m := &member{task: t, origin: cmp.Or(t.Agent, "task") + ": " + t.Description}
	with := c.opt.Equip(ctx, d, m.origin)
	m.note(with.Note)
	alone, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer c.join(m, func() { stop(errStopped) })()
	loop, err := session.New(session.Options{
		Model: with.Model, Tools: &permitted{with.Tools, d.Tools, c.changing}, System: func(context.Context) string { return with.System },
		Limits: session.Limits{MaxTurns: maxRequests}, CompactAt: with.CompactAt, SaveFull: with.SaveFull, Emit: m.watch(with.Shortened), Budget: t.Budget, Turn: t.Turn,
	})
	if err != nil {
		return tools.Result{}, err
	}
	err = loop.Run(alone, t.Prompt)
	m.result.Task = loop.Messages()
	if ctx.Err() != nil {
		return m.result, ctx.Err()
	}
	if context.Cause(alone) == errStopped { //nolint:errorlint // it is set as it is
		err = errStopped
	}
	return m.ended(err), nil
}

// Running describes a sub-agent that works.
type Running struct {
	N       int // its number
	Origin  string
	Started time.Time
	Doing   string   // its newest call
	Steps   []string // its latest calls that have ended, with their results
	Used    llm.Usage
}

// Running lists the sub-agents that work, oldest first.
func (c *Crew) Running() []Running {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Running
	for _, m := range c.running {
		all = append(all, m.running())
	}
	return all
}

// Stop stops the sub-agent with a number, and reports whether it worked.
func (c *Crew) Stop(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.running, func(m *member) bool { return m.n == n })
	if i < 0 {
		return false
	}
	c.running[i].stop()
	return true
}

// join adds m until leave is called.
func (c *Crew) join(m *member, stop func()) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	m.n, m.stop, m.started = c.last, stop, time.Now()
	c.running = append(c.running, m)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running = slices.DeleteFunc(c.running, func(other *member) bool { return other == m })
	}
}

// member is a sub-agent that works. The goroutine of its task owns it, except shown.
type member struct {
	task    tools.Task
	origin  string
	n       int
	started time.Time
	stop    func()
	result  tools.Result
	steps   int
	end     session.Stop

	mu    sync.Mutex // guards shown
	shown Running
}

// keptSteps is the number of ended calls that Running has.
const keptSteps = 8

// watch returns saw, which also calls shortened after the conversation has lost messages.
func (m *member) watch(shortened func()) func(session.Event) {
	return func(ev session.Event) {
		if _, ok := ev.(session.Filled); ok {
			shortened()
		}
		m.saw(ev)
	}
}

func (m *member) running() Running {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.shown
	r.N, r.Origin, r.Started, r.Steps = m.n, m.origin, m.started, slices.Clone(r.Steps)
	return r
}

// show changes what Running tells.
func (m *member) show(change func(*Running)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.shown)
}

// note shows a line for people among the output of the call.
func (m *member) note(text string) {
	if text != "" && m.task.Progress != nil {
		m.task.Progress(text + "\n")
	}
}

// saw handles an event of the sub-agent's conversation.
func (m *member) saw(ev session.Event) {
	switch ev := ev.(type) {
	case session.CallStarted:
		m.show(func(r *Running) { r.Doing = ev.Title })
	case session.AnswerEnded:
		m.result.Used = ev.Total
		m.show(func(r *Running) { r.Used = ev.Total })
	case session.CallEnded:
		m.steps++
		first, _, _ := strings.Cut(ev.Result.ForUser, "\n")
		step := m.did(ev.Call.ID, ev.Result) + " " + ev.Title + " · " + first
		m.show(func(r *Running) { r.Steps = append(r.Steps[max(0, len(r.Steps)-keptSteps+1):], step) })
		m.note(step)
	case session.Retrying:
		m.note(ev.Reason + "; trying again")
	case session.Notice:
		m.note(ev.Text)
	case session.TurnEnded:
		m.end = ev.Stop
	}
}

// did adds the effects of a call to those of the task, and returns its mark.
func (m *member) did(id string, res tools.Result) string {
	m.result.Changes = append(m.result.Changes, res.Changes...)
	m.result.Ran = m.result.Ran || res.Ran
	switch {
	case res.Denied != nil:
		m.result.Refused = append(m.result.Refused, *res.Denied)
		m.result.TaskRefused = append(m.result.TaskRefused, id)
		return "○"
	case res.Failed:
		m.result.TaskFailed = append(m.result.TaskFailed, id)
		return "✗"
	}
	return "●"
}

// ended returns the result of a task that ended with err.
func (m *member) ended(err error) tools.Result {
	res := m.result
	said := m.lastWords()
	var limit *session.LimitError
	switch {
	case errors.Is(err, errStopped):
		res.ForModel, res.ForUser = "The user stopped this task before it was done.", "stopped"
	case m.end == session.StopDenied:
		res.ForModel, res.ForUser = "The user declined a step of this task without a reason, so it ended before it was done.", "stopped: declined"
	case errors.As(err, &limit):
		res.ForModel, res.ForUser = "The task was "+limit.Reason+".", limit.Reason
	case err != nil:
		res.ForModel, res.ForUser = "The task failed: "+err.Error()+".", "failed: "+err.Error()
	default:
		res.ForModel, res.ForUser = said, fmt.Sprintf("done, %d calls", m.steps)
		if m.steps == 1 {
			res.ForUser = "done, 1 call"
		}
		res.ForUser += m.spent()
		return res
	}
	res.Failed = true
	res.ForUser += m.spent()
	if said != "" {
		res.ForModel += " It said last:\n" + said
	}
	return res
}

// spent returns the tokens and the cost of the task, as the end of a line.
func (m *member) spent() string {
	u := m.result.Used
	if u.Input+u.Output == 0 {
		return ""
	}
	text := fmt.Sprintf(" · %s tokens", plural.Grouped(u.Input+u.Output))
	if u.CostUSD > 0 {
		text += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return text
}

// lastWords returns the newest text of the sub-agent.
func (m *member) lastWords() string {
	for _, msg := range slices.Backward(m.result.Task) {
		if text := strings.TrimSpace(msg.Text()); msg.Role == llm.Assistant && text != "" {
			return text
		}
	}
	return ""
}

// permitted offers some tools of a set. Those that may change something run one at a time
// in all sub-agents.
type permitted struct {
	session.Toolset
	names    []string
	changing chan struct{}
}

// Specs describes the permitted tools.
func (p *permitted) Specs() []llm.ToolSpec {
	return slices.DeleteFunc(slices.Clone(p.Toolset.Specs()), func(s llm.ToolSpec) bool { return !permits(p.names, s.Name) })
}

// Call calls a permitted tool.
func (p *permitted) Call(ctx context.Context, name string, call tools.Call) (tools.Result, error) {
	offered := p.Specs()
	i := slices.IndexFunc(offered, func(s llm.ToolSpec) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range offered {
			names = append(names, s.Name)
		}
		return tools.Result{
			ForModel: fmt.Sprintf("The tool %q is not available in this task. The tools are: %s.", name, strings.Join(names, ", ")),
			ForUser:  "not available", Failed: true,
		}, nil
	}
	if !offered[i].Reads {
		select {
		case p.changing <- struct{}{}:
			defer func() { <-p.changing }()
		case <-ctx.Done():
			return tools.Result{}, ctx.Err()
		}
	}
	return p.Toolset.Call(ctx, name, call)
}
