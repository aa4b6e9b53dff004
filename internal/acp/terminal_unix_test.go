//go:build unix

package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// TestLateTerminal: a host on a busy machine may take longer to start a command. One that takes
// too long is named with the limit, and its command ends as soon as it begins.
// On Windows, no command runs in the terminal of a host: no list of arguments runs a line, see shell.Argv.
func TestLateTerminal(t *testing.T) {
	for _, c := range []struct {
		takes, lasts time.Duration // of the start; of the turn
		note         string
		methods      []string
	}{
		{takes: 30 * time.Second, lasts: time.Hour, methods: []string{"create", "wait_for_exit", "output", "release"}},
		{takes: 2 * time.Minute, lasts: time.Hour, note: "no answer within 1m0s", methods: []string{"create", "kill", "release"}},
		{takes: 30 * time.Second, lasts: 10 * time.Second, methods: []string{"create", "kill", "release"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, asked, host, end := serving(t)
			var methods []string
			released := make(chan struct{})
			go func() {
				for lines := bufio.NewScanner(asked); lines.Scan(); {
					var m struct {
						ID     json.RawMessage `json:"id"`
						Method string          `json:"method"`
					}
					if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
						t.Error(err)
					}
					method := strings.TrimPrefix(m.Method, "terminal/")
					methods = append(methods, method)
					if method == "create" {
						<-time.After(c.takes)
					}
					if _, err := fmt.Fprintf(host, `{"jsonrpc":"2.0","id":%s,"result":{"terminalId":"one","exitCode":3,"output":"said","truncated":false}}`+"\n", m.ID); err != nil {
						t.Error(err)
					}
					if method == "release" {
						close(released)
						return
					}
				}
			}()
			turn, cancel := context.WithTimeout(t.Context(), c.lasts)
			defer cancel()
			shown := &view{terminals: map[string]string{}}
			on := terminals{files: &files{ctx: t.Context(), conn: conn}, view: func() *view { return shown }}
			res, err := on.Run(turn, shell.Options{Line: "make"})
			if err != nil {
				t.Fatal(err)
			}
			late := c.methods[1] == "kill"
			if said := strings.Join(res.Notes, " "); res.ExitCode != map[bool]int{false: 3, true: -1}[late] || !strings.Contains(said, c.note) || res.Cancelled != (c.lasts < time.Minute) {
				t.Errorf("%+v", res)
			}
			<-released
			if !slices.Equal(methods, c.methods) {
				t.Errorf("the host was asked for %q", methods)
			}
			end()
		})
	}
}
