package remote

import "testing"

// TestSizes reads real messages about conversations that are too long.
func TestSizes(t *testing.T) {
	for name, tt := range map[string]struct {
		body           string
		window, needed int64
	}{
		"OpenAI":             {`{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 10010 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 8192, 10010},
		"OpenAI with tools":  {`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 129,500 tokens (128,000 in the messages, 1,500 in the functions). Please reduce the length of the messages or functions."}}`, 128000, 129500},
		"vLLM":               {`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5017 tokens (4017 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`, 3096, 4017},
		"vLLM, newer":        {`{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that max_model_len is no smaller than the number of text tokens.","code":400}}`, 4096, 5000},
		"vLLM, max_tokens":   {`{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 4500 input tokens (1000 > 4096 - 4500)."}}`, 4096, 4500},
		"llama.cpp":          {`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}`, 4096, 5012},
		"llama.cpp, newer":   {`{"error":{"code":400,"message":"request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`, 4096, 5012},
		"Anthropic":          {`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213000 tokens > 200000 maximum"}}`, 200000, 213000},
		"Gemini":             {`{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, 1048576, 1200000},
		"Mistral":            {`{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt"}`, 32768, 40000},
		"OpenRouter":         {`{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 of tool input). Please reduce the length of either one.","code":400}}`, 131072, 139000},
		"LM Studio":          {`{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, 4096, 0},
		"xAI":                {`{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, 131072, 537812},
		"Together":           {`{"error":{"message":"Input validation error: \u0060inputs\u0060 tokens + \u0060max_new_tokens\u0060 must be <= 65537. Given: 79993 \u0060inputs\u0060 tokens and 1024 \u0060max_new_tokens\u0060"}}`, 64513, 79993},
		"Hugging Face":       {`{"error":"Input validation error: \u0060inputs\u0060 must have less than 2048 tokens. Given: 2222"}`, 2048, 2222},
		"Anthropic, answer":  {`{"type":"error","error":{"message":"input length and \u0060max_tokens\u0060 exceed context limit: 199211 + 20000 > 200000, decrease input length or \u0060max_tokens\u0060 and try again"}}`, 180000, 199211},
		"Gemini, newer":      {`{"error":{"message":"Unable to submit request because the input token count is 32825 but model only supports up to 32768. Reduce the input token count and try again."}}`, 32768, 32825},
		"Kimi":               {`{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)"}}`, 262144, 291351},
		"Copilot":            {`{"error":{"message":"prompt token count of 136973 exceeds the limit of 128000"}}`, 128000, 136973},
		"OpenAI, input":      {`{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 344422 tokens. Please reduce the length of the messages."}}`, 272000, 344422},
		"tokens per minute":  {`{"error":{"message":"Request too large for model \u0060m\u0060 on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again."}}`, 12000, 14137},
		"vLLM, newest":       {`{"error":{"message":"This model's maximum context length is 262144 tokens. However, you requested 4096 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 266241 tokens. Please reduce the length of the input prompt."}}`, 258048, 262145},
		"OpenRouter, answer": {`{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 132463 tokens (131463 of text input, 1000 in the output). Please reduce the length of either one."}}`, 130072, 131463},
		"Groq":               {`{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`, 0, 0},
		"nonsense":           {`{"error":{"message":"maximum context length is 99999999999999999999 tokens","n_ctx":-4}}`, 0, 0},
		"fits":               {`{"error":{"message":"maximum context length is 8192 tokens. However, you requested 100 tokens"}}`, 8192, 0},
	} {
		window, needed := ParseServerError([]byte(tt.body)).Sizes()
		if window != tt.window || needed != tt.needed {
			t.Errorf("%s: window %d, needed %d, want %d and %d", name, window, needed, tt.window, tt.needed)
		}
	}
}
