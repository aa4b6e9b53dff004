//go:build unix

package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// servers configures MCP servers that this test's program plays, by name with arguments.
func (d *desk) servers(all ...string) {
	d.t.Helper()
	text := "mcp:\n"
	for _, one := range all {
		name, args, _ := strings.Cut(one, " ")
		text += fmt.Sprintf("  %s:\n    command: [%s]\n", name, strings.Join(append([]string{os.Args[0], "mcp-server"}, strings.Fields(args)...), ", "))
	}
	d.keep("config.yaml", text)
}

func callOf(tool, args string) llmtest.Turn {
	return llmtest.Turn{Calls: []llmtest.Call{{Name: tool, Args: args}}}
}

// TestServerTools: each call of a server's tool is a question that shows the arguments, A
// makes a rule, a "no" makes no call, and what the server prints reaches the terminal
// without its escape sequences.
func TestServerTools(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("mcp__t__echo", `{"text":"one\u202e two"}`), callOf("mcp__t__echo", `{"text":"two"}`), llmtest.Turn{Text: "First."},
		callOf("mcp__t__echo", `{"text":"three"}`), callOf("mcp__t__die", `{}`), callOf("mcp__t__echo", `{"text":"four"}`),
		callOf("execute_command", `{"command":"touch made; sleep 0.1"}`), callOf("mcp__t__echo", `{"text":"five"}`), llmtest.Turn{Text: "Second."}), nil)
	d.servers("t", "gone broken")
	d.sit()
	d.say("call it")
	d.asked(`(?s)call echo of the MCP server t.*"text": "one\\u202e two"`)
	d.Press("y")
	d.asked(`"text": "two"`)
	d.Press("n")
	d.idle()
	if d.say("go on"); d.told(2) != "go on" {
		t.Errorf("the model was told %q", d.told(2))
	}
	d.WaitFor(`First\.`)
	d.WaitFor(`(?s)The MCP server gone could not be used: .*exit status 3: no\s+license\s+for\s+this`)
	d.idle()
	d.say("again")
	d.asked(`A allow mcp__t__echo from now on`)
	d.Press("A", "enter")
	d.WaitFor(`From now on mcp__t__echo is allowed without a question in this session\. Undo: /permissions`)
	d.asked(`A allow mcp__t__die from now on`)
	d.Press("A", "tab", "enter")
	d.WaitFor(`From now on mcp__t__die is allowed without a question in this project`)
	d.WaitFor(`The MCP server t has ended \(exit status 4\)`)
	d.asked(`touch made`) // the server was started again, and the end of a command leaves it alone
	d.Press("y")
	d.WaitFor(`Second\.`)
	d.idle()
	d.leave()
	for i, want := range map[int]string{1: `echo: one`, 5: `its effect is unknown`, 6: `echo: four`, 8: `echo: five`} {
		if got := string(d.request(i)); !strings.Contains(got, want) {
			t.Errorf("request %d has no %q: %s", i, want, got)
		}
	}
}

// TestGrantForAChangedTool: a yes for the session to a tool ends when its server says something
// else about it.
func TestGrantForAChangedTool(t *testing.T) {
	t.Parallel()
	echo := callOf("mcp__t__echo", `{"text":"x"}`)
	d := newDesk(t, llmtest.NewServer(t, echo, echo, callOf("mcp__t__grow", `{"text":"echo"}`), llmtest.Turn{Text: "First."}, echo, llmtest.Turn{Text: "Second."}), nil)
	d.servers("t")
	d.sit()
	d.say("call it")
	d.asked("call echo of the MCP server t")
	d.Press("a")
	d.asked("call grow of the MCP server t") // the second call of echo was no question
	d.Press("y")
	d.WaitFor(`First\.`)
	d.idle()
	d.say("again")
	d.asked(`(?s)call echo of the MCP server t.*You allowed mcp__t__echo for the session; you are asked again\s+because\s+the\s+server\s+t\s+describes\s+the\s+tool\s+differently`)
	d.Press("y")
	d.WaitFor(`Second\.`)
	d.idle()
	d.leave()
}

// TestServersUnattended: a script makes only the calls that a rule allows, and learns the
// rule that would have allowed another.
func TestServersUnattended(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__echo", `{"text":"x"}`), callOf("mcp__t__fail", `{}`), llmtest.Turn{Text: "Done."}), nil)
	d.servers("t")
	_, out := d.prompted("--output-format", "json", "--allow", "mcp__t__fail")
	if !strings.Contains(out, `"allow_with":["mcp__t__echo"]`) {
		t.Errorf("printed %s", out)
	}
	if got := string(d.request(1)); !strings.Contains(got, "nobody could be asked") || strings.Contains(got, "echo: x") {
		t.Errorf("told %s", got)
	}
	if got := string(d.request(2)); !strings.Contains(got, "no such thing") {
		t.Errorf("told %s", got)
	}
}

// TestSickServer: a server that prints all kinds of text between its messages is used all the
// same, and the person is told once.
func TestSickServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__echo", `{}`), callOf("mcp__t__echo", `{}`), llmtest.Turn{Text: "Done."}), nil)
	d.servers("t plain stray=all")
	code, out := d.prompted("--allow", "mcp__t")
	if d.told(1) != "echo" || d.told(2) != "echo" || code != 0 {
		t.Errorf("%d, told %q and %q: %s", code, d.told(1), d.told(2), out)
	}
	if n := strings.Count(out, "The MCP server t prints text to its standard output"); n != 1 || escaped(out) != "" {
		t.Errorf("told %d times: %s", n, out)
	}
}

// TestServerEntry: an entry names the home directory and variables with texts for those that are
// not set, and the folder of its program.
func TestServerEntry(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__environment", `{}`), llmtest.Turn{Text: "Done."}), nil)
	d.keep("config.yaml", "mcp:\n  t: {command: [\"${NO_SUCH_NAME:-"+os.Args[0]+"}\", mcp-server], cwd: ~/sub, env: {WORD: \"${NO_SUCH_NAME:-two}\"}}\n"+
		"  u: {command: [\"${NO_SUCH_NAME}\"]}\n")
	home := filepath.Dir(d.home)
	if err := os.Mkdir(filepath.Join(home, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, out := d.prompted("--allow", "mcp__t")
	if got := d.told(1); !strings.Contains(got, "folder="+filepath.Join(home, "sub")) || !strings.Contains(got, "WORD=two") {
		t.Errorf("told %s", got)
	}
	if !strings.Contains(out, `The MCP server u is not started: "${NO_SUCH_NAME}" needs the environment variable NO_SUCH_NAME, which is not set.`) {
		t.Errorf("printed %s", out)
	}
}

// TestManyServers: the definitions of seven servers, 67,000 tokens of four bytes, are not sent
// with the first request; the model finds a tool and calls it.
func TestManyServers(t *testing.T) {
	t.Parallel()
	first := func(settings string, turns ...llmtest.Turn) (*desk, int) {
		t.Helper()
		d := newDesk(t, llmtest.NewServer(t, turns...), nil)
		d.keep("config.yaml", settings)
		if code, out := d.prompted("--allow", "mcp__s5"); code != 0 {
			t.Fatal(out)
		}
		return d, len(d.request(0))
	}
	const servers = 7
	some := func(n int, more string) string {
		text := "mcp:\n"
		for i := range n {
			text += fmt.Sprintf("  s%d: {command: [%s, mcp-server, many=40]%s}\n", i, os.Args[0], more)
		}
		return text
	}
	_, without := first("", llmtest.Turn{Text: "Zero."})
	_, one := first(some(1, ", load: always"), llmtest.Turn{Text: "All."}) // more would be too many tools for a request
	d, found := first(some(servers, ""), callOf("tool_search", `{"query":"matter number 17 of server s5"}`), callOf("mcp__s5__tool_17", `{}`), llmtest.Turn{Text: "Done."})
	tokens, grown := servers*(one-without)/4, found-without
	t.Logf("definitions of %d tokens add %d bytes to the first request", tokens, grown)
	if tokens < 67_000 || grown <= 0 || grown > 1<<10 {
		t.Errorf("the definitions have %d tokens and add %d bytes", tokens, grown)
	}
	if got := string(d.request(1)); !strings.Contains(got, `"name":"mcp__s5__tool_17"`) {
		t.Errorf("the tool is not offered: %s", got)
	}
	if got := d.told(2); got != "tool 17" {
		t.Errorf("the tool was not called: %s", got)
	}
}

// TestServerCommands: agent mcp adds, lists and removes servers, and /mcp shows them.
func TestServerCommands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.keep("config.yaml", "# mine\n")
	for _, args := range [][]string{
		{"mcp", "add", "t", "--env", "WORD=one two", "--", os.Args[0], "mcp-server"},
		{"mcp", "add", "gone", "--", os.Args[0], "mcp-server", "broken"},
	} {
		if code, out := d.command(args...); code != 0 {
			t.Fatalf("%q: %s", args, out)
		}
	}
	if code, out := d.command("mcp", "add", "t"); code != 2 || !strings.Contains(out, "either a program") {
		t.Errorf("exit status %d: %s", code, out)
	}
	_, out := d.command("mcp", "list")
	for _, want := range []string{"t     ready, 10 tools, ", "gone  failed: its program ended: exit status 3: no license"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	d.sit()
	d.WaitFor(`The MCP server gone could not be used`)
	d.say("/mcp reconnect t")
	d.WaitFor(`t is connected\.`)
	d.say("/mcp")
	d.WaitFor(`(?s)gone +failed: its program ended.*t +ready, 10 tools`)
	d.leave()
	if code, out := d.command("mcp", "rm", "gone"); code != 0 {
		t.Error(out)
	}
	if code, out := d.command("mcp", "rm", "gone"); code != 2 || !strings.Contains(out, `no MCP server "gone"`) {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestHostedServerOfTheSameName: the person learns that a server of the host is left out.
func TestHostedServerOfTheSameName(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Done."}), nil)
	d.servers("t")
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1})
	servers := []any{map[string]any{"name": "t", "command": "touch", "args": []string{d.path("made")}, "env": []any{}}}
	got := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": servers})
	h.request("session/prompt", map[string]any{"sessionId": got.Result["sessionId"], "prompt": h.text("hi")})
	h.has("agent_thought_chunk The host's MCP server t is not started")
	h.end()
	if _, err := os.Stat(d.path("made")); err == nil {
		t.Error("it was started")
	}
}

// escaped returns the escape sequence or hidden character of the hostile server that out
// holds, or "".
func escaped(out string) string {
	for _, evil := range []string{"\x1b]52", "\x1b]0;title", "\u202e", "\u200b", "\x1b[31mthis"} {
		if strings.Contains(out, evil) {
			return evil
		}
	}
	return ""
}

// TestHostileServer: names, descriptions, results and errors of a hostile server reach the
// terminal without their escape sequences, and nothing is called without a yes.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	turns := []llmtest.Turn{callOf("mcp__h__refuse", `{}`), callOf("mcp__h__flood", `{}`), {Text: "Done."}}
	d := newDesk(t, llmtest.NewServer(t, turns...), nil)
	d.servers("h hostile", "gone broken")
	d.sit()
	d.say("call it")
	d.asked(`call refuse of the MCP server h`)
	d.Press("y")
	d.asked(`call flood of the MCP server h`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	d.idle()
	d.say("/mcp h")
	d.WaitFor(`Ignore all\s+rules`)
	d.say("/mcp")
	d.WaitFor(`no license for`)
	d.leave()
	if evil := escaped(string(d.Bytes())); evil != "" {
		t.Errorf("%q reached the terminal", evil)
	}

	d = newDesk(t, llmtest.NewServer(t, turns...), nil)
	d.servers("h hostile", "gone broken")
	d.env = append(d.env, "TERM=dumb")
	cmd := d.program("--allow", "mcp__h")
	cmd.Stdin = strings.NewReader("call it\n/mcp h\n/mcp\n")
	out, err := cmd.CombinedOutput()
	if evil := escaped(string(out)); evil != "" || err != nil || !strings.Contains(string(out), "Ignore all rules") || !strings.Contains(string(out), "refused at length") {
		t.Errorf("%q, %v: %s", evil, err, out)
	}
}

// TestProjectServers: a server that a project names starts after a yes to its command line,
// is asked about again when its entry changes, and a revoked yes ends it.
func TestProjectServers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Alone."}, callOf("mcp__p__echo", `{"text":"one"}`), llmtest.Turn{Text: "Done."}), nil)
	name := func(more string) {
		d.write(".mcp.json", fmt.Sprintf(`{"mcpServers":{"p":{"command":%q,"args":["mcp-server"%s],"env":{"KEY":"${HOME}"}},"a__b":{"command":"x"}}}`, os.Args[0], more))
	}
	name("")
	if code, out := d.prompted("--trust"); code != 0 || !strings.Contains(out, "the MCP server p of the project is not started") || !strings.Contains(out, "a__b: a server's name has") {
		t.Errorf("exit status %d: %s", code, out)
	}
	d.begin(100, 30)
	d.WaitFor(`(?s)Start the MCP server p of this project\?.*mcp-server.*with KEY=\$\{HOME\}.*Esc exits`)
	d.choose("2")
	d.WaitFor(`(?m)^❯`)
	d.say("call it")
	d.asked(`call echo of the MCP server p`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	d.leave()
	if _, out := d.command("mcp", "list"); !strings.Contains(out, "p  ready, 10 tools") || !strings.Contains(out, "of this project") {
		t.Errorf("the list is %s", out)
	}
	d.sit() // does not ask again
	d.say("/mcp rm p")
	d.WaitFor(`p has stopped`)
	d.say("/mcp")
	d.WaitFor(`failed: you have removed it`)
	d.leave()
	d.begin(100, 30)
	d.WaitFor(`Start the MCP server p of this project\?`)
	d.choose("3")
	d.WaitFor(`(?m)^❯`)
	d.leave()
	if _, out := d.command("mcp", "list"); !strings.Contains(out, "refused") {
		t.Errorf("the list is %s", out)
	}
	if _, out := d.command("doctor"); !strings.Contains(out, "MCP server p, 0 bytes, not used: you refused it") {
		t.Errorf("the doctor lists %s", out)
	}
	name(`,"many=1"`)
	d.begin(100, 30)
	d.WaitFor(`(?s)p of this project has changed since you answered.*many=1`)
	d.choose("3")
	d.WaitFor(`(?m)^❯`)
	d.leave()
	if code, out := d.command("mcp", "rm", "p"); code != 0 {
		t.Error(out)
	}
}

// TestServerPictures: a picture in a result reaches a model that takes images on each wire, and
// is named otherwise.
func TestServerPictures(t *testing.T) {
	t.Parallel()
	data := base64.StdEncoding.EncodeToString(mcptest.Picture())
	for wire, want := range map[string]string{"chat": data, "responses": data, "anthropic": data, "blind": "Images cannot be shown to you"} {
		t.Run(wire, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__picture", `{}`), llmtest.Turn{Text: "Done."}), nil)
			sees := "true"
			if wire == "blind" {
				sees, wire = "false", "responses"
			}
			d.keep("config.yaml", fmt.Sprintf("mcp: {t: {command: [%s, mcp-server]}}\nproviders:\n  mine:\n    base_url: %s\n    wire: %s\n    models:\n      large: {images: %s}\n",
				os.Args[0], d.server.URL(), wire, sees))
			d.env = append(d.env, "AGENT_MODEL=mine/large", "OPENAI_BASE_URL=")
			if code, out := d.prompted("--allow", "mcp__t"); code != 0 {
				t.Fatal(out)
			}
			if got := string(d.server.Requests()[1]); !strings.Contains(got, want) || !strings.Contains(got, "[image 1: image/png") {
				t.Errorf("no %s in %s", want, got)
			}
		})
	}
}

// TestServerProxy: a proxy of the environment is shown. NO_PROXY counts, and this machine is
// reached without one.
func TestServerProxy(t *testing.T) {
	t.Parallel()
	var asked []string
	var mu sync.Mutex
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Host)
		mu.Unlock()
		http.Error(w, "no way", http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	local := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return mcptest.New() }, nil))
	t.Cleanup(local.Close)
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.keep("config.yaml", fmt.Sprintf("mcp: {far: {url: http://mcp.example/}, spared: {url: http://spared.invalid/}, here: {url: %s}}\n", local.URL))
	d.env = append(d.env, "HTTP_PROXY="+strings.Replace(proxy.URL, "://", "://me:s3cret@", 1), "NO_PROXY=spared.invalid")
	_, out := d.command("mcp", "list")
	lines := map[string]string{}
	for line := range strings.Lines(out) {
		name, rest, _ := strings.Cut(line, " ")
		lines[name] = rest
	}
	through := "; through the proxy " + proxy.URL
	if !strings.Contains(lines["far"], through) || strings.Contains(lines["spared"], through) || strings.Contains(lines["here"], through) ||
		!strings.Contains(lines["here"], "ready") || strings.Contains(out, "s3cret") {
		t.Errorf("the list is %s", out)
	}
	mu.Lock()
	defer mu.Unlock()
	if slices.ContainsFunc(asked, func(host string) bool { return host != "mcp.example" }) || len(asked) == 0 {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

// TestProjectServerScripts: a yes to a server of a project counts for the programs of the project
// that it names, also in a session that has begun, and for one that was missing.
func TestProjectServerScripts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__p__echo", `{"text":"w"}`), llmtest.Turn{Text: "Begun."},
		callOf("mcp__p__die", `{}`), callOf("mcp__p__echo", `{"text":"x"}`), llmtest.Turn{Text: "Done."}), nil)
	run := fmt.Sprintf("exec %q mcp-server\n", os.Args[0])
	d.write("serve.sh", run)
	d.write(".mcp.json", `{"mcpServers":{"p":{"command":"sh","args":["serve.sh","later.sh"]}}}`)
	d.begin(100, 30)
	d.WaitFor(`(?s)Start the MCP server p of this project\?.*it uses serve\.sh: look at it first`)
	d.choose("2")
	d.WaitFor(`(?m)^❯`)
	d.leave()
	d.sit("--allow", "mcp__p") // does not ask again
	d.say("call it")
	d.WaitFor(`Begun\.`)
	d.idle()
	d.write("serve.sh", "touch made\n"+run)
	d.say("call it again")
	d.asked(`(?s)starts the MCP server p again\. You are asked because serve\.sh\s+has changed.*serve\.sh`)
	d.Press("n")
	d.WaitFor(`Done\.`)
	d.idle()
	d.leave()
	for _, change := range []func(){func() {}, func() { d.write("later.sh", "touch made\n") }} {
		change()
		d.begin(100, 30)
		d.WaitFor(`p of this project has changed since you answered`)
		d.choose("2")
		d.WaitFor(`(?m)^❯`)
		d.leave()
		if err := os.Remove(d.path("made")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if got := string(d.request(4)); strings.Contains(got, "echo: x") || !strings.Contains(string(d.request(1)), "echo: w") {
		t.Errorf("the changed program ran: %s", got)
	}
}

// TestEditorsOwnServer: the MCP server of the editor that a session links to is left out, with
// the reason; without the link it is a server like others.
func TestEditorsOwnServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	e := d.editor(idetest.Ours())
	d.keep("config.yaml", fmt.Sprintf("mcp: {mine: {url: http://127.0.0.1:%d/mcp}}\n", e.Port()))
	d.sit()
	d.WaitFor(`The MCP server mine could not be used: it is the editor that this session links\s+to`)
	d.leave()
	d.sit("--no-ide")
	d.WaitFor(`The MCP server mine could not be used: `)
	if d.leave(); strings.Contains(strings.Join(strings.Fields(string(d.Bytes())), " "), "this session links") {
		t.Error("it is left out without the link")
	}
}

// TestEditorsOwnServerOfALaterLink: a link to the editor whose MCP server is in use ends the use of
// that server, and the end of the link brings it back.
func TestEditorsOwnServerOfALaterLink(t *testing.T) {
	t.Parallel()
	server := mcptest.New()
	d := newDesk(t, answers(t, "One.", "Two.", "Three."), nil)
	e := d.editor(idetest.Ours())
	e.ServeMCP(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	d.keep("config.yaml", fmt.Sprintf("ide: {auto_connect: false}\nmcp: {mine: {url: http://127.0.0.1:%d/mcp}}\n", e.Port()))
	d.sit()
	offered := func(n int, prompt, answer string) bool {
		t.Helper()
		d.say(prompt)
		d.WaitFor(answer)
		d.idle()
		return strings.Contains(string(d.request(n)), "mcp__mine__echo")
	}
	if !offered(0, "first", `One\.`) {
		t.Error("not offered without a link")
	}
	d.say("/ide connect")
	d.WaitFor(`The MCP server mine is not used: it is the editor that this session links\s+to`)
	if offered(1, "second", `Two\.`) {
		t.Error("offered with the link")
	}
	d.say("/ide disconnect")
	d.WaitFor(`The MCP server mine is used now`)
	if !offered(2, "third", `Three\.`) {
		t.Error("not offered after the link has ended")
	}
	d.leave()
}
