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
