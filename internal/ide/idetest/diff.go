package idetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Diff is an open review.
type Diff struct {
	Path, Text, Tab string
	ID              string // of the review; only sent to our own extension
	OnClose         string
	Description     string
	Args            json.RawMessage // the whole request
	// Closed is closed when the diff is off the editor's screen.
	Closed chan struct{}

	conn  *Conn
	id    json.RawMessage // of the request
	keeps bool            // the client wants to hear the texts of drafts
	gone  sync.Once

	held  bool // guarded by Editor.mu
	shown int  // how often the client asked to show it; guarded by Editor.mu

	mu    sync.Mutex
	draft string // the text on the right side
}

func (c *Conn) openDiff(req Request) Reply {
	var p struct {
		Path        string  `json:"old_file_path"`
		New         string  `json:"new_file_path"`
		Text        string  `json:"new_file_contents"`
		Tab         string  `json:"tab_name"`
		ID          string  `json:"diff_id"`
		OnClose     string  `json:"on_close"`
		Description string  `json:"description"`
		Draft       *string `json:"draft"`
		Keeps       bool    `json:"keeps_drafts"`
	}
	if err := json.Unmarshal(req.Params, &p); err != nil || p.Path == "" || p.Tab == "" {
		return Refusef(-32602, "Invalid params")
	}
	e := c.editor
	if doc := e.World.document(p.Path); doc.Dirty {
		if e.Dialect.Ours {
			return Refuse("DIRTY_DOCUMENT", "the file has unsaved changes")
		}
		return Reply{Error: &Error{Code: -32000, Message: "Server error", Data: "Cannot create diff: file has unsaved changes"}}
	}
	d := &Diff{
		Path: p.Path, Text: p.Text, Tab: p.Tab, ID: p.ID, OnClose: p.OnClose, Description: p.Description,
		Args: req.Params, Closed: make(chan struct{}), conn: c, id: req.ID, draft: p.Text, keeps: p.Keeps,
	}
	if p.Draft != nil {
		d.draft = *p.Draft
	}
	e.record(func() { e.diffs[d.Tab] = d })
	e.Shown <- d
	return Reply{Silent: true}
}

// Draft returns the text on the right side.
func (d *Diff) Draft() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.draft
}

// WaitHeld waits until the client claims the review or releases it.
func (d *Diff) WaitHeld(held bool) {
	e := d.conn.editor
	e.tb.Helper()
	e.until(fmt.Sprintf("held: %t", held), func() bool { return d.held == held })
}

// WaitShown waits until the client has asked n times to show the review.
func (d *Diff) WaitShown(n int) {
	e := d.conn.editor
	e.tb.Helper()
	e.until(fmt.Sprintf("asked to show it %d times", n), func() bool { return d.shown == n })
}

// Edit changes the text on the right side; our own extension tells the client.
func (d *Diff) Edit(text string) {
	d.mu.Lock()
	d.draft = text
	d.mu.Unlock()
	if d.conn.editor.Dialect.Ours {
		params := map[string]any{
			"diffId": d.ID, "edited": text != d.Text,
			"added": strings.Count(text, "\n"), "removed": strings.Count(d.Text, "\n"),
		}
		if d.keeps && text != d.Text && !d.conn.editor.Dialect.NoTexts {
			params["text"] = text
		}
		d.conn.send(map[string]any{"jsonrpc": "2.0", "method": "diff_changed", "params": params})
	}
}

// Hide reports, like our own extension, that the diff is not on the screen: it is
// opened on demand, or its tab was closed without an answer.
func (d *Diff) Hide() {
	d.conn.send(map[string]any{"jsonrpc": "2.0", "method": "diff_changed", "params": map[string]any{
		"diffId": d.ID, "state": "hidden", "edited": false, "added": 0, "removed": 0,
	}})
}

// Accept accepts the text on the right side by the editor's button.
func (d *Diff) Accept() { d.AcceptWith(nil) }

// AcceptWith accepts with more details.
func (d *Diff) AcceptWith(details map[string]any) {
	dialect := d.conn.editor.Dialect
	switch text := d.Draft(); {
	case dialect.Flat:
		d.settle("FILE_SAVED")
	case dialect.Ours:
		d.settle("FILE_SAVED", text, d.details("accepted", "button", details))
	default:
		if dialect.Return != nil {
			text = dialect.Return(text)
		}
		d.settle("FILE_SAVED", text)
	}
}

// Reject rejects by the editor's button.
func (d *Diff) Reject() { d.RejectWith(nil) }

// RejectWith rejects with more details.
func (d *Diff) RejectWith(details map[string]any) {
	switch dialect := d.conn.editor.Dialect; {
	case dialect.Ours:
		d.settle("DIFF_REJECTED", d.Tab, d.details("rejected", "button", details))
	case dialect.Flat:
		d.settle("DIFF_REJECTED")
	default:
		d.settle("DIFF_REJECTED", d.Tab)
	}
}

// Dismiss closes the tab by hand.
func (d *Diff) Dismiss() {
	dialect := d.conn.editor.Dialect
	switch {
	case dialect.Ours && d.OnClose == "keep":
		// The review stays in the list, without an answer.
	case dialect.Ours:
		d.settle("DIFF_REJECTED", d.Tab, d.details("rejected", "tab_closed", nil))
	case dialect.Dismissed == nil:
		d.conn.editor.drop(d)
	default:
		d.settle(named(dialect.Dismissed, d.Tab)...)
	}
}

// Answer sends any answer, as often as it is called.
func (d *Diff) Answer(r Reply) { d.AnswerAs(d.Number(), r) }

// AnswerAs answers with another request number.
func (d *Diff) AnswerAs(number string, r Reply) {
	to := d.conn
	if d.conn.editor.Dialect.Keeps {
		to = d.conn.editor.newest()
	}
	if to != nil {
		to.Reply(json.RawMessage(number), r)
	}
}

// buffer returns the open diff whose buffer a client names, in the manner of Neovim's
// plugin.
func (e *Editor) buffer(args json.RawMessage) *Diff {
	var p struct {
		Path string `json:"filePath"`
	}
	if e.Dialect.Name != "Neovim" || json.Unmarshal(args, &p) != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	tab, _ := strings.CutSuffix(p.Path, " (proposed)")
	return e.diffs[tab]
}

// settle answers, then takes the diff off the screen.
func (d *Diff) settle(items ...string) {
	d.Answer(Text(items...))
	d.conn.editor.drop(d)
}

func (d *Diff) details(outcome, reason string, more map[string]any) string {
	all := map[string]any{
		"v": 1, "diffId": d.ID, "outcome": outcome, "reason": reason, "userEdited": d.Draft() != d.Text,
	}
	for k, v := range more {
		all[k] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// named replaces TAB by the tab's name.
func named(items []string, tab string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = strings.ReplaceAll(item, "TAB", tab)
		if item == "TAB_CLOSED" {
			out[i] = item
		}
	}
	return out
}

func (c *Conn) closeTab(args json.RawMessage) Reply {
	var p struct {
		Snake string `json:"tab_name"`
		Camel string `json:"tabName"`
	}
	if json.Unmarshal(args, &p) != nil || p.Snake+p.Camel == "" {
		// Neovim answers like this: a result that looks like an error.
		return Reply{Result: map[string]any{"code": -32602, "message": "Invalid params", "data": "tab_name is missing"}}
	}
	name := p.Snake
	if name == "" {
		name = p.Camel
	}
	e := c.editor
	e.mu.Lock()
	d := e.diffs[name]
	e.mu.Unlock()
	if d == nil {
		if e.Dialect.OneBased {
			return Refusef(-32603, "No buffer named %s", name)
		}
		return Text("TAB_CLOSED")
	}
	d.withdraw()
	if e.Dialect.Flat {
		return Text("ok")
	}
	return Text("TAB_CLOSED")
}

// withdraw closes a diff for the client.
func (d *Diff) withdraw() {
	dialect := d.conn.editor.Dialect
	switch {
	case dialect.Ours:
		d.settle("TAB_CLOSED", d.details("closed", "aborted", nil))
	case dialect.Closing == nil:
		d.conn.editor.drop(d)
	default:
		d.settle(named(dialect.Closing, d.Tab)...)
	}
}

func (c *Conn) closeAll() Reply {
	e := c.editor
	e.mu.Lock()
	var all []*Diff
	for _, d := range e.diffs {
		all = append(all, d)
	}
	e.mu.Unlock()
	for _, d := range all {
		d.withdraw()
	}
	return Text(fmt.Sprintf("CLOSED_%d_DIFF_TABS", len(all)))
}

// resolve answers an open diff for the client and returns its draft.
func (c *Conn) resolve(args json.RawMessage) Reply {
	var p struct {
		ID      string `json:"diff_id"`
		Outcome string `json:"outcome"`
	}
	if json.Unmarshal(args, &p) != nil {
		return Refusef(-32602, "Invalid params")
	}
	e := c.editor
	e.mu.Lock()
	var found *Diff
	for _, d := range e.diffs {
		if d.ID == p.ID {
			found = d
		}
	}
	e.mu.Unlock()
	if found == nil {
		return Refuse("DIFF_NOT_FOUND", "no such review")
	}
	text := found.Draft()
	switch p.Outcome {
	case "hold", "release":
		e.record(func() { found.held = p.Outcome == "hold" })
		return JSON(map[string]any{"success": true})
	case "show":
		e.record(func() { found.shown++ })
		return JSON(map[string]any{"success": true})
	}
	if p.Outcome == "accept" {
		found.settle("FILE_SAVED", text, found.details("accepted", "terminal", nil))
	} else {
		found.settle("DIFF_REJECTED", found.Tab, found.details("rejected", "terminal", nil))
	}
	return JSON(map[string]any{"success": true, "diffId": found.ID, "text": text, "userEdited": text != found.Text})
}

// Number returns the raw number of the request.
func (d *Diff) Number() string { return string(d.id) }
