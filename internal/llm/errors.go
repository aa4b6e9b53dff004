package llm

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// ErrorKind classifies a failed request by its remedy.
type ErrorKind int

// The kinds of failure.
const (
	Temporary     ErrorKind = iota // retried already; may work later
	Unauthorized                   // the key is missing or refused
	NotFound                       // no such model or no such address
	TooLong                        // the conversation does not fit the model's context
	Refused                        // the request is not acceptable as it is
	Unreachable                    // nothing answers at the address
	Truncated                      // the stream ended before the answer did
	Idle                           // the stream went silent
	QuotaExceeded                  // the account has no money or quota left
)

// Error is a failed request, described for the user in one sentence.
type Error struct {
	Kind       ErrorKind
	Status     int           // HTTP status, or zero
	RetryAfter time.Duration // zero if the server named none
	Message    string        // from the server, or describing the failure
	Field      string        // the part of the request that the server refused, if it named one
	// Details are the complaints of a server that has several about one request.
	Details []string
	// Window and Needed are set if a server explains why a conversation is TooLong: the
	// number of tokens that a request may have, and of those that this one had.
	Window, Needed int64
	Err            error // the cause, may be nil
}

// Error returns the message, with the HTTP status if there was one.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

// listed finds the names in a message such as "Unrecognized request arguments supplied:
// a, b" or "Parameters 'a' and 'b' are not supported".
var listed = lazyregexp.New(`(?i)\b(?:arguments|parameters|fields|keys|properties)(?:\s+supplied)?:?\s+` +
	"((?:" + parameter + separator + ")+" + parameter + ")")

// parameter matches a parameter's name, such as a.b or 'a', in a message.
const parameter = "['\"`]?[a-z]\\w*(?:\\.\\w+)*['\"`]?"

// separator matches the text between the names in a list.
const separator = `(?:,\s*and\s+|,\s*|\s+and\s+)`

var between = lazyregexp.New(separator)

// complaints returns the parts of e, each about one part of the request.
func (e *Error) complaints() []string {
	if len(e.Details) > 1 {
		return e.Details
	}
	at := listed.FindStringSubmatchIndex(e.Message)
	if at == nil {
		return nil
	}
	var parts []string
	for _, name := range between.Split(e.Message[at[2]:at[3]], -1) {
		parts = append(parts, e.Message[:at[2]]+name+e.Message[at[3]:])
	}
	return parts
}

// Each returns e, or an error for each of its Details, or for each of the parameters that
// its message lists.
func (e *Error) Each() []*Error {
	complaints := e.complaints()
	if len(complaints) == 0 {
		return []*Error{e}
	}
	list := make([]*Error, len(complaints))
	for i, text := range complaints {
		list[i] = &Error{Kind: e.Kind, Status: e.Status, Message: text}
	}
	return list
}

// expected finds the parameters that a server accepts, in a message such as "unknown
// field `a`, expected one of `b`, `c`".
var expected = lazyregexp.New("unknown field `\\w+`, expected one of ((?:`\\w+`(?:, )?)+)")

// Accepts returns the parameters of a request that the server accepts if it listed all of
// them, else nil.
func (e *Error) Accepts() []string {
	m := expected.FindStringSubmatch(e.Message)
	if m == nil || strings.HasSuffix(e.Message, "…") {
		return nil
	}
	names := strings.Split(strings.Trim(strings.ReplaceAll(m[1], "`", ""), ", "), ", ")
	if !slices.Contains(names, "model") {
		return nil // the fields of a message
	}
	return names
}

// AboutForm reports whether the server may have refused the form of a request, and not
// its size, its key or its time.
func (e *Error) AboutForm() bool {
	switch e.Status {
	case 0, http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return e.Kind != TooLong
	}
	return false
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
