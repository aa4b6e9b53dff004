//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// seeds are messages that mutations begin with. None may open a session or start a turn.
var seeds = []string{
	`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"authenticate","params":{"methodId":"none"}}`,
	`{"jsonrpc":"2.0","id":"seven","method":"session/new","params":{"cwd":7,"mcpServers":[{"name":"x","command":"y","args":[],"env":[]}]}}`,
	`{"jsonrpc":"2.0","id":8,"method":"session/load","params":{"sessionId":"none","cwd":7,"mcpServers":[]}}`,
	`{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"none","prompt":[{"type":"text","text":"x"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}}`,
	`{"jsonrpc":"2.0","id":10,"method":"session/set_mode","params":{"sessionId":"none","modeId":"plan"}}`,
	`{"jsonrpc":"2.0","id":11,"method":"session/set_config_option","params":{"sessionId":"none","configId":"model","value":"x"}}`,
	`{"jsonrpc":"2.0","id":12,"method":"session/close","params":{"sessionId":"none"}}`,
	`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}}`,
	`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`,
}

// mutated returns a line like a message of a host.
func mutated(r *rand.Rand) []byte {
	line := []byte(seeds[r.IntN(len(seeds))])
	for range 1 + r.IntN(4) {
		at := r.IntN(len(line) + 1)
		switch r.IntN(8) {
		case 0:
			line = line[:at]
		case 1:
			line = append(line[:at:at], append([]byte{byte(r.IntN(256))}, line[at:]...)...)
		case 2:
			line = append(line[:at:at], line[min(len(line), at+r.IntN(20)):]...)
		case 3:
			line = append(line[:at:at], append(bytes.Clone(line[r.IntN(at+1):at]), line[at:]...)...)
		case 4:
			line = append(line[:at:at], append(bytes.Repeat([]byte("["), r.IntN(20_000)), line[at:]...)...)
		case 5:
			line = append(line[:at:at], append(bytes.Repeat([]byte("x"), r.IntN(1_000)), line[at:]...)...)
		case 6:
			values := []string{"null", "-1", "1e999", `"\ud800"`, "{}", "[]", "true", "\x1b[2J", "\x00", "\xff\xfe"}
			line = append(line[:at:at], append([]byte(values[r.IntN(len(values))]), line[at:]...)...)
		case 7:
			names := []string{"id", "method", "params", "sessionId", "result", "jsonrpc"}
			line = bytes.Replace(line, []byte(`"`+names[r.IntN(len(names))]+`"`), []byte(`"`+names[r.IntN(len(names))]+`"`), 1)
		}
		if len(line) == 0 {
			line = []byte("0")
		}
	}
	return bytes.ReplaceAll(line, []byte("\n"), nil)
}

// answered reports whether JSON-RPC demands an answer to a line. A repeated key is an error.
func answered(line []byte) bool {
	var m struct {
		ID      json.RawMessage `json:"id"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
		JSONRPC string          `json:"jsonrpc"`
		Method  string          `json:"method"`
	}
	switch err := strict.Unmarshal(line, &m, jsontext.AllowInvalidUTF8(true)); {
	case len(bytes.TrimSpace(line)) == 0:
		return false
	case err != nil:
		return true
	case m.Method != "":
		return len(m.ID) > 0
	}
	return len(m.ID) == 0 || m.Result == nil && m.Error == nil
}

// TestFuzzedHost: each damaged message is answered with one error, nothing else appears on
// standard output, and the agent neither ends nor grows.
func TestFuzzedHost(t *testing.T) {
	t.Parallel()
	h := newDesk(t, llmtest.NewServer(t), nil).host()
	seed := stress.Seed(t)
	t.Logf("AGENT_TEST_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const batch = 50
	batches := stress.Size(400, 10_000) / batch
	var before int64
	for n := range batches {
		var lines bytes.Buffer
		want := 0
		for range batch {
			line := mutated(r)
			lines.Write(append(line, '\n'))
			if answered(line) {
				want++
			}
		}
		sent := make(chan error, 1)
		go func() {
			_, err := h.in.Write(lines.Bytes())
			sent <- err
		}()
		for range want {
			h.refused(lines.String())
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		if got := h.request("nothing", nil); got.Error["code"] != -32601.0 { // and no other message before it
			t.Fatalf("%+v", got)
		}
		if n == batches/4 {
			before = memoryOf(t, h.cmd.Process.Pid)
		}
	}
	if grown := memoryOf(t, h.cmd.Process.Pid) - before; grown > 32<<10 {
		t.Errorf("it has grown by %d KiB", grown)
	}
	h.end()
}

// refused checks that the next message is an error, or the answer to a request that a
// mutation left whole.
func (h *host) refused(lines string) {
	h.t.Helper()
	if !h.out.Scan() {
		h.t.Fatalf("the agent closed its end at:\n%s", lines)
	}
	var m struct {
		JSONRPC string
		Result  json.RawMessage
		Error   *struct{ Code int }
	}
	switch err := json.Unmarshal(h.out.Bytes(), &m); {
	case err != nil || m.JSONRPC != "2.0" || (m.Error == nil) == (m.Result == nil):
		h.t.Fatalf("%q: %v", h.out.Text(), err)
	case m.Error != nil && (m.Error.Code > -32000 || m.Error.Code < -32768):
		h.t.Errorf("%s", h.out.Text())
	case m.Error == nil && !strings.Contains(h.out.Text(), `"protocolVersion":1`):
		h.t.Errorf("%s", h.out.Text())
	}
}

// memoryOf returns the resident memory of a process in KiB; 0 if the system does not tell.
func memoryOf(t *testing.T, pid int) (kib int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			return kib
		}
	}
	t.Errorf("no VmRSS in %s", status)
	return 0
}

// TestLongLine: a line that is too long is answered with an error, and the next one counts.
func TestLongLine(t *testing.T) {
	t.Parallel()
	h := newDesk(t, llmtest.NewServer(t), nil).host()
	go func() {
		long := strings.NewReader(strings.Repeat(" ", 65<<20) + "\n")
		if _, err := io.Copy(h.in, long); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(h.in, `{"id":1,"method":"initialize","params":{}}`+"\n") // else the test waits
	}()
	for _, want := range []string{`"code":-32600`, `"protocolVersion":1`} {
		if !h.out.Scan() || !strings.Contains(h.out.Text(), want) {
			t.Fatalf("%q has no %s", h.out.Text(), want)
		}
	}
	h.end()
}
