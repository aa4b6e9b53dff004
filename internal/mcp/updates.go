package mcp

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of subscriptions.
const (
	maxSubscriptions = 50
	ackTime          = 2 * time.Second // of a server's answer to one
)

// updates are the resources of a server whose changes it reports. The mutex of the server
// guards it.
type updates struct {
	asked    map[string]chan struct{} // by address; closed once the server has agreed
	attached map[string]bool          // since the last report
}

// subscribe asks the server to report changes of a resource, if it offers that, and waits
// until it has agreed, so that no change after the reading is missed.
func (s *server) subscribe(ctx context.Context, cs *sdk.ClientSession, uri string) {
	caps := cs.InitializeResult().Capabilities
	if caps == nil || caps.Resources == nil || !caps.Resources.Subscribe {
		return
	}
	s.mu.Lock()
	agreed, asked := s.now.updates.asked[uri]
	if !asked && len(s.now.updates.asked) < maxSubscriptions {
		agreed = make(chan struct{})
		s.now.updates.asked[uri] = agreed
	}
	s.now.updates.attached[uri] = true
	s.mu.Unlock()
	if asked || agreed == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ackTime)
	defer cancel()
	if cs.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}) != nil {
		return // the resource is read all the same
	}
	if cs.InitializeResult().ProtocolVersion < listening {
		return // the answer was the agreement
	}
	select {
	case <-agreed:
	case <-ctx.Done():
	}
}

// listening is the first version of the protocol in which a server agrees to a subscription by
// a notification.
const listening = "2026-07-28"

// acknowledged sees the notifications by which the server agrees to subscriptions, which the
// SDK drops.
func (s *server) acknowledged(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if ack, ok := req.GetParams().(*sdk.SubscriptionsAcknowledgedParams); ok && ack != nil {
			s.mu.Lock()
			for _, uri := range ack.Notifications.ResourceSubscriptions {
				if agreed, asked := s.now.updates.asked[uri]; asked && !isClosed(agreed) {
					close(agreed)
				}
			}
			s.mu.Unlock()
		}
		return next(ctx, method, req)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// updated tells the user that a resource has changed, once for each time it was attached.
func (s *server) updated(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
	if req.Params == nil {
		return
	}
	uri := req.Params.URI
	s.mu.Lock()
	attached := s.now.updates.attached[uri]
	delete(s.now.updates.attached, uri)
	s.mu.Unlock()
	if attached {
		s.opt.Tell(fmt.Sprintf("The resource @%s:%s has changed since it was attached. Name it again to attach the current content.", s.Name, uri))
	}
}

// resubscribe forgets the subscriptions, which end with the connection.
func (s *server) resubscribe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.updates = updates{asked: map[string]chan struct{}{}, attached: map[string]bool{}}
}
