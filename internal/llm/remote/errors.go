package remote

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/clip"
)

// maxMessage is the maximum length of a server's message as it is shown, in bytes.
const maxMessage = 600

// ServerError is an error that a server reported.
type ServerError struct {
	Status  int    // an HTTP status in the message itself, else zero
	Code    string // the server's own code, for example insufficient_quota
	Type    string
	Message string   // one line, may be empty
	Field   string   // the part of the request that it is about, if named
	Details []string // the elements of a list of errors, each with its field

	NCtx, NPrompt int64 // llama.cpp's sizes; see Sizes

	Page bool // Message is the title of a web page

	Resets time.Time // when a limit ends, if named
}

// Error implements error.
func (e *ServerError) Error() string { return e.Message }

// ParseServerError reads the many forms in which servers report an error: JSON with
// error, detail, message or errors, JSON in a list, a web page, text.
func ParseServerError(body []byte) *ServerError {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '<' {
		return &ServerError{Message: pageTitle(string(body)), Page: true}
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return &ServerError{Message: oneLine(string(body))}
	}
	e := &ServerError{}
	e.read(v)
	e.Message = oneLine(e.Message)
	return e
}

// read takes the fields that it knows from v; the first value of each wins.
func (e *ServerError) read(v any) {
	switch v := v.(type) {
	case string:
		if e.Message == "" {
			e.Message = v
		}
	case []any:
		for _, item := range v {
			e.read(item)
			if m, ok := item.(map[string]any); ok && len(v) > 1 {
				e.Details = append(e.Details, detailOf(m))
			}
		}
	case map[string]any:
		e.readObject(v)
	}
}

func (e *ServerError) readObject(m map[string]any) {
	if s, ok := m["type"].(string); ok && e.Type == "" && s != "error" { // the inner object has the type
		e.Type = s
	}
	e.Field = cmp.Or(e.Field, fieldOf(m))
	switch code := m["code"].(type) {
	case string:
		e.Code = code
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
			e.Status = n
		}
	case float64:
		if code >= 400 && code < 600 {
			e.Status = int(code)
		}
	}
	e.readReset(m["resets_at"])
	e.NCtx, e.NPrompt = max(e.NCtx, size(m["n_ctx"])), max(e.NPrompt, size(m["n_prompt_tokens"]))
	for _, key := range []string{"error", "message", "detail", "msg", "errors"} {
		if inner, ok := m[key]; ok && inner != nil {
			e.read(inner)
		}
	}
	e.readUpstream(m["metadata"])
}

// readReset takes the time when a limit ends, in seconds.
func (e *ServerError) readReset(v any) {
	if at, ok := v.(float64); ok && at > 0 && at < 1e11 {
		e.Resets = time.Unix(int64(at), 0)
	}
}

// fieldOf returns the part of the request that an error names: OpenAI's param, or the
// path in pydantic's loc.
func fieldOf(m map[string]any) string {
	if param, ok := m["param"].(string); ok {
		return param
	}
	loc, _ := m["loc"].([]any)
	return strings.TrimSpace(fmt.Sprintln(loc...))
}

// detailOf returns an element of a list of errors in one line.
func detailOf(m map[string]any) string {
	var inner ServerError
	inner.readObject(m)
	return oneLine(strings.Trim(inner.Field+": "+inner.Message, ": "))
}

// readUpstream adds the message of the server behind a router, which the router's own
// message does not quote.
func (e *ServerError) readUpstream(metadata any) {
	fields, _ := metadata.(map[string]any)
	raw, ok := fields["raw"].(string)
	if !ok {
		return
	}
	upstream := ParseServerError([]byte(raw))
	if upstream.Message != "" && !strings.Contains(e.Message, upstream.Message) {
		e.Message = strings.TrimPrefix(strings.TrimRight(e.Message, ".")+": "+upstream.Message, ": ")
	}
	e.Field = cmp.Or(e.Field, upstream.Field)
	e.Details = append(e.Details, upstream.Details...)
}

// pageTitle returns the title of a web page in one line.
func pageTitle(page string) string {
	lower := strings.ToLower(page)
	for _, tag := range []string{"title", "h1"} {
		start := strings.Index(lower, "<"+tag)
		if start < 0 {
			continue
		}
		open := strings.IndexByte(lower[start:], '>')
		end := strings.Index(lower[start:], "</"+tag)
		if open > 0 && end > open && len(lower) == len(page) {
			return oneLine(html.UnescapeString(page[start+open+1 : start+end]))
		}
	}
	return ""
}

// oneLine joins the lines of s and limits its length.
func oneLine(s string) string {
	return clip.Bytes(clip.Line(strings.ToValidUTF8(s, "?")), maxMessage, "…")
}
