package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// auditor writes answers and commits to the audit log.
type auditor struct {
	log     audit.Log
	dir     string
	session func() string // may return ""
	warn    func(note string)
	warned  sync.Once
}

// append adds an entry. A log that cannot be written is reported once: it must not keep
// the person from working.
func (a *auditor) append(ctx context.Context, e audit.Entry) {
	e.Dir = a.dir
	if err := a.log.Append(ctx, e); err != nil {
		a.warned.Do(func() { a.warn("The audit log is incomplete from here: " + err.Error()) })
	}
}

// answered logs the answer to a question.
func (a *auditor) answered(ctx context.Context, req confirm.Request, v confirm.Verdict, err error) {
	e := audit.Entry{Session: a.session(), Event: audit.Declined, Tool: req.Tool, By: v.By, Rule: v.Rule, Edited: v.Text != nil}
	switch {
	case err != nil:
		e.Event = audit.Withdrawn
	case v.Decision == confirm.Approve:
		e.Event = audit.Approved
	case v.Unasked:
		e.By = "nobody"
	}
	switch {
	case v.Always != nil:
		e.Always = v.Always.Rule + ", " + v.Always.Term.String()
	case v.Session:
		e.Always = confirm.Term{}.String()
	}
	var proposed string
	e.Kind, e.Subject, proposed = subject(req)
	if v.Text != nil {
		proposed = *v.Text
	}
	if proposed != "" {
		e.Hash = hashOf(proposed)
	}
	a.append(ctx, e)
}

// subject returns the kind of a request, its subject, and the text that is proposed.
func subject(req confirm.Request) (kind, subject, proposed string) {
	switch {
	case req.Change != nil && req.Change.Moves():
		return "move", req.Change.Path + "\n" + req.Change.To, req.Change.After
	case req.Change != nil:
		return "edit", req.Change.Path, req.Change.After
	case req.Plan != nil:
		var paths []string
		for _, c := range req.Plan.Changes {
			paths = append(paths, c.Path)
			if c.Moves() {
				paths = append(paths, c.To)
			}
		}
		return "plan", strings.Join(paths, "\n"), ""
	case req.Document != nil:
		return "document", "", req.Document.Text
	case req.Command != nil:
		return "command", req.Command.Line, req.Command.Line
	case req.Call != nil:
		return "call", req.Tool, req.Call.Args
	case req.Read != nil:
		return "read", req.Read.Path, ""
	case req.Save != nil:
		return "save", req.Save.Path, ""
	case req.Fetch != nil:
		return "fetch", req.Fetch.URL, ""
	case req.Choice != nil:
		return "choice", req.Choice.Text, ""
	case req.Limit != nil:
		return "limit", req.Limit.Reached, ""
	}
	return "", "", ""
}

// committed logs a written file.
func (a *auditor) committed(ctx context.Context, f workspace.File, by workspace.Origin) {
	e := audit.Entry{Session: by.Session, Event: audit.Written, Tool: by.Tool, Subject: f.Path}
	if f.Exists {
		e.Hash = hex.EncodeToString(f.Hash[:])
	}
	a.append(ctx, e)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
