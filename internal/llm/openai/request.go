package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/bb2d0cf4/agent/internal/llm/toolschema"
)

// head returns the request's body up to its first message: go-openai's request, the
// parameters that it cannot express beside it, and the encoded tools.
func (p *Protocol) head(tools []byte, ps parameters) ([]byte, error) {
	head, err := p.encoded.of(ps, p.fields)
	if err != nil {
		return nil, err
	}
	if len(tools) > 0 {
		head = append(append(head, `,"tools":`...), tools...)
	}
	return append(head, `,"messages":[`...), nil
}

// parameters are all that the fields of a request depend on, beside the options.
type parameters struct {
	dialect dialect
	effort  string
	tools   bool
	answer  string // the schema of the answer; "" for one in words
}

// fieldsCache holds the encoded fields of the last request, which are usually those of the
// next one.
type fieldsCache struct {
	mu   sync.Mutex
	last parameters
	data []byte // nil before the first request
}

// of returns an object without its closing brace, with the fields that build returns. Its
// capacity is its length.
func (c *fieldsCache) of(ps parameters, build func(parameters) (map[string]any, error)) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data != nil && c.last == ps {
		return c.data, nil
	}
	fields, err := build(ps)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the request's parameters: %w", err)
	}
	c.last, c.data = ps, slices.Clip(data[:len(data)-1])
	return c.data, nil
}

// fields returns the parameters of a request that offers tools or not.
func (p *Protocol) fields(ps parameters) (map[string]any, error) {
	built, err := json.Marshal(goopenai.ChatCompletionRequest{
		Model:         p.opt.Model,
		Stream:        true,
		StreamOptions: &goopenai.StreamOptions{IncludeUsage: true},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(built, &fields); err != nil {
		return nil, fmt.Errorf("reading the request back: %w", err)
	}
	if p.opt.Temperature != nil {
		fields["temperature"] = *p.opt.Temperature // go-openai leaves a zero out
	}
	if p.opt.MaxTokens > 0 {
		fields[limitName(p.opt.BaseURL)] = p.opt.MaxTokens
	}
	if ps.effort != "" {
		fields[effortField] = ps.effort
	}
	if ps.answer != "" {
		schema := json.RawMessage(ps.answer)
		fields[answerField] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": "answer", "schema": schema, "strict": toolschema.Strict(schema),
		}}
	}
	maps.Copy(fields, p.opt.Extra)
	maps.DeleteFunc(fields, func(key string, value any) bool {
		return value == nil || key == "messages" || key == "tools" || key == "n" // alternatives would be read as parts of one answer
	})
	ps.dialect.adapt(fields, ps.tools)
	return fields, nil
}

// limitName returns the server's name for the limit of an answer: OpenAI refuses the
// old name, and other servers do not know the new one.
func limitName(baseURL string) string {
	base, err := url.Parse(baseURL)
	if err != nil {
		return oldLimitField
	}
	host := base.Hostname()
	if host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		return newLimitField
	}
	return oldLimitField
}
