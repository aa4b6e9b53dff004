package langserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// maxNames bounds the names of changes in an error, in bytes.
const maxNames = 2 << 10

// codeAction is a change that a peer offers.
type codeAction struct {
	Title    string          `json:"title"`
	Kind     string          `json:"kind"`
	Edit     *workspaceEdit  `json:"edit"`
	Data     json.RawMessage `json:"data"`
	Disabled *struct{}       `json:"disabled"`
	Command  json.RawMessage `json:"command"` // a name if this is a command itself

	raw json.RawMessage
}

func (a *codeAction) UnmarshalJSON(data []byte) error {
	type plain codeAction
	a.raw = append(json.RawMessage(nil), data...)
	err := json.Unmarshal(data, (*plain)(a))
	a.Title = sanitize.Line(a.Title) // as it is listed
	return err
}

// usable reports whether an action is a change, and no command that would do something else.
func (a *codeAction) usable() bool {
	return a.Title != "" && a.Disabled == nil && (a.Edit != nil || a.Data != nil && !strings.HasPrefix(string(a.Command), `"`))
}

// Fixes returns the names of the changes that are offered for the line of a place.
func (s *Servers) Fixes(ctx context.Context, at Place) (names []string, err error) {
	err = s.ask(ctx, at.Path, func(ctx context.Context, p peer) error {
		all, err := actions(ctx, p, at)
		for _, each := range all {
			names = append(names, each.Title)
		}
		return err
	})
	return names, err
}

// Fix returns the fate of all files by the change with a name that is offered for the line of a place. read
// returns the text of another file as it is to be changed.
func (s *Servers) Fix(ctx context.Context, at Place, name string, read func(path string) (string, error)) (edits []FileEdit, err error) {
	err = s.ask(ctx, at.Path, func(ctx context.Context, p peer) error {
		all, err := actions(ctx, p, at)
		if err != nil {
			return err
		}
		var names []string
		for _, each := range all {
			if names = append(names, each.Title); each.Title != name {
				continue
			}
			if each.Edit == nil {
				if err := p.call(ctx, "codeAction/resolve", each.raw, &each, func() bool { return false }); err != nil {
					return err
				}
			}
			if each.Edit == nil || each.Edit.empty() {
				return fmt.Errorf("%.200q is a command, not a change", name)
			}
			edits, err = each.Edit.files(p.counts(), at.other(read))
			return err
		}
		return fmt.Errorf("no change named %.200q is offered there, only: %s", name, clip.Bytes(strings.Join(names, "; "), maxNames, "…"))
	})
	return edits, err
}

func actions(ctx context.Context, p peer, at Place) (usable []codeAction, err error) {
	start := strings.LastIndexAny(at.Text[:at.Offset], "\r\n") + 1
	end := len(at.Text)
	if i := strings.IndexAny(at.Text[start:], "\r\n"); i >= 0 {
		end = start + i
	}
	at.Offset = start
	params := p.at(at)
	line := span{p.counts().positionOf(at.Text, start), p.counts().positionOf(at.Text, end)}
	found := p.findings(ctx, at.Path)
	raw := []json.RawMessage{}
	for _, d := range found {
		if d.Range.Start.Line <= line.Start.Line && d.Range.End.Line >= line.Start.Line {
			raw = append(raw, d.raw)
		}
	}
	delete(params, "position")
	params["range"], params["context"] = line, map[string]any{"diagnostics": raw, "triggerKind": 1}
	var all []codeAction
	if err := p.call(ctx, "textDocument/codeAction", params, &all, func() bool { return false }); err != nil {
		return nil, err
	}
	for _, each := range all {
		if each.usable() {
			usable = append(usable, each)
		}
	}
	return usable, nil
}
