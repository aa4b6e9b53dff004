//go:build unix && network

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// reference returns the program of a package below AGENT_TEST_MCP, a folder with the packages
// server-everything, server-filesystem, server-memory and conformance of
// @modelcontextprotocol, installed by npm. Without it the test is skipped.
func reference(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("AGENT_TEST_MCP")
	if dir == "" {
		t.Skip("AGENT_TEST_MCP names no folder with the reference servers")
	}
	return filepath.Join(dir, "node_modules/@modelcontextprotocol", name, "dist/index.js")
}

// TestReferenceServers uses the public servers from npm, each call after a question.
func TestReferenceServers(t *testing.T) {
	t.Parallel()
	everything, files, memory := reference(t, "server-everything"), reference(t, "server-filesystem"), reference(t, "server-memory")
	type call struct{ tool, args, key, want string }
	d := newDesk(t, llmtest.NewServer(t), nil)
	shared := filepath.Join(d.dir, "shared")
	scratch.Mkdir(t, shared)
	calls := []call{
		{"everything: echo", `{"message":"hello"}`, "y", "Echo: hello"},
		{"everything: get-tiny-image", `{}`, "y", "image 1: image/png"},
		{"everything: get-sum", `{"a":2,"b":3}`, "y", "5"},
		{"files: write_file", fmt.Sprintf(`{"path":%q,"content":"kept"}`, shared+"/yes.txt"), "y", "wrote"},
		{"files: read_text_file", fmt.Sprintf(`{"path":%q}`, shared+"/yes.txt"), "y", "kept"},
		{"files: read_text_file", `{"path":"/etc/passwd"}`, "y", "Access denied"},
		{"memory: create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["writes programs"]}]}`, "y", "Ada"},
		{"memory: read_graph", `{}`, "y", "writes programs"},
		{"files: write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, shared+"/no.txt"), "n", ""},
	}
	var turns []llmtest.Turn
	for _, c := range calls {
		server, tool, _ := strings.Cut(c.tool, ": ")
		turns = append(turns, callOf("mcp__"+server+"__"+tool, c.args))
	}
	d = newDesk(t, llmtest.NewServer(t, turns...), nil)
	d.keep("config.yaml", fmt.Sprintf("mcp:\n  everything: {command: [node, %s]}\n  files: {command: [node, %s, %s]}\n  memory: {command: [node, %s], env: {MEMORY_FILE_PATH: %s}, load: always}\n",
		everything, files, shared, memory, filepath.Join(d.home, "memory.json")))
	d.sit()
	d.say("use them")
	for i, c := range calls {
		server, tool, _ := strings.Cut(c.tool, ": ")
		if i > 0 {
			d.WaitFor(`Call ` + regexpOf(calls[i-1].tool))
		}
		d.asked(`call ` + tool + ` of the MCP server ` + server)
		d.Press(c.key)
	}
	d.idle()
	d.leave()
	for i, c := range calls[:len(calls)-1] {
		if got := d.told(i + 1); !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in %s", c.tool, c.want, got)
		}
	}
	if _, err := os.Stat(shared + "/no.txt"); err == nil {
		t.Error("a call without a yes was made")
	}
}

func regexpOf(text string) string { return strings.ReplaceAll(text, "-", `\-`) }

// TestClientConformance runs the scenarios for clients of the protocol's conformance suite
// against the program, on Node 22 or later. Those that it does not serve are left out: auth/basic-cimd
// (the document about a client needs an address of its own), auth/pre-registration, auth/scope-step-up
// (a session asks for no further login), auth/2025-03-26-oauth-metadata-backcompat (the SDK refuses that
// metadata), and elicitation-sep1034-client-defaults (a person answers).
func TestClientConformance(t *testing.T) {
	t.Parallel()
	suite := reference(t, "conformance")
	sum := callOf("mcp__c__add_numbers", `{"a":5,"b":3}`)
	use := callOf("mcp__c__test-tool", `{}`)
	for _, s := range []struct {
		name string
		turn llmtest.Turn
	}{
		{"initialize", llmtest.Turn{Text: "Done."}},
		{"tools_call", sum},
		{"sse-retry", callOf("mcp__c__test_reconnection", `{}`)},
		{"auth/metadata-default", use},
		{"auth/metadata-var1", use},
		{"auth/metadata-var2", use},
		{"auth/metadata-var3", use},
		{"auth/scope-from-www-authenticate", use},
		{"auth/scope-from-scopes-supported", use},
		{"auth/scope-omitted-when-undefined", use},
		{"auth/scope-retry-limit", use},
		{"auth/token-endpoint-auth-basic", use},
		{"auth/token-endpoint-auth-post", use},
		{"auth/token-endpoint-auth-none", use},
		{"auth/2025-03-26-oauth-endpoint-fallback", use},
		{"auth/resource-mismatch", use},
		{"auth/offline-access-scope", use},
		{"auth/offline-access-not-supported", use},
	} {
		t.Run(s.name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, s.turn, llmtest.Turn{Text: "Done."}), nil)
			client := filepath.Join(t.TempDir(), "client")
			const script = `#!/usr/bin/env bash
exec </dev/null
agent mcp add c --url "${@: -1}"
case $MCP_CONFORMANCE_SCENARIO in auth/*)
	agent mcp login c | while read -r line; do
		case $line in http*) node -e 'fetch(process.argv[1])' "$line" ;; esac
	done
esac
agent -p "call it" --allow mcp__c </dev/null
`
			if err := os.WriteFile(client, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("node", suite, "client", "--command", client, "--scenario", s.name, "--timeout", "20000")
			cmd.Dir, cmd.Env = d.dir, append(slices.Clip(d.env), "DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=", "NO_COLOR=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
