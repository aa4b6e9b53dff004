package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// LongLine is the length of the long line of Strays, in bytes.
const LongLine = 17 << 20

// Strays returns the texts that a sick server prints beside its answers, by their kinds: before
// an answer and, if it names the ANSWER, after it.
func Strays() map[string]string {
	return map[string]string{
		"text": "Listening on stdio\n", "two lines": "one\ntwo\n", "empty": "\n\n  \n\t\n", "CRLF": "hello\r\n\r\n",
		"banner": "+-------+\n| hello |\n+-------+\n", "time": "[12:00:01] INFO {ready}\n",
		"BOM": "\ufeff", "BOM alone": "\ufeff\n", "UTF-16": "\xff\xfeh\x00i\x00\n\x00\n",
		"colour": "\x1b[32mok\x1b[0m\n", "colours around": "\x1b[2K\x1b[1GANSWER\x1b[0m", "title": "\x1b]0;title\a",
		"number": "42\n", "string": "\"hi\"\n", "true": "true\n", "null": "null\n", "array": "[1,2]\n", "empty array": "[]\n", "object": "{}\n",
		"no version": `{"id":1,"result":{}}` + "\n", "old version": `{"jsonrpc":"1.0","id":1,"result":{}}` + "\n",
		"nothing asked": `{"jsonrpc":"2.0"}` + "\n", "no id": `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}` + "\n",
		"odd id": `{"jsonrpc":"2.0","id":{"a":1},"result":{}}` + "\n", "odd method": `{"jsonrpc":"2.0","method":5}` + "\n", "odd error": `{"jsonrpc":"2.0","id":1,"error":"no"}` + "\n",
		"unknown id": `{"jsonrpc":"2.0","id":987654,"result":{}}` + "\n", "unknown word as id": `{"jsonrpc":"2.0","id":"x","result":{}}` + "\n",
		"unknown method": `{"jsonrpc":"2.0","method":"notifications/strange","params":[1]}` + "\n",
		"odd list":       `[{"jsonrpc":"2.0","method":"notifications/strange"},7]` + "\n",
		"half a message": `{"jsonrpc":"2.0","id":1,"resu` + "\n", "half a list": "[{\n", "brace": "{ starting\n", "closing": "}\n]\n",
		"indented": "{\n  \"port\": 1,\n  \"more\": {}\n}\n", "half a line": "Loading... 100%", "returns": "\r 10%\r 20%\r",
		"after": "ANSWER done", "binary": "\x00\x01\xff\xfe\x80{\x00\n", "deep": strings.Repeat("[", 20_000) + "\n", "deep objects": strings.Repeat(`{"a":`, 20_000) + "\n",
		"long": strings.Repeat("x", LongLine) + "\n",
	}
}

// strayed returns a writer that adds to each answer the texts that the arguments name: stray=KIND,
// or stray=all.
func strayed(to io.Writer) io.Writer {
	w := &strayWriter{to: to}
	strays := Strays() // once: one of them is long
	for _, kind := range slices.Sorted(maps.Keys(strays)) {
		if before, after, _ := strings.Cut(strays[kind], "ANSWER"); slices.Contains(os.Args, "stray="+kind) || slices.Contains(os.Args, "stray=all") && strings.HasSuffix(before, "\n") {
			w.before, w.after = w.before+before, w.after+after
		}
	}
	return w
}

type strayWriter struct {
	to            io.Writer
	before, after string
}

// Write implements io.Writer.
func (w *strayWriter) Write(p []byte) (int, error) {
	_, err := io.WriteString(w.to, w.before+string(bytes.TrimSuffix(p, []byte("\n")))+w.after+"\n")
	return len(p), err
}

// plain serves without the SDK, as Main says. Its only tool is echo, unless a file has others.
func plain(has func(string) bool) {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(strayed(os.Stdout))
	if has("indented") {
		out.SetIndent("", "  ")
	}
	for first := true; ; first = false {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if in.Decode(&m) != nil {
			os.Exit(0)
		}
		if first && m.Method != "initialize" && has("strict") {
			fmt.Fprintln(os.Stderr, "expected initialize")
			os.Exit(5)
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		if result := plainResult(m.Method, has); result != nil {
			answer["result"] = result
		} else if answer["error"] = map[string]any{"code": -32601, "message": "unknown method"}; has("mute") {
			continue
		}
		if m.ID != nil && out.Encode(answer) != nil {
			os.Exit(1)
		}
		if m.Method == "tools/list" && has("deaf") {
			<-time.After(time.Hour)
		}
	}
}

// plainResult is the result of a method, nil for an unknown one.
func plainResult(method string, has func(string) bool) map[string]any {
	switch method {
	case "initialize":
		return map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "plain", "version": "1"},
		}
	case "tools/list":
		return map[string]any{"tools": plainTools()}
	case "tools/call":
		text := "echo"
		if has("long") {
			text = strings.Repeat("x", LongLine)
		}
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	}
	return nil
}

// plainTools returns the list of tools that tools=FILE holds, or echo.
func plainTools() any {
	for _, a := range os.Args[2:] {
		name, ok := strings.CutPrefix(a, "tools=")
		if !ok {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return json.RawMessage(data)
	}
	return []any{map[string]any{"name": "echo", "inputSchema": object()}}
}
