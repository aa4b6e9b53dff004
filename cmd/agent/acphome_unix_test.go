//go:build unix

package main

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestStartedWithoutHome: the home directory is that of the system's user database if the
// environment lacks it, for the program and for its commands.
func TestStartedWithoutHome(t *testing.T) {
	t.Parallel()
	me, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || me.HomeDir == "" {
		t.Skipf("the system does not know the user: %v", err)
	}
	for _, empty := range []string{"", "HOME="} {
		d := newDesk(t, llmtest.NewServer(t, callOf("execute_command", `{"command":"echo \"home=$HOME.\""}`), llmtest.Turn{Text: "Done."}), nil)
		d.env = slices.DeleteFunc(d.env, func(v string) bool { return strings.HasPrefix(v, "HOME=") })
		if empty != "" {
			d.env = append(d.env, empty)
		}
		h := d.host()
		h.request("initialize", map[string]any{"protocolVersion": 1})
		h.answer = func(map[string]any) string { return "allow-once" }
		id, _ := h.open()
		h.prompt(id, "where", "end_turn")
		if got := d.told(1); !strings.Contains(got, "home="+me.HomeDir+".") {
			t.Errorf("%q: the model was told %q", empty, got)
		}
		h.end()

		cmd := d.program("config", "path")
		cmd.Env = slices.DeleteFunc(slices.Clone(d.env), func(v string) bool { return strings.HasPrefix(v, "AGENT_HOME=") })
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), filepath.Join(me.HomeDir, ".agent")) {
			t.Errorf("%q: %v: %s", empty, err, out)
		}
	}
}
