package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// TestNumbersOfLinks: no two links use the same numbers, and an answer with another
// number, or one that is not whole, is ignored.
func TestNumbersOfLinks(t *testing.T) {
	seen := map[int64]bool{}
	for range 20 {
		e := idetest.Start(t, idetest.Ours())
		c := dial(t, options(e))
		if _, err := c.Call(t.Context(), "getOpenEditors", struct{}{}); err != nil {
			t.Fatal(err)
		}
		for _, r := range e.Requests("") {
			if r.ID == nil {
				continue
			}
			n, err := strconv.ParseInt(string(r.ID), 10, 64)
			if err != nil || n < 1<<32 || n > 1<<46 || seen[n] {
				t.Errorf("%s has the number %s, seen before: %t", r.Method, r.ID, seen[n])
			}
			seen[n] = true
		}
	}
}

func TestAnswersUnderOtherNumbers(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	asked := make(chan struct{})
	e.Handle("question", func(c *idetest.Conn, _ json.RawMessage) idetest.Reply {
		id := string(e.Requests("question")[0].ID)
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			t.Error(err)
		}
		for _, other := range []string{"1", "2", "3", "4", fmt.Sprint(n - 1), fmt.Sprint(n + 1), id + ".5", strconv.Quote(id), "-" + id, "null"} {
			c.Reply(json.RawMessage(other), idetest.Text("stolen"))
		}
		close(asked)
		return idetest.Reply{Silent: true}
	})
	c := dial(t, options(e))
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() {
		raw, err := c.Call(ctx, "question", struct{}{})
		if err == nil {
			err = fmt.Errorf("answered with %s", raw)
		}
		got <- err
	}()
	<-asked
	if _, err := c.Call(t.Context(), "getOpenEditors", struct{}{}); err != nil { // all that came before is read
		t.Error(err)
	}
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	gaveUp := e.WaitRequests("notifications/cancelled", 1)[0]
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(gaveUp.Params, &p); err != nil || string(p.ID) != string(e.Requests("question")[0].ID) {
		t.Errorf("gave up %s, %v", gaveUp.Params, err)
	}
}
