package jsonrpc

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
	c := New(in, out, Lines{})
	began := make(chan struct{})
	c.Handle = func(context.Context, string, json.RawMessage) func() (any, error) {
		return func() (any, error) {
			for range maxOut {
				c.Notify("update", "text")
			}
			close(began)
			for range maxOut {
				c.Notify("update", "text")
			}
			return nil, nil
		}
	}
	served := make(chan error, 1)
	go func() {
		err := c.Serve(t.Context())
		c.Close()
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
		c := New(in, out, Lines{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		ended := make(chan error, 1)
		go func() { ended <- c.Call(ctx, "x", 1, new(int)) }()
		served := make(chan error, 1)
		go func() { served <- c.Serve(ctx) }()
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

// A message with a repeated key has two readings: neither counts, and nobody waits.
func TestRepeatedKeys(t *testing.T) {
	type choice struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	for name, answer := range map[string]string{
		"an option":      `"id":1,"result":{"outcome":{"outcome":"selected","optionId":"reject","optionId":"allow"}}`,
		"an outcome":     `"id":1,"result":{"outcome":{"outcome":"cancelled"},"outcome":{"outcome":"selected","optionId":"allow"}}`,
		"a result":       `"id":1,"result":{"outcome":{"outcome":"cancelled"}},"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`,
		"another case":   `"id":1,"result":{"OUTCOME":{"outcome":"selected","optionId":"allow"}}`,
		"another letter": `"id":1,"re\u017fult":{"outcome":{"outcome":"selected","optionId":"allow"}}`,
		"an escape":      `"id":1,"result":{"outcome":{"outcome":"selected","optionId":"reject","option\u0049d":"allow"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			in, host := io.Pipe()
			asked, out := io.Pipe()
			c := New(in, out, Lines{})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var got choice
			ended := make(chan error, 1)
			go func() { ended <- c.Call(ctx, "session/request_permission", 1, &got) }()
			served := make(chan error, 1)
			go func() { served <- c.Serve(ctx) }()
			if err := json.NewDecoder(asked).Decode(new(message)); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, asked) }()
			if _, err := io.WriteString(host, `{"jsonrpc":"2.0",`+answer+"}\n"); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; ctx.Err() != nil || got.Outcome.Option == "allow" {
				t.Errorf("%+v, %v", got, err)
			}
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

// A request with a repeated key is answered with an error and not carried out.
func TestRepeatedKeysOfRequests(t *testing.T) {
	for request, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"session/set_mode","params":{"sessionId":"s","modeId":"plan","modeId":"bypass"}}`: "7",
		`{"jsonrpc":"2.0","id":"a","method":"session/cancel","method":"session/prompt","params":{}}`:                        `"a"`,
		`{"jsonrpc":"2.0","id":7,"id":8,"method":"session/prompt","params":{}}`:                                             "null",
		`{"jsonrpc":"2.0","method":"session/prompt","params":{"x":1,"x":2}}`:                                                "null",
	} {
		in, host := io.Pipe()
		answered, out := io.Pipe()
		c := New(in, out, Lines{})
		c.Handle = func(context.Context, string, json.RawMessage) func() (any, error) {
			t.Errorf("%s was carried out", request)
			return func() (any, error) { return nil, nil }
		}
		served := make(chan error, 1)
		go func() { served <- c.Serve(t.Context()) }()
		if _, err := io.WriteString(host, request+"\n"); err != nil {
			t.Fatal(err)
		}
		var m message
		if err := json.NewDecoder(answered).Decode(&m); err != nil || string(m.ID) != id || m.Error == nil {
			t.Errorf("%s: %s, %s, %v", request, m.ID, m.Error, err)
		}
		if err := host.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// TestPatience: a side that reads nothing any more does not hold up the other for ever.
func TestPatience(t *testing.T) {
	in, theirs := io.Pipe()
	unread, out := io.Pipe()
	defer unread.Close()
	c := New(in, out, Lines{})
	c.Patience = time.Millisecond
	c.Handle = func(context.Context, string, json.RawMessage) func() (any, error) {
		return func() (any, error) { return 1, nil }
	}
	go func() {
		for {
			if _, err := theirs.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ask"}` + "\n")); err != nil {
				return
			}
		}
	}()
	if err := c.Serve(t.Context()); err != nil {
		t.Error(err)
	}
	_ = in.Close() // of a pipe in memory
}
