package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/clip"
)

// Bounds of the questions of a server.
const (
	maxForms  = 5       // during a call
	maxFields = 10      // of a form
	maxAsked  = 2 << 10 // bytes of a question
)

// Question is a question of a server to the person, who may answer in other words than the
// options.
type Question struct {
	Server  string
	Text    string
	Options []string
}

// floor lets a server ask while a call of it runs, one form at a time.
type floor struct {
	ask func(ctx context.Context, q Question) (answer string, ok bool) // nil if nobody is asked

	one sync.Mutex // held while a form is shown

	mu    sync.Mutex
	calls []context.Context
	left  int // forms
}

// begin notes a call, which ends with the returned function.
func (f *floor) begin(ctx context.Context) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.left = append(f.calls, ctx), maxForms
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls = slices.DeleteFunc(f.calls, func(c context.Context) bool { return c == ctx })
	}
}

// take returns the context of the newest call, nil if the server may not ask.
func (f *floor) take() context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ask == nil || len(f.calls) == 0 || f.left == 0 {
		return nil
	}
	f.left--
	return f.calls[len(f.calls)-1]
}

// field is a property of a form.
type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	Titled      []choice `json:"oneOf"`
	Default     any      `json:"default"`
	name        string
}

// choice is a value with the title that people see.
type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// elicit asks the person for each field of a form. Without all answers it declines.
func (s *server) elicit(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	declined := &sdk.ElicitResult{Action: "decline"}
	s.floor.one.Lock()
	defer s.floor.one.Unlock()
	ctx := s.floor.take()
	fields, ok := fieldsOf(req.Params.RequestedSchema)
	if ctx == nil || !ok || req.Params.URL != "" {
		return declined, nil
	}
	message := clip.Bytes(req.Params.Message, maxAsked, "…")
	if len(fields) == 0 {
		if answer, ok := s.floor.ask(ctx, Question{s.Name, message, []string{"Yes"}}); !ok || answer != "Yes" {
			return declined, nil
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}
	content := map[string]any{}
	for _, f := range fields {
		answer, ok := s.floor.ask(ctx, Question{s.Name, message + "\n\n" + f.label(), f.options()})
		if !ok {
			return declined, nil
		}
		if content[f.name], ok = f.value(answer); !ok {
			s.opt.Tell(fmt.Sprintf("Nothing was sent to the MCP server %s: your answer is not a valid %s.", s.Name, f.Type))
			return declined, nil
		}
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// fieldsOf returns the fields of a form, ordered by name; false if there are too many or of
// an unknown form.
func fieldsOf(schema any) ([]field, bool) {
	var form struct {
		Properties map[string]field `json:"properties"`
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return nil, false
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber() // a default of a million is not 1e+06
	if in.Decode(&form) != nil || len(form.Properties) > maxFields {
		return nil, false
	}
	var all []field
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		f := form.Properties[name]
		if f.name = name; !slices.Contains([]string{"string", "number", "integer", "boolean"}, f.Type) {
			return nil, false
		}
		all = append(all, f)
	}
	return all, true
}

func (f field) label() string {
	text := clip.Bytes(cmp.Or(f.Title, f.name), maxWhy, "…")
	if f.Description != "" {
		text += ": " + clip.Bytes(f.Description, maxWhy, "…")
	}
	return text
}

// options returns the answers to choose from, the default first.
func (f field) options() []string {
	var all []string
	if f.Default != nil {
		all = append(all, clip.Bytes(f.titleOf(fmt.Sprint(f.Default)), maxWhy, "…"))
	}
	values := f.Enum
	if f.Type == "boolean" {
		values = []string{"true", "false"}
	}
	for _, c := range f.Titled {
		values = append(values, f.titleOf(c.Const))
	}
	for _, o := range values {
		if !slices.Contains(all, o) && len(all) < 9 { // a digit chooses one
			all = append(all, clip.Bytes(o, maxWhy, "…"))
		}
	}
	return all
}

// titleOf returns the title of a value, the value itself if it has no title.
func (f field) titleOf(value string) string {
	for _, c := range f.Titled {
		if c.Const == value {
			return cmp.Or(c.Title, value)
		}
	}
	return value
}

// value returns the answer as the form wants it.
func (f field) value(answer string) (any, bool) {
	answer = strings.TrimSpace(answer)
	var v any = answer
	var err error
	switch f.Type {
	case "boolean":
		v, err = strconv.ParseBool(answer)
	case "integer":
		v, err = strconv.ParseInt(answer, 10, 64)
	case "number":
		n, failed := strconv.ParseFloat(answer, 64)
		if v, err = n, failed; math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, false // JSON has no such number
		}
	}
	for _, c := range f.Titled {
		if answer == c.Const || answer == clip.Bytes(f.titleOf(c.Const), maxWhy, "…") {
			return c.Const, true
		}
	}
	return v, err == nil && len(f.Titled) == 0 && (len(f.Enum) == 0 || slices.Contains(f.Enum, answer))
}
