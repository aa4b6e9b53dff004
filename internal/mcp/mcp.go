// Package mcp connects a session to servers of the Model Context Protocol, whose tools a
// model may call. It guarantees that no server delays the start, that a server gets only
// the environment that its entry names and a few variables that every program needs, that
// texts of a server are bounded and hold no control characters, that the list of tools
// does not change within a turn, and that no server outlives Close.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// Bounds of waiting for a server.
const (
	connectTime = 3 * time.Minute  // of a start; a package runner may download the server
	probeTime   = 10 * time.Second // of a program's first answer, after which it is started in the older way
	listTime    = 10 * time.Second
	callTime    = 10 * time.Minute
	closeTime   = time.Second // of the end; a program that stays is killed
)

// Server is the configuration of a server: a program that speaks on its standard input and
// output, or an address.
type Server struct {
	Name    string // letters, digits, - and _
	Command []string
	Env     []string // its environment, besides the variables of every program
	Dir     string   // absolute; the folder that the program starts in
	URL     string
	Always  bool              // a model is offered its tools even if all definitions together are large
	Headers map[string]string // of each request to URL
	// Check is called before each connection; an error prevents it. Nil for none.
	Check func(ctx context.Context) error
}

// Options configures Servers.
type Options struct {
	Version string // of this program
	Logs    string // the folder for what programs print to their standard error
	Logins  Logins // nil for none
	// Programs finds the servers' programs.
	Programs lookpath.Search
	// Start starts a program, and returns a function that must be called when it has
	// ended. Nil starts it without further ado.
	Start func(*exec.Cmd) (ended func(), err error)
	// Dialed inspects a connection to an address before anything is sent; nil accepts all.
	Dialed func(net.Conn) error
	// Ask asks the person a question of a server; false means no answer. Nil answers none.
	Ask func(ctx context.Context, q Question) (answer string, ok bool)
	// Tell receives a line for the user, such as that a server has ended. It may be called
	// from any goroutine.
	Tell func(note string)
	// Offered is called, from any goroutine, when a server has listed its resources and
	// prompts; nil for none.
	Offered func()

	probe time.Duration // probeTime, except in tests
}

// Tool is a tool of a server.
type Tool struct {
	Server string
	Name   string // as the server calls it
	Always bool   // see Server
	Spec   llm.ToolSpec
}

// State is the state of a connection.
type State string

// The states.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Failed   State = "failed"
)

// Status describes a server for people. Its texts are not sanitized.
type Status struct {
	Name  string
	State State
	Why   string // of Failed
	Tools int
	Bytes int    // of the definitions of its tools
	Log   string // path of the file with its standard error; "" for none
	Proxy string // of the environment, through which its address is reached; "" for none
}

// Servers is a set of servers. Its methods are safe for concurrent use.
type Servers struct {
	all  []*server
	work crash.Group
	end  context.CancelFunc
}

// New returns the given servers. Call Start to connect them.
func New(opt Options, servers []Server) *Servers {
	s := &Servers{end: func() {}}
	for _, cfg := range servers {
		s.all = append(s.all, newServer(opt, cfg))
	}
	slices.SortFunc(s.all, func(a, b *server) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Start connects the servers in the background, once after is closed; nil: at once.
func (s *Servers) Start(ctx context.Context, after <-chan struct{}) {
	ctx, s.end = context.WithCancel(ctx)
	for _, one := range s.all {
		s.work.Go(func() {
			if after != nil {
				select {
				case <-after:
				case <-ctx.Done():
				}
			}
			one.run(ctx)
		})
	}
}

// Close ends the connections and the programs.
func (s *Servers) Close() {
	s.end()
	s.work.Wait()
	for _, one := range s.all {
		if one.via != nil {
			one.via.CloseIdleConnections()
		}
	}
}

// Settle waits until each server is ready or has failed, or ctx ends. Then it fixes the
// list of tools until the next call.
func (s *Servers) Settle(ctx context.Context) {
	for _, one := range s.all {
		one.settle(ctx)
	}
}

// Tools returns the tools as of the last Settle, ordered by server and name.
func (s *Servers) Tools() []Tool {
	var all []Tool
	for _, one := range s.all {
		all = append(all, one.settled()...)
	}
	return all
}

// Status describes each server.
func (s *Servers) Status() []Status {
	var all []Status
	for _, one := range s.all {
		all = append(all, one.status())
	}
	return all
}

// Call calls a tool. It connects a server again that has ended. An error means that there
// is no result, if not because ctx ended, for a reason that the model may learn.
func (s *Servers) Call(ctx context.Context, t Tool, args json.RawMessage) (Result, error) {
	one, err := s.find(t.Server)
	if err != nil {
		return Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	res, err := one.call(limited, t.Name, args)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the server %s did not answer within %s", t.Server, callTime)
	}
	return res, err
}

// Reconnect connects a server anew, and waits for the result.
func (s *Servers) Reconnect(ctx context.Context, name string) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	_, err = one.connection(ctx, true)
	return err
}

// Stop ends a server. It is not connected again.
func (s *Servers) Stop(ctx context.Context, name string) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	if _, err = one.ask(ctx, want{stop: true}); errors.Is(err, errStopped) {
		return nil
	}
	return err
}

func (s *Servers) find(name string) (*server, error) {
	i := slices.IndexFunc(s.all, func(one *server) bool { return one.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no server %q is configured", name)
	}
	return s.all[i], nil
}

// String describes the state in a few words.
func (s Status) String() string {
	text := string(s.State)
	switch s.State {
	case Ready:
		text = fmt.Sprintf("ready, %d tools, %.1f KB of definitions", s.Tools, float64(s.Bytes)/1000)
	case Failed:
		text = "failed: " + s.Why
	}
	if s.Proxy != "" {
		text += "; through the proxy " + s.Proxy
	}
	return text
}
