package openai

import (
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/llm/toolschema"
)

// dialect is the set of changes that a server demands of a request. The zero value is
// the form that most servers accept.
type dialect uint

const (
	alternate         dialect = 1 << iota // an answer between a tool's result and a user's message
	thinkingWithCalls                     // reasoning_content in answers with calls
	thinkingInAll                         // and in all others, if the request offers tools
	noThinking                            // no reasoning in any field
	effortNone                            // reasoning_effort "none" in a request that offers tools
	noEffort                              // no reasoning_effort
	newLimit                              // max_completion_tokens
	oldLimit                              // max_tokens
	developer                             // this role for the system prompt
	noStreamOptions
	noParallelCalls
	noTemperature
	namedResults // a tool's result with the tool's name
	noImages
	signedCalls  // a signature in calls of other models
	emptyContent // "" as the content of an answer that has calls only
	noMarkers    // no cache markers
	shortCache   // markers without a time
	systemRole   // this role for the system prompt, although developer was tried
	shortIDs     // ids of calls have nine letters
	limitedIDs   // ids of calls have at most 40 characters
	noAnswerForm // no schema of the answer
)

// rule changes the dialect after a refusal.
type rule struct {
	name    string // of the change; people see it, and files hold it
	on, off dialect
	field   string // if set, the rule is for requests with this parameter
	refused func(text string) bool
}

// rules are tried in order: the more specific ones come first.
var rules = []rule{
	{name: "roles alternate", on: alternate, refused: mustAlternate},
	{name: "reasoning_content in answers with calls", on: thinkingWithCalls, off: noThinking, refused: func(s string) bool {
		return wantsThinking(s) && strings.Contains(s, "tool call")
	}},
	{name: "reasoning_content in every answer", on: thinkingWithCalls | thinkingInAll, off: noThinking, refused: wantsThinking},
	{name: "no reasoning_content", on: noThinking, off: thinkingWithCalls | thinkingInAll, refused: func(s string) bool {
		return rejects(s, "reasoning_content", "reasoning content", "reasoning_details", "'reasoning'")
	}},
	{name: "reasoning_effort none with tools", on: effortNone, off: noEffort, refused: func(s string) bool {
		return strings.Contains(s, "set reasoning_effort to 'none'")
	}},
	{name: "no reasoning_effort", on: noEffort, off: effortNone, field: effortField, refused: func(s string) bool {
		return rejects(s, effortField) && !strings.Contains(s, "supported values") || strings.Contains(s, "does not support thinking")
	}},
	// With no effort in the request, the server's own default is in the way.
	{name: "reasoning_effort none with tools", on: effortNone, off: noEffort, refused: func(s string) bool {
		return strings.Contains(s, "function tools with reasoning_effort are not supported")
	}},
	{name: "max_completion_tokens", on: newLimit, off: oldLimit, field: oldLimitField, refused: func(s string) bool { return rejects(s, oldLimitField) }},
	{name: "max_tokens", on: oldLimit, off: newLimit, field: newLimitField, refused: func(s string) bool { return rejects(s, newLimitField) }},
	{name: "role developer", on: developer, off: systemRole, refused: func(s string) bool {
		return rejects(s, "'system'", `"system"`) && strings.Contains(s, "role")
	}},
	{name: "role system", on: systemRole, off: developer, refused: func(s string) bool {
		return rejects(s, "'developer'", `"developer"`, "`developer`") && strings.Contains(s, "role")
	}},
	{name: "no stream_options", on: noStreamOptions, field: "stream_options", refused: func(s string) bool { return rejects(s, "stream_options") }},
	{name: "no parallel_tool_calls", on: noParallelCalls, field: "parallel_tool_calls", refused: func(s string) bool { return rejects(s, "parallel_tool_calls") }},
	{name: "no temperature", on: noTemperature, field: "temperature", refused: func(s string) bool {
		return rejects(s, "temperature") || fixedTemperature.MatchString(s)
	}},
	{name: "tool results have a name", on: namedResults, refused: wantsNames},
	{name: "calls have a signature", on: signedCalls, refused: unsignedCall.MatchString},
	{name: "call ids of nine letters", on: shortIDs, refused: func(s string) bool {
		return strings.Contains(s, "must be a-z, a-z, 0-9, with a length of 9")
	}},
	{name: "call ids of 40 characters", on: limitedIDs, refused: longID.MatchString},
	{name: "no " + answerField, on: noAnswerForm, field: answerField, refused: toolschema.RefusesAnswer},
	{name: "content in answers with calls", on: emptyContent, refused: noContent.MatchString},
	{name: remote.ShortCache, on: shortCache, field: ttlField, refused: remote.RefusesTTL},
	{name: "no cache markers", on: noMarkers, field: markerField, refused: func(s string) bool { return rejects(s, markerField) }},
	{name: "no images", on: noImages, refused: remote.RefusesImages},
}

// The parameters of the request that go by several names or take several forms.
const (
	effortField   = "reasoning_effort"
	oldLimitField = "max_tokens"
	newLimitField = "max_completion_tokens"
	answerField   = "response_format"
	markerField   = "cache_control" // in messages
	ttlField      = "ttl"           // of markers
)

// family is a kind of server whose demands are known to come together: one that states
// them one after another is met after the first.
type family struct {
	on      dialect
	refused func(text string) bool
}

var families = []family{
	{newLimit | developer | noTemperature, reasoner.MatchString},
	{newLimit | developer, func(s string) bool { return strings.Contains(s, "/v1/responses") }}, // with effort none they take a temperature
	{thinkingWithCalls, fixedTemperature.MatchString},
	{signedCalls | namedResults, func(s string) bool {
		return unsignedCall.MatchString(s) || strings.Contains(s, "function_response.name")
	}},
	{alternate | namedResults, func(s string) bool {
		return mustAlternate(s) || wantsNames(s) && !strings.Contains(s, "function_response.name")
	}},
	// A server older than stream_options is older than parallel_tool_calls, too.
	{noParallelCalls, func(s string) bool { return strings.Contains(s, "stream_options") && oneUnknown.MatchString(s) }},
}

// reasoner matches the refusals of OpenAI's reasoning models, with any prefix.
var reasoner = lazyregexp.New(`unsupported (parameter|value): '(max_tokens|temperature|messages\[\d+\]\.role)'.* with this model`)

// longID matches OpenAI's refusal of the long id of a call, which another server may have made.
var longID = lazyregexp.New(`(tool_calls\[\d+\]\.id|tool_call_id)\b.*(too long|maximum length)`)

// fixedTemperature matches the refusal of Kimi's thinking models.
var fixedTemperature = lazyregexp.New(`temperature: only [\d.]+ is allowed`)

// oneUnknown matches refusals that name only the first of several unknown parameters.
var oneUnknown = lazyregexp.New(`unknown (parameter|field|argument)|unexpected (keyword )?argument|unsupported parameter`)

// mustAlternate reports whether the server refuses a message of the user right after a
// tool's result, as some chat templates do.
func mustAlternate(s string) bool {
	return strings.Contains(s, "roles must alternate") || strings.Contains(s, "role 'user' after role 'tool'") ||
		strings.Contains(s, "role user after role tool")
}

// wantsThinking reports whether the server misses reasoning in an answer.
func wantsThinking(s string) bool {
	return (strings.Contains(s, "reasoning_content") || strings.Contains(s, "reasoning content")) &&
		(strings.Contains(s, "passed back") || strings.Contains(s, "missing") || strings.Contains(s, "require"))
}

// nameless matches the refusal of a tool's result without a name.
var nameless = lazyregexp.New(`function_response\.name|missing parameter 'name'|role '?tool'? .{0,20}(have|requires?|needs?|missing) .{0,4}'?name|messages .* tool name`)

// unsignedCall matches the refusal of a call that Google's servers did not sign.
var unsignedCall = lazyregexp.New("is missing a .?thought_signature")

// noContent matches the refusal of a message that has no content, or null.
var noContent = lazyregexp.New(`(missing field|field required|is missing|received null).{0,60}\bcontent\b|invalid message content type: <nil>|` +
	`\bcontent\b.{0,12}(field )?(is required|is missing|field required|may not be null|must not be null|must be a string|none is not an allowed value|input should be a valid (string|list)|(expected a string, )?(got|received) null)`)

func wantsNames(s string) bool { return nameless.MatchString(s) }

// rejects reports whether the server does not accept one of fields.
func rejects(s string, fields ...string) bool {
	contains := func(part string) bool { return strings.Contains(s, part) }
	return slices.ContainsFunc(fields, contains) && slices.ContainsFunc([]string{
		"not support", "unsupported", "unrecognized", "unknown", "not permitted", "not allowed", "only allowed",
		"unexpected", "extra inputs", "extra fields", "remove",
	}, contains)
}

// learner holds the dialect of one server and model.
type learner struct {
	mu    sync.Mutex
	now   dialect
	tried map[int]bool // the rules that were used, by index; none is used twice
}

// newLearner returns a learner that knows the changes with these names.
func newLearner(names []string) *learner {
	l := &learner{tried: map[int]bool{}}
	for _, r := range rules {
		if slices.Contains(names, r.name) {
			l.now = l.now&^r.off | r.on
		}
	}
	return l
}

// dialect returns the dialect for the next request.
func (l *learner) dialect() dialect {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// learn changes the dialect if a rule is for the refusal. It reports whether it did. has
// reports whether the refused request had a parameter.
func (l *learner) learn(refusal *llm.Error, has func(field string) bool) bool {
	if !refusal.AboutForm() {
		return false
	}
	text := strings.ToLower(refusal.Message + " " + refusal.Field)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, r := range rules {
		if l.tried[i] || l.now&r.on == r.on || r.field != "" && !has(r.field) || !r.refused(text) {
			continue
		}
		l.tried[i] = true
		l.now = l.now&^r.off | r.on
		l.infer(text, refusal.Accepts(), has)
		return true
	}
	return false
}

// infer makes the further changes that a refusal implies for the parameters of its
// request: those of its family, and those of parameters that are not among the accepted.
func (l *learner) infer(text string, accepted []string, has func(field string) bool) {
	var on dialect
	for _, f := range families {
		if f.refused(text) {
			on |= f.on
		}
	}
	for i, r := range rules {
		implied := on&r.on == r.on || accepted != nil && r.field != "" && r.field != markerField && r.field != ttlField && !slices.Contains(accepted, r.field)
		if implied && !l.tried[i] && l.now&r.off == 0 && (r.field == "" || has(r.field)) {
			l.now |= r.on
		}
	}
}

// names returns the names of the changes in d, without those that others include.
func (d dialect) names() []string {
	var names []string
	for _, r := range rules {
		included := slices.ContainsFunc(rules, func(other rule) bool {
			return d&other.on == other.on && other.on&r.on == r.on && other.on != r.on
		})
		if d&r.on == r.on && !included && !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	return names
}

// adapt changes the parameters of a request that offers tools or not.
func (d dialect) adapt(fields map[string]any, tools bool) {
	for field, without := range map[string]dialect{
		effortField: noEffort, "stream_options": noStreamOptions, "parallel_tool_calls": noParallelCalls, "temperature": noTemperature,
		answerField: noAnswerForm,
	} {
		if d&without != 0 {
			delete(fields, field)
		}
	}
	if d&effortNone != 0 && tools {
		fields[effortField] = "none"
	}
	if d&newLimit != 0 {
		rename(fields, oldLimitField, newLimitField)
	}
	if d&oldLimit != 0 {
		rename(fields, newLimitField, oldLimitField)
	}
}

func rename(fields map[string]any, from, to string) {
	if value, ok := fields[from]; ok {
		delete(fields, from)
		fields[to] = value
	}
}
