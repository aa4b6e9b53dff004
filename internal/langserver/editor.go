package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// Editor is a linked editor that answers requests of the protocol from its knowledge, about the texts in its
// buffers. ide.View implements it.
type Editor interface {
	// Answers reports whether an editor is linked that may answer.
	Answers() bool
	// LookUp answers a request. known is false if nothing in the editor knows the language.
	LookUp(ctx context.Context, method string, params any) (result json.RawMessage, known bool, err error)
}

// errUnknown is the error of a question about a language that the editor does not know.
var errUnknown = errors.New("the editor does not know this language")

// editorTime bounds a question to the editor.
const editorTime = 20 * time.Second

// window is an editor as a peer.
type window struct{ Editor }

// settled does not wait: the extension does.
func (window) settled(context.Context) error { return nil }

func (window) counts() counting { return inUTF16 }

// findings returns nil: an editor knows its own findings.
func (window) findings(context.Context, string) []diagnostic { return nil }

// at names the line by its text too: the buffer may have other lines before it.
func (w window) at(at Place) map[string]any {
	place := w.counts().positionOf(at.Text, at.Offset)
	start := strings.LastIndexAny(at.Text[:at.Offset], "\r\n") + 1
	end := len(at.Text)
	if i := strings.IndexAny(at.Text[start:], "\r\n"); i >= 0 {
		end = start + i
	}
	return map[string]any{"textDocument": map[string]any{"uri": uriOf(at.Path)}, "position": place, "lineText": at.Text[start:end]}
}

// call asks once: an editor waits for its servers itself.
func (w window) call(ctx context.Context, method string, params, result any, _ func() bool) error {
	data, known, err := w.LookUp(ctx, method, params)
	switch {
	case err != nil:
		return err
	case !known:
		return errUnknown
	}
	if err := json.Unmarshal(data, result); err != nil {
		return fmt.Errorf("the editor's answer cannot be read: %w", err)
	}
	return nil
}

func (s *Servers) askEditor(ctx context.Context, question func(context.Context, peer) error) error {
	ctx, cancel := timelimit.Context(ctx, editorTime)
	defer cancel()
	return timelimit.Explain(ctx, question(ctx, window{s.opt.Editor}))
}

// editorKnows reports whether the editor knows the language of the file at path.
func (s *Servers) editorKnows(ctx context.Context, path string) bool {
	err := s.askEditor(ctx, func(ctx context.Context, p peer) error {
		return p.call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": uriOf(path)}}, &json.RawMessage{}, nil)
	})
	return err == nil
}
