package client_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

func TestRunInTerminal(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	var asked map[string]any
	answer := idetest.Text(`{"exit_code":3,"output":"out\n","cwd":"/p","output_captured":true}`)
	e.Handle("runInTerminal", func(_ *idetest.Conn, args json.RawMessage) idetest.Reply {
		asked = nil
		if err := json.Unmarshal(args, &asked); err != nil {
			t.Error(err)
		}
		return answer
	})
	c := connect(t, e)
	ran, err := c.RunInTerminal(t.Context(), "make", "/p", 2*time.Second)
	if err != nil || ran.Code == nil || *ran.Code != 3 || ran.Output != "out\n" || !ran.Captured || ran.TimedOut {
		t.Errorf("%+v, %v", ran, err)
	}
	if asked["command"] != "make" || asked["cwd"] != "/p" || asked["timeout_ms"] != 2000.0 {
		t.Errorf("asked: %v", asked)
	}
	answer = idetest.Text(`{"exit_code":null,"output":"begun\n","cwd":"/p","output_captured":true,"timed_out":true}`)
	if ran, err = c.RunInTerminal(t.Context(), "make", "/p", time.Second); err != nil || !ran.TimedOut || ran.Code != nil {
		t.Errorf("%+v, %v", ran, err)
	}
	for _, bad := range []string{`{`, `[]`, `{"exit_code":"0","output_captured":true}`, `{"exit_code":null,"output_captured":true}`} {
		answer = idetest.Text(bad)
		if ran, err = c.RunInTerminal(t.Context(), "make", "/p", 0); err == nil {
			t.Errorf("%s is taken for %+v", bad, ran)
		}
	}
	if _, timed := asked["timeout_ms"]; timed {
		t.Error("no timeout is none")
	}
	answer = idetest.Refuse("", "not trusted")
	var refused *client.ToolError
	if _, err = c.RunInTerminal(t.Context(), "make", "/p", 0); !errors.As(err, &refused) {
		t.Errorf("a refusal is %v", err)
	}
	if _, err := connect(t, idetest.Start(t, idetest.Neovim())).RunInTerminal(t.Context(), "make", "/p", 0); !errors.Is(err, client.ErrUnsupported) {
		t.Errorf("another editor: %v", err)
	}
}
