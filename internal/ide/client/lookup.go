package client

import (
	"context"
	"encoding/json"
	"slices"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lookUpTool answers requests of the Language Server Protocol.
const lookUpTool = "lookUp"

// LooksUp reports whether the editor lists the tool of LookUp.
func (d *Documents) LooksUp() bool { return slices.Contains(d.c.Info().Tools, lookUpTool) }

// LookUp has the editor answer a request of the Language Server Protocol. known is false if nothing in the editor
// knows the language.
func (d *Documents) LookUp(ctx context.Context, method string, params any) (result json.RawMessage, known bool, err error) {
	a, err := d.c.call(ctx, lookUpTool, map[string]any{"method": method, "params": params})
	if err != nil {
		return nil, false, err
	}
	var told struct {
		Known  bool           `json:"known"`
		Result jsontext.Value `json:"result"`
	}
	if strict.Unmarshal([]byte(a.first()), &told) != nil {
		return nil, false, &ToolError{Message: "its answer cannot be read"}
	}
	return json.RawMessage(told.Result), told.Known, nil
}
