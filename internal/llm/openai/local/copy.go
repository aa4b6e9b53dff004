package local

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// UnknownContext warns about a model whose context Ollama does not report.
const UnknownContext = "it may be only 4,096 tokens, and the rest is silently dropped"

// copyTime is how long Ollama may take to make a copy, which shares the model's files.
const copyTime = 30 * time.Second

// CopyName returns the name of a copy of an Ollama model with more context.
func CopyName(model string, tokens int64) string {
	name, tag, _ := strings.Cut(model, ":")
	size := fmt.Sprintf("%dk", tokens>>10)
	if tag == "" || tag == "latest" {
		return name + ":" + size
	}
	return name + ":" + tag + "-" + size
}

// Copy makes a copy of an Ollama model with a context of tokens. A request of the
// protocol cannot set the context, but a model can.
func Copy(ctx context.Context, address, model, name string, tokens int64) error {
	ctx, cancel := timelimit.Context(ctx, copyTime)
	defer cancel()
	resp, err := post(ctx, root(address)+"/api/create", map[string]any{
		"model": name, "from": model, "stream": false, "parameters": map[string]int64{"num_ctx": tokens},
	})
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", timelimit.Explain(ctx, err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	var said struct {
		Error  string `json:"error"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(body, &said); err != nil || resp.StatusCode != http.StatusOK || said.Status != "success" {
		return fmt.Errorf("the server answered: %s", strings.TrimSpace(said.Error+" ("+resp.Status+")"))
	}
	return nil
}
