package ide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// Answers reports whether an editor is linked that answers LookUp.
func (v *View) Answers() bool {
	l, _ := v.links.get()
	return l != nil && l.client.Documents.LooksUp()
}

// LookUp has the linked editor answer a request of the Language Server Protocol from its knowledge. known is false if
// nothing there knows the language. The end of ctx cancels the request.
func (v *View) LookUp(ctx context.Context, method string, params any) (result json.RawMessage, known bool, err error) {
	l, _ := v.links.get()
	if l == nil {
		return nil, false, editor.ErrNone
	}
	result, known, err = l.client.Documents.LookUp(ctx, method, params)
	if errors.Is(err, client.ErrUnsupported) {
		return nil, false, nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", l.name(), err)
	}
	return result, known, err
}
