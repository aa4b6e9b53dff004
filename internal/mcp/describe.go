package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/toolschema"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Bounds of a server's texts, in bytes, and of the number of its tools.
const (
	maxMessage     = 16 << 20
	maxTools       = 500
	maxPages       = 100 // of a list
	maxToolName    = 256 // of a tool, at the server
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
	maxWhy         = 400
	maxName        = 64 // of a tool, at the providers
)

// Prefix begins the name of each tool of a server, for the model and for rules.
const Prefix = "mcp__"

// Size returns the bytes that the tool's definition takes in a request.
func (t Tool) Size() int { return len(t.Spec.Name) + len(t.Spec.Description) + len(t.Spec.Schema) }

// describe returns the tools for a model, ordered by name. It leaves out those without a name,
// or whose name is too long.
func describe(server Server, all []*sdk.Tool) []Tool {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *sdk.Tool) int { return cmp.Compare(a.Name, b.Name) })
	taken := map[string]bool{}
	var out []Tool
	for _, t := range all {
		if t.Name == "" || len(t.Name) > maxToolName {
			continue
		}
		name := modelName(server.Name, t.Name, false)
		if taken[name] {
			name = modelName(server.Name, t.Name, true)
		}
		if taken[name] {
			continue // the same name twice
		}
		taken[name] = true
		text := sanitize.ForModel(clip.Bytes(cmp.Or(t.Description, t.Title, t.Name), maxDescription, "…"))
		out = append(out, Tool{Server: server.Name, Name: t.Name, Always: server.Always, Spec: llm.ToolSpec{Name: name, Description: text, Schema: schemaOf(t.InputSchema)}})
	}
	return out
}

// modelName returns the name of a tool for the model, which providers limit to few
// characters. With hashed, or if it was changed, it ends in a hash of the server's name
// for it.
func modelName(server, tool string, hashed bool) string {
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, tool)
	name := Prefix + server + "__" + plain
	if !hashed && plain == tool && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	mark := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(mark))] + mark
}

// schemaOf returns a schema as providers take it.
func schemaOf(schema any) json.RawMessage {
	data := toolschema.Of(visible(schema))
	if len(data) > maxSchema {
		data = toolschema.Of(map[string]any{"description": "The schema is too large to be shown. A wrong call is answered with an explanation."})
	}
	return data
}

// visible returns a value of JSON whose texts hide nothing from people.
func visible(value any) any {
	switch value := value.(type) {
	case string:
		return sanitize.ForModel(value)
	case []any:
		for i, one := range value {
			value[i] = visible(one)
		}
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, one := range value {
			out[sanitize.ForModel(key)] = visible(one)
		}
		return out
	}
	return value
}

// bounded returns the text of an error, which may be a server's.
func bounded(err error, limit int) string {
	return sanitize.ForModel(clip.Bytes(err.Error(), limit, "…"))
}
