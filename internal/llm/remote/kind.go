package remote

import (
	"net/http"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// Kind returns the kind of the error and whether the same request may work later.
func (e *ServerError) Kind() (kind llm.ErrorKind, again bool) {
	words := strings.ToLower(e.Code + " " + e.Type)
	switch {
	case e.Code == planLimit:
		return llm.QuotaExceeded, false
	case e.Code == planNot:
		return llm.Refused, false
	case hasAny(words, "insufficient_quota", "billing", "credit") || e.Status == http.StatusPaymentRequired:
		return llm.QuotaExceeded, false
	case e.Status == http.StatusRequestEntityTooLarge || e.tooLong(words):
		return llm.TooLong, false
	}
	switch status := e.Status; {
	case status == 0:
		return classifyWords(words)
	case status == http.StatusUnauthorized, status == http.StatusForbidden && e.aboutKey():
		return llm.Unauthorized, false
	case status == http.StatusNotFound:
		return llm.NotFound, false
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		return llm.Temporary, true
	}
	return llm.Refused, false
}

// The codes of OpenAI for requests that a plan of ChatGPT pays for.
const (
	planLimit = "subscription_sharing_usage_limit_exceeded" // of the plan, or the one that a person set for this program
	planNot   = "subscription_sharing_user_not_eligible"
)

// aboutKey reports whether the server's words are about the key.
func (e *ServerError) aboutKey() bool {
	return keyWords.MatchString(e.Code + " " + e.Type + " " + e.Message)
}

// rateLimited reports whether too many requests are the fault, and not too few resources of the server.
func (e *ServerError) rateLimited() bool {
	return !hasAny(strings.ToLower(e.Code+" "+e.Type+" "+e.Message), "overloaded", "capacity")
}

// keyWords matches what servers call a key that they refuse.
var keyWords = lazyregexp.New(`(?i)\b(api|access|auth\w*|bearer|secret)[ _-]?(key|token)|authenticat|credential|unauthorized|(invalid|incorrect|wrong|expired|revoked)[ _-]key`)

func classifyWords(words string) (llm.ErrorKind, bool) {
	switch {
	case hasAny(words, "authentication", "api_key"):
		return llm.Unauthorized, false
	case hasAny(words, "not_found"):
		return llm.NotFound, false
	case hasAny(words, "invalid_request"):
		return llm.Refused, false
	case hasAny(words, "rate_limit", "throttl", "overloaded", "slow_down", "server_error", "api_error", "internal", "timeout", "unavailable", "exhausted"):
		return llm.Temporary, true
	}
	return llm.Temporary, false
}

// tooLong reports whether the conversation does not fit; servers have no common code
// for it.
func (e *ServerError) tooLong(words string) bool {
	text := strings.ToLower(e.Message)
	if hasAny(words+text, "throttl", "please wait") {
		return false // "Too many tokens, please wait before trying again."
	}
	switch e.Status {
	case 0, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	case http.StatusTooManyRequests:
		return strings.Contains(text, "request too large for") // more than the tokens of a minute: waiting does not help
	default:
		return false
	}
	return hasAny(words, "context_length", "exceed_context", "max_prompt_tokens_exceeded") ||
		hasAny(words, "string_above_max_length") && !namePart.MatchString(e.Field) ||
		hasAny(text,
			"maximum context length", "max context length", "context window", "context size", "context length", "exceed context limit",
			"maximum model length", "maximum prompt length", "model token limit", "prompt is too long", "prompt too long",
			"input is too long", "input length exceeds", "too many tokens", "too many input tokens", "input token count",
			"reduce the length of the") ||
		tooManyTokens.MatchString(text)
}

// namePart matches the names of parts that are short in any conversation.
var namePart = lazyregexp.New(`\b(id|\w+_id|name)$`)

// tooManyTokens matches the refusals of Together, of Hugging Face and of GitHub.
var tooManyTokens = lazyregexp.New(`inputs. (?:tokens \+ .max_new_tokens. must be <=|must have less than) \d|token count of \d+ exceeds the limit`)

func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
