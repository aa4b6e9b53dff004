package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// endTime is how long a call waits for the end of a connection that has failed.
const endTime = 2 * time.Second

// call calls a tool, once: a call during which the server ended may have had an effect.
func (s *server) call(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	to, err := s.connection(ctx, false)
	if err != nil {
		return Result{}, fmt.Errorf("the server %s could not be started: %w", s.Name, err)
	}
	defer to.leave(ctx)
	defer s.floor.begin(ctx)()
	res, err := to.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	switch {
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF):
		select { // the next call must not take this connection
		case <-to.ended:
		case <-time.After(endTime):
		case <-ctx.Done():
		}
		return Result{}, fmt.Errorf("the server %s ended during the call, so its effect is unknown", s.Name)
	case err != nil:
		return Result{}, fmt.Errorf("the server %s answered: %s", s.Name, bounded(err, maxDescription))
	}
	return newResult(res), nil
}
