package remote

import "testing"

// TestSizes reads real messages about conversations that are too long.
func TestSizes(t *testing.T) {
	for name, tt := range map[string]struct {
		body           string
		window, needed int64
	}{
		"OpenAI":            {`{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 10010 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 8192, 10010},
		"OpenAI with tools": {`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 129,500 tokens (128,000 in the messages, 1,500 in the functions). Please reduce the length of the messages or functions."}}`, 128000, 129500},
		"vLLM":              {`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5017 tokens (4017 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`, 3096, 4017},
		"vLLM, newer":       {`{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that max_model_len is no smaller than the number of text tokens.","code":400}}`, 4096, 5000},
		"vLLM, max_tokens":  {`{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 4500 input tokens (1000 > 4096 - 4500)."}}`, 4096, 4500},
		"llama.cpp":         {`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}`, 4096, 5012},
		"llama.cpp, newer":  {`{"error":{"code":400,"message":"request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`, 4096, 5012},
		"Anthropic":         {`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213000 tokens > 200000 maximum"}}`, 200000, 213000},
		"Gemini":            {`{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, 1048576, 1200000},
		"Mistral":           {`{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt"}`, 32768, 40000},
		"OpenRouter":        {`{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 of tool input). Please reduce the length of either one.","code":400}}`, 131072, 139000},
		"LM Studio":         {`{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, 4096, 0},
		"Groq":              {`{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`, 0, 0},
		"nonsense":          {`{"error":{"message":"maximum context length is 99999999999999999999 tokens","n_ctx":-4}}`, 0, 0},
		"fits":              {`{"error":{"message":"maximum context length is 8192 tokens. However, you requested 100 tokens"}}`, 8192, 0},
	} {
		window, needed := ParseServerError([]byte(tt.body)).Sizes()
		if window != tt.window || needed != tt.needed {
			t.Errorf("%s: window %d, needed %d, want %d and %d", name, window, needed, tt.window, tt.needed)
		}
	}
}
