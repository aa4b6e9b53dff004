package wire

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// answer is a response to a request of the editor. ID holds the bytes of the
// request's id: the SDK would turn 1.5 into 1, and round large numbers.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// request passes a notification on, or queues the answer to a request: a ping
// succeeds, every other method is unknown. data is the message as it came. The error
// means that the editor sends requests faster than it reads the answers.
func (s *socket) request(req *jsonrpc.Request, data []byte) error {
	if !req.IsCall() {
		if s.opts.Notify != nil {
			s.opts.Notify(req.Method, req.Params)
		}
		return nil
	}
	a := answer{Version: "2.0"}
	if err := json.Unmarshal(data, &struct {
		ID *json.RawMessage `json:"id"`
	}{&a.ID}); err != nil {
		return nil //nolint:nilerr // the SDK reads it otherwise: it has no clear id to answer to
	}
	if req.Method == "ping" {
		a.Result = json.RawMessage("{}")
	} else {
		a.Error = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	}
	select {
	case s.answers <- a:
		return nil
	default:
		return errors.New("the editor floods the connection with requests")
	}
}

// answerAll writes the answers to the editor's requests until the session ends.
func (s *socket) answerAll(ctx context.Context) {
	for {
		select {
		case a := <-s.answers:
			data, err := json.Marshal(a)
			if err != nil || s.write(ctx, data) != nil {
				return
			}
		case <-s.done:
			return
		}
	}
}
