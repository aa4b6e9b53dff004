package acp

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"
)

// A host that reads nothing and closes our input ends the connection.
func TestHostThatDoesNotRead(t *testing.T) {
	in, host := io.Pipe()
	_, out := io.Pipe() // nobody reads it
	c := newConn(in, out)
	began := make(chan struct{})
	c.handle = func(context.Context, string, json.RawMessage) func() (any, error) {
		return func() (any, error) {
			for range maxOut {
				c.notify("update", "text")
			}
			close(began)
			for range maxOut {
				c.notify("update", "text")
			}
			return nil, nil
		}
	}
	served := make(chan error, 1)
	go func() {
		err := c.serve(t.Context())
		c.flush()
		served <- err
	}()
	if _, err := io.WriteString(host, `{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the host")
	}
}

// An answer of any form ends the request that it answers.
func TestAnswersOfTheHost(t *testing.T) {
	for _, answer := range []string{
		`,"error":{"code":"E_FAIL"}`, `,"error":"no"`, `,"error":5`, `,"error":[]`, `,"error":{"code":1.5,"message":"no"}`,
		`,"error":{"code":-32603,"message":"no"}`, `,"error":null`, `,"result":"no"`, "",
	} {
		in, host := io.Pipe()
		asked, out := io.Pipe()
		c := newConn(in, out)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		ended := make(chan error, 1)
		go func() { ended <- c.call(ctx, "x", 1, new(int)) }()
		served := make(chan error, 1)
		go func() { served <- c.serve(ctx) }()
		if err := json.NewDecoder(asked).Decode(new(message)); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, asked) }()
		if _, err := io.WriteString(host, `{"jsonrpc":"2.0","id":1`+answer+"}\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || ctx.Err() != nil {
			t.Errorf("%s: %v", answer, err)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
