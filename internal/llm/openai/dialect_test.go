package openai

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// every reports that a request has each parameter.
func every(string) bool { return true }

// A refusal for another reason teaches nothing: the person is to see it.
func TestOtherRefusalsTeachNothing(t *testing.T) {
	for _, refusal := range []llm.Error{
		{Status: 400, Message: "Invalid image: unsupported format image/tiff."},
		{Status: 400, Message: "You uploaded an unsupported image. Please make sure your image is valid.", Field: "messages"},
		{Status: 400, Message: "max_tokens is too large: 64000. This model supports at most 16384 completion tokens.", Field: "max_tokens"},
		{Status: 400, Message: "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low', 'medium', and 'high'."},
		{Status: 400, Message: "Invalid schema for function 'list': missing required name."},
		{Status: 400, Message: "The model does not exist."},
		{Status: 429, Kind: llm.Temporary, Message: "Unrecognized request argument supplied: stream_options"},
		{Status: 401, Kind: llm.Unauthorized, Message: "temperature is not supported"},
		{Status: 400, Kind: llm.TooLong, Message: "max_tokens is not supported"},
		{Kind: llm.Idle, Message: "nothing came"},
	} {
		l := newLearner(nil)
		if l.learn(&refusal, every) || l.dialect() != 0 {
			t.Errorf("%q taught %v", refusal.Message, l.dialect().names())
		}
	}
}

// Opposite demands of a server that cannot be pleased end: no rule is used twice.
func TestLearningEnds(t *testing.T) {
	l := newLearner([]string{"no reasoning_content", "a change of a later version"})
	refusals := []llm.Error{
		{Status: http.StatusBadRequest, Message: "reasoning_content must be passed back"},
		{Status: http.StatusBadRequest, Message: "reasoning_content is not supported"},
	}
	learned := 0
	for i := range 20 {
		if l.learn(&refusals[i%2], every) {
			learned++
		}
	}
	if learned != 2 {
		t.Errorf("learned %d times, want 2", learned)
	}
}

func TestNamesOfADialect(t *testing.T) {
	for _, r := range rules {
		l := newLearner([]string{r.name})
		if diff := cmp.Diff([]string{r.name}, l.dialect().names()); diff != "" || l.dialect() != r.on {
			t.Error(r.name, diff)
		}
		same := func(other rule) bool { return other.name == r.name && other.on != r.on }
		if slices.ContainsFunc(rules, same) {
			t.Errorf("%q names two changes", r.name)
		}
	}
}
