package app

import (
	"context"
	"encoding/hex"
	"sync"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/hexsum"
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
	e := audit.Entry{Session: a.session(), Event: audit.Declined, Tool: req.Tool, By: v.By, Rule: v.Rule, Edited: len(v.Texts) > 0}
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
	f := req.Facts()
	proposed := f.Text
	e.Kind, e.Subject = f.Kind, f.About
	if text := v.Edited(); text != nil && f.Kind != "plan" {
		proposed = *text
	}
	if proposed != "" {
		e.Hash = hashOf(proposed)
	}
	a.append(ctx, e)
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
	return hexsum.Of(text)
}
