package headless

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Collector summarizes the events of a turn. The zero value is ready to use.
type Collector struct {
	answer  strings.Builder // to the newest request
	rounds  int
	usage   llm.Usage
	changed []tools.FileChange // one per path, in order of the first change
	denied  []tools.Denied
	tried   int // commands that ran in a copy of the folder
	helpers []helperObject
}

// Add adds an event.
func (c *Collector) Add(ev session.Event) {
	switch ev := ev.(type) {
	case session.RequestStarted:
		c.rounds = ev.Round
		c.answer.Reset()
	case session.Retrying:
		c.answer.Reset()
	case session.TextDelta:
		c.answer.WriteString(ev.Text)
	case session.AnswerEnded:
		c.usage = c.usage.Add(ev.Usage)
	case session.Spent:
		c.usage = c.usage.Add(ev.Usage)
	case session.CallEnded:
		if ev.Result.Task != nil {
			c.helpers = append(c.helpers, helperObject{ev.Title, usageOf(ev.Result.Used), ev.Result.Used.CostUSD, ev.Result.Failed})
		}
		c.addResult(ev.Result)
	}
}

func (c *Collector) addResult(r tools.Result) {
	if r.Answer != "" {
		c.answer.Reset()
		c.answer.WriteString(r.Answer)
	}
	if r.Denied != nil {
		c.denied = append(c.denied, *r.Denied)
	}
	if r.Rule == permission.InCopy {
		c.tried++
	}
	c.denied = append(c.denied, r.Refused...)
	for _, ch := range r.Changes {
		c.addChange(ch)
	}
}

func (c *Collector) addChange(ch tools.FileChange) {
	for i := range c.changed {
		if was := &c.changed[i]; was.Path == ch.Path || was.Path == ch.From && !was.Deleted {
			was.Path, was.Deleted = ch.Path, ch.Deleted
			was.Added += ch.Added
			was.Removed += ch.Removed
			was.From = cmp.Or(was.From, ch.From)
			if was.From == was.Path {
				was.From = ""
			}
			return
		}
	}
	c.changed = append(c.changed, ch)
}

// Answer returns the text of the last answer, without text before calls.
func (c *Collector) Answer() string { return c.answer.String() }

// status returns the exit status of the turn, which ended with err.
func (c *Collector) status(err error, interrupted bool) int {
	switch {
	case err != nil && interrupted:
		return ExitInterrupted
	case err != nil:
		return ExitFailed
	case len(c.denied) > 0:
		return ExitDenied
	}
	return ExitDone
}

// Newest computes the exit status of the newest of several turns. The zero value is ready to
// use. It is safe for concurrent use.
type Newest struct {
	mu  sync.Mutex
	sum Collector
	err error
}

// Add adds an event.
func (n *Newest) Add(ev session.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch ev := ev.(type) {
	case session.TurnStarted:
		n.sum, n.err = Collector{}, nil
	case session.TurnEnded:
		n.err = ev.Err
	}
	n.sum.Add(ev)
}

// Status returns the exit status, which is ExitDone before the first turn.
func (n *Newest) Status() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sum.status(n.err, errors.Is(n.err, context.Canceled))
}

// resultObject is the last object of both JSON formats. Its fields and their order are
// part of the program's interface.
type resultObject struct {
	Type         string             `json:"type"`
	IsError      bool               `json:"is_error"`
	Result       string             `json:"result"`
	Output       json.RawMessage    `json:"structured_output,omitempty"`
	SessionID    string             `json:"session_id"`
	NumTurns     int                `json:"num_turns"`
	Usage        usageObject        `json:"usage"`
	CostUSD      float64            `json:"cost_usd"`
	SavedUSD     float64            `json:"cache_saved_usd,omitzero"`
	Tried        int                `json:"commands_in_copy,omitzero"`
	DurationMS   int64              `json:"duration_ms"`
	FilesChanged []tools.FileChange `json:"files_changed"`
	Denied       []tools.Denied     `json:"denied"`
	Helpers      []helperObject     `json:"sub_agents,omitempty"`
}

// helperObject is a sub-agent of the turn, whose usage is part of the turn's.
type helperObject struct {
	Title   string      `json:"title"`
	Usage   usageObject `json:"usage"`
	CostUSD float64     `json:"cost_usd"`
	Failed  bool        `json:"failed"`
}

type usageObject struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached_tokens"`
	// Written is the part of Input that the server put into its cache.
	Written int64 `json:"cache_written_tokens,omitzero"`
	// Searches counts the searches of the web by the server.
	Searches int64 `json:"web_searches,omitzero"`
}

func usageOf(u llm.Usage) usageObject {
	return usageObject{u.Input, u.Output, u.Cached, u.Written, u.Searches}
}

func (c *Collector) result(id string, err error, took time.Duration) resultObject {
	r := resultObject{
		Type: "result", Result: c.Answer(), SessionID: id, NumTurns: c.rounds,
		Usage:   usageOf(c.usage),
		CostUSD: c.usage.CostUSD, SavedUSD: c.usage.SavedUSD, Tried: c.tried, DurationMS: took.Milliseconds(),
		FilesChanged: append([]tools.FileChange{}, c.changed...),
		Denied:       append([]tools.Denied{}, c.denied...),
		Helpers:      c.helpers,
	}
	if err != nil {
		r.IsError, r.Result = true, reason(err)
	}
	return r
}

// reason returns the reason why a turn failed as a sentence.
func reason(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return err.Error()
}

// rawObject returns args as JSON, or an empty object if args is not JSON.
func rawObject(args string) json.RawMessage {
	if !json.Valid([]byte(args)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(args)
}
