package session

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// overflows are the refusals of a conversation that is too long, as servers word them.
var overflows = map[string]struct {
	status int
	body   string
}{
	"OpenAI":                     {400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","code":"context_length_exceeded"}}`},
	"OpenAI, limit of the input": {400, `{"error":{"message":"Input tokens exceed the configured limit of 900 tokens. Your messages resulted in 2100 tokens. Please reduce the length of the messages.","type":"invalid_request_error"}}`},
	"OpenAI, tokens per minute":  {429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 900, Requested 2100. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`},
	"Anthropic":                  {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2100 tokens > 900 maximum"}}`},
	"Anthropic, with the answer": {400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and \u0060max_tokens\u0060 exceed context limit: 1999 + 100 > 1000, decrease input length or \u0060max_tokens\u0060 and try again"}}`},
	"Anthropic, bytes":           {413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
	"OpenRouter":                 {400, `{"error":{"message":"This endpoint's maximum context length is 1000 tokens. However, you requested about 2100 tokens (2000 of text input, 100 in the output). Please reduce the length of either one.","code":400}}`},
	"OpenRouter, from upstream":  {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":\"This model's maximum prompt length is 900 but the request contains 2100 tokens.\"}","provider_name":"xAI"}}}`},
	"Gemini":                     {400, `[{"error":{"code":400,"message":"The input token count (2100) exceeds the maximum number of tokens allowed (900).","status":"INVALID_ARGUMENT"}}]`},
	"Gemini, newer":              {400, `{"error":{"code":400,"message":"Unable to submit request because the input token count is 2100 but model only supports up to 900. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}`},
	"Mistral":                    {400, `{"object":"error","message":"Prompt contains 2100 tokens and 0 draft tokens, too large for model with 900 maximum context length","type":"invalid_request_prompt"}`},
	"DeepSeek":                   {400, `{"error":{"message":"This model's maximum context length is 1000 tokens. However, you requested 2100 tokens (2000 in the messages, 100 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"invalid_request_error"}}`},
	"xAI":                        {400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 900 but the request contains 2100 tokens."}`},
	"Groq":                       {400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`},
	"Groq, tokens per minute":    {413, `{"error":{"message":"Request too large for model \u0060llama-3.3-70b-versatile\u0060 in organization \u0060org\u0060 service tier \u0060on_demand\u0060 on tokens per minute (TPM): Limit 900, Requested 2100, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`},
	"Together":                   {422, `{"error":{"message":"Input validation error: \u0060inputs\u0060 tokens + \u0060max_new_tokens\u0060 must be <= 1000. Given: 2100 \u0060inputs\u0060 tokens and 100 \u0060max_new_tokens\u0060","type":"invalid_request_error"}}`},
	"Together, input alone":      {422, `{"error":{"message":"Input validation error: \u0060inputs\u0060 must have less than 900 tokens. Given: 2100","type":"invalid_request_error"}}`},
	"Kimi":                       {400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 900 (requested: 2100)","type":"invalid_request_error"}}`},
	"Copilot":                    {400, `{"error":{"message":"prompt token count of 2100 exceeds the limit of 900","code":"model_max_prompt_tokens_exceeded"}}`},
	"Bedrock":                    {400, `{"message":"Input is too long for requested model."}`},
	"vLLM":                       {400, `{"error":{"message":"This model's maximum context length is 1000 tokens. However, you requested 100 output tokens and your prompt contains at least 2000 input tokens, for a total of at least 2100 tokens. Please reduce the length of the input prompt or the number of requested output tokens.","code":400}}`},
	"llama.cpp":                  {400, `{"error":{"code":400,"message":"request (2100 tokens) exceeds the available context size (900 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":2100,"n_ctx":900}}`},
	"Ollama":                     {400, `{"error":{"message":"prompt too long; exceeded max context length by 1200 tokens","type":"invalid_request_error"}}`},
	"LM Studio":                  {400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}`},
}

// TestOverflowsAreCompacted refuses a request over a real connection: the person sees
// the answer to a smaller one.
func TestOverflowsAreCompacted(t *testing.T) {
	for name, refusal := range overflows {
		t.Run(name, func(t *testing.T) {
			r := rigWithTurns(t, Options{}, say("", call("a", "read", "{}")), say("noted"))
			long := strings.Repeat("x", 6000)
			r.tools.tools["read"] = does(tools.Result{ForModel: long})
			refused := 0
			s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				if bytes.Contains(body, []byte(long)) {
					refused++
					return llmtest.Raw(refusal.status, "application/json", refusal.body)
				}
				return llmtest.Turn{Text: "fine"}
			})
			transport := remote.NewTransport(nil)
			t.Cleanup(transport.CloseIdleConnections)
			if err := r.Run(t.Context(), "the next one"); err != nil {
				t.Fatal(err)
			}
			r.SetModel(remote.New(remote.Options{Name: "test/model", BaseURL: s.URL(), Transport: transport}, openai.New(openai.Options{Model: "m"})))
			if err := r.Run(t.Context(), "go on"); err != nil || r.stop() != StopDone {
				t.Fatal(err)
			}
			if n := len(eventsOf[Compacting](r)); n == 0 || refused != 1 || len(eventsOf[Retrying](r)) > 0 {
				t.Errorf("compacted %d times, refused %d times, %d retries", n, refused, len(eventsOf[Retrying](r)))
			}
			if m := r.Messages(); m[len(m)-1].Text() != "fine" {
				t.Errorf("the answer is %q", m[len(m)-1].Text())
			}
		})
	}
}

// A conversation that cannot be compacted ends with one piece of advice, without /compact.
func TestOverflowThatStays(t *testing.T) {
	r := newRig(t, Options{})
	s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn {
		return llmtest.Raw(http.StatusBadRequest, "application/json", overflows["xAI"].body)
	})
	transport := remote.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	r.SetModel(remote.New(remote.Options{Name: "test/model", BaseURL: s.URL(), Transport: transport}, openai.New(openai.Options{Model: "m"})))
	err := r.Run(t.Context(), "go")
	if err == nil || strings.Count(err.Error(), "larger context") != 1 || strings.Contains(err.Error(), "/compact") || !strings.Contains(err.Error(), "2100 tokens") {
		t.Error(err)
	}
}
